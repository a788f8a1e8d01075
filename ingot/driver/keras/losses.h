#pragma once
#include <memory>
#include <string>

#include "ingot/formats/json/document.h"
#include "ingot/ir/model.h"

namespace ingot::driver::keras {

/// A loss of Keras as a graph of its own: inputs 'prediction' and 'target', one number out, as Keras of this version
/// computes it. `loss`: its name, or an object with settings; `weight`: by what it is multiplied. Refuses losses that
/// are Python code.
std::shared_ptr<const Model> loss_graph(const formats::json::Value& loss, double weight, const Type& prediction,
                                        int version);

}  // namespace ingot::driver::keras
