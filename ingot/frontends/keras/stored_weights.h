#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "ingot/formats/keras/model_file.h"

namespace ingot::frontends::keras {

/// How many weights Keras keeps of a layer: those that are trained, and those that are not.
struct WeightCount {
  std::size_t trained = 0, kept = 0;

  std::size_t all() const { return trained + kept; }
};
/// `entry`: a layer or a model as a configuration describes it; nothing: it cannot be told.
std::optional<WeightCount> weight_count(const formats::json::Value& entry, int version);

/// The weights of a model inside a model, which HDF5 files list without its layers, as a part for each layer: by the
/// names of the weights where these tell, else in the order of saving, as Keras does. Null: neither tells.
std::shared_ptr<const formats::keras::WeightTree> by_layers(const std::vector<const formats::keras::Weight*>& list,
                                                            const formats::json::Value& model, int version);

}  // namespace ingot::frontends::keras
