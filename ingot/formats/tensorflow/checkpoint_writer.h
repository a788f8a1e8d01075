#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/sink.h"
#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot::formats::tensorflow {

/// Writes the values of variables as a checkpoint of the second version with one data file: the tensors, in the order
/// of their keys, go to `data`, and where they lie with their checksums to `index`. Keys must differ.
void write_checkpoint(std::vector<std::pair<std::string, TensorProto>> tensors, Sink& index, Sink& data);

/// A sorted table as LevelDB stores it, with checksums and without compression. Keys ascend.
void write_table(const std::vector<std::pair<std::string, std::string>>& entries, Sink& sink);

}  // namespace ingot::formats::tensorflow
