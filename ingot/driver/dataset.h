#pragma once
#include <string>

#include "ingot/driver/load.h"
#include "ingot/train/dataset.h"

namespace ingot::driver {

/// Examples from any source: what train::load_dataset reads, or a directory. That holds either NAME.npy files, or
/// batches in the form of the official test data: input_0.pb, ... in the order of the model's inputs, with the targets
/// as one input more or as output_0.pb, directly or in folders that are read in the order of their names; or pictures
/// in a folder per class. The model says how data is prepared and classes are numbered, unless the options do.
train::Dataset load_dataset(const std::string& path, const train::DatasetOptions& options, const Model& model,
                            const LoadOptions& load = {});

/// The options with what the model says of its data.
train::DatasetOptions known_to(const Model& model, train::DatasetOptions options);

}  // namespace ingot::driver
