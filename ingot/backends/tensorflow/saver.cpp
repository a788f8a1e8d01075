// The functions of a SavedModel that write its variables and read them back.
#include "ingot/backends/tensorflow/saver.h"

#include <fmt/format.h>

namespace ingot::backends::tensorflow {
namespace {

tf::NodeDef texts(std::string name, const std::vector<std::string>& values, bool is_scalar = false) {
  auto tensor = std::make_shared<tf::TensorProto>();
  tensor->dtype = tf::DataType::string;
  if (!is_scalar) tensor->shape.dims = {static_cast<std::int64_t>(values.size())};
  tensor->strings = values;
  tf::NodeDef made = node_of(std::move(name), "Const", {}, {{"dtype", tf::DataType::string}});
  made.attrs.push_back({"value", std::shared_ptr<const tf::TensorProto>(std::move(tensor))});
  return made;
}

tf::FunctionDef about_file(const std::string& name, const std::vector<SaverEntry>& variables) {
  tf::FunctionDef function;
  function.name = name;
  function.inputs.push_back({"file_prefix", tf::DataType::string, {}, {}, {}});
  for (std::size_t i = 0; i < variables.size(); ++i)
    function.inputs.push_back({fmt::format("variable_{}", i), tf::DataType::resource, {}, {}, {}});
  function.outputs.push_back({"identity", tf::DataType::string, {}, {}, {}});
  function.returns.emplace_back("identity", "Identity:output:0");
  std::vector<std::string> keys;
  for (const SaverEntry& v : variables) keys.push_back(v.key);
  keys.emplace_back(kObjectGraph);
  function.nodes.push_back(texts("tensor_names", keys));
  function.nodes.push_back(texts("shape_and_slices", std::vector<std::string>(keys.size())));
  return function;
}

std::vector<tf::DataType> types_of(const std::vector<SaverEntry>& variables) {
  std::vector<tf::DataType> types;
  for (const SaverEntry& v : variables) types.push_back(v.type);
  types.push_back(tf::DataType::string);
  return types;
}

void end(tf::FunctionDef& function, const std::vector<std::string>& waits_for) {
  std::vector<std::string> inputs{"file_prefix"};
  for (const std::string& name : waits_for) inputs.push_back("^" + name);
  function.nodes.push_back(node_of("Identity", "Identity", inputs, {{"T", tf::DataType::string}}));
}

}  // namespace

tf::NodeDef node_of(std::string name, std::string op, std::vector<std::string> inputs, const AttrArgs& attrs) {
  tf::NodeDef made{std::move(name), std::move(op), {}, std::move(inputs), {}};
  for (const AttrArg& a : attrs) made.attrs.push_back(a.attr);
  return made;
}

tf::FunctionDef save_function(const std::string& name, const std::vector<SaverEntry>& variables,
                              const std::string& objects) {
  tf::FunctionDef f = about_file(name, variables);
  f.nodes.push_back(texts("object_graph", {objects}, true));
  std::vector<std::string> inputs{"file_prefix", "tensor_names:output:0", "shape_and_slices:output:0"};
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string read = fmt::format("ReadVariableOp_{}", i);
    f.nodes.push_back(node_of(read, "ReadVariableOp", {fmt::format("variable_{}", i)}, {{"dtype", variables[i].type}}));
    inputs.push_back(read + ":value:0");
  }
  inputs.emplace_back("object_graph:output:0");
  f.nodes.push_back(node_of("SaveV2", "SaveV2", inputs, {{"dtypes", types_of(variables)}}));
  end(f, {"SaveV2"});
  return f;
}

tf::FunctionDef restore_function(const std::string& name, const std::vector<SaverEntry>& variables) {
  tf::FunctionDef f = about_file(name, variables);
  f.nodes.push_back(node_of("RestoreV2", "RestoreV2",
                            {"file_prefix", "tensor_names:output:0", "shape_and_slices:output:0"},
                            {{"dtypes", types_of(variables)}}));
  std::vector<std::string> assigned{"RestoreV2"};
  for (std::size_t i = 0; i < variables.size(); ++i) {
    assigned.push_back(fmt::format("AssignVariableOp_{}", i));
    f.nodes.push_back(node_of(assigned.back(), "AssignVariableOp",
                              {fmt::format("variable_{}", i), fmt::format("RestoreV2:tensors:{}", i)},
                              {{"dtype", variables[i].type}}));
  }
  end(f, assigned);
  return f;
}

}  // namespace ingot::backends::tensorflow
