#pragma once
#include <string>
#include <vector>

#include "ingot/backends/tensorflow/attributes.h"

namespace ingot::backends::tensorflow {

/// What saving needs of a variable.
struct SaverEntry {
  std::string key;  // in the checkpoint
  tf::DataType type;
};

tf::NodeDef node_of(std::string name, std::string op, std::vector<std::string> inputs, const AttrArgs& attrs = {});

// Functions of a file's name and the variables, in their order, that give the name when their work is done. `objects`:
// the object graph, which the checkpoint holds too.
tf::FunctionDef save_function(const std::string& name, const std::vector<SaverEntry>& variables,
                              const std::string& objects);
tf::FunctionDef restore_function(const std::string& name, const std::vector<SaverEntry>& variables);

/// The key of the object graph in checkpoints.
inline constexpr const char* kObjectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";

}  // namespace ingot::backends::tensorflow
