#pragma once
#include "ingot/train/dataset.h"

namespace ingot::train {

/// Writes what the data needs before the model, and what the answers mean behind it, into the graph: inputs take what
/// the data holds (whole numbers, or of a table a column each, up to 100), nodes scale it and take mean and deviation
/// out; a further output `class` names the best class, and `probabilities` has them where the model gives logits. What
/// the graph does is taken out of `data.preparation`, so that nobody does it again.
void add_preprocessing(Model& model, Dataset& data, const std::string& prediction = {});

}  // namespace ingot::train
