// A graph as a SavedModel: function, signature, objects, variables and how they are saved and restored.
#include "ingot/backends/tensorflow/saved_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ingot/backends/tensorflow/attributes.h"
#include "ingot/backends/tensorflow/definitions.h"
#include "ingot/backends/tensorflow/emitter.h"
#include "ingot/formats/tensorflow/writer.h"

namespace ingot::backends::tensorflow {
namespace {

constexpr const char* kServe = "__inference_signature_wrapper_0";
constexpr const char* kSave = "__inference__traced_save_1";
constexpr const char* kRestore = "__inference__traced_restore_2";
constexpr const char* kObjectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";

struct Variable {
  std::string name, key;
  tf::TensorProto value;
};

tf::NodeDef node(std::string name, std::string op, std::vector<std::string> inputs, const AttrArgs& attrs = {}) {
  tf::NodeDef made{std::move(name), std::move(op), {}, std::move(inputs), {}};
  for (const AttrArg& a : attrs) made.attrs.push_back(a.attr);
  return made;
}

tf::NodeDef texts(std::string name, const std::vector<std::string>& values) {
  auto tensor = std::make_shared<tf::TensorProto>();
  tensor->dtype = tf::DataType::string;
  tensor->shape.dims = {static_cast<std::int64_t>(values.size())};
  tensor->strings = values;
  tf::NodeDef made = node(std::move(name), "Const", {}, {{"dtype", tf::DataType::string}});
  made.attrs.push_back({"value", std::shared_ptr<const tf::TensorProto>(std::move(tensor))});
  return made;
}

/// Names of a function's arguments are lower-case words.
std::string argument_name(std::string_view wanted) {
  std::string name;
  for (const char c : wanted)
    name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c
            : c >= 'A' && c <= 'Z'                           ? static_cast<char>(c - 'A' + 'a')
                                                             : '_';
  return name.empty() || name.front() < 'a' ? "arg_" + name : name;
}

/// Whether a constant is what training would change.
bool is_parameter(const tf::NodeDef& n) {
  if (n.op != "Const") return false;
  const auto& value = *std::get<std::shared_ptr<const tf::TensorProto>>(*n.find("value"));
  const bool is_float = value.dtype == tf::DataType::f32 || value.dtype == tf::DataType::f64 ||
                        value.dtype == tf::DataType::f16 || value.dtype == tf::DataType::bf16;
  return is_float && !value.shape.dims.empty() && tf::element_count(value.shape) > 1;
}

class Builder {
 public:
  Builder(Exported exported, bool keeps_variables) : source_(std::move(exported)) {
    std::ranges::sort(source_.signature.inputs, {}, &std::pair<std::string, tf::TensorInfo>::first);
    std::ranges::sort(source_.signature.outputs, {}, &std::pair<std::string, tf::TensorInfo>::first);
    if (keeps_variables) take_variables();
    meta_.tags = {"serve"};
    meta_.tensorflow_version = "2.7.0";
    meta_.graph.producer = source_.graph.producer;
  }

  SavedParts build() {
    meta_.graph.functions = std::move(source_.graph.functions);
    add_objects();
    add_serving();
    add_saver();
    SavedParts parts;
    for (Variable& v : variables_) parts.checkpoint.emplace_back(v.key, std::move(v.value));
    tf::TensorProto graph;
    graph.dtype = tf::DataType::string;
    graph.strings = {object_text_};
    parts.checkpoint.emplace_back(kObjectGraph, std::move(graph));
    parts.model.meta_graphs.push_back(std::move(meta_));
    return parts;
  }

 private:
  void take_variables() {
    for (tf::NodeDef& n : source_.graph.nodes) {
      if (!is_parameter(n)) continue;
      Variable v;
      v.name = n.name;
      v.value = *std::get<std::shared_ptr<const tf::TensorProto>>(*n.find("value"));
      const std::string local = local_name(v.name);
      v.key = local + "/.ATTRIBUTES/VARIABLE_VALUE";
      // The node that was the constant reads the variable.
      n = node(n.name, "ReadVariableOp", {fmt::format("variable_{}", variables_.size())}, {{"dtype", v.value.dtype}});
      variables_.push_back(std::move(v));
    }
  }

  /// Names of nodes are unique and differ in what becomes '_' only if somebody meant to; then a number tells them
  /// apart.
  std::string local_name(std::string name) {
    std::ranges::replace(name, '/', '_');
    std::ranges::replace(name, '.', '_');
    std::string made = name;
    for (int i = 1; !locals_.insert(made).second; ++i) made = fmt::format("{}_{}", name, i);
    return made;
  }

  /// The graph's nodes in a function's words.
  void add_serving() {
    tf::FunctionDef function;
    function.name = kServe;
    std::map<std::string, std::string> arguments;  // placeholder -> argument
    std::vector<std::string> feeds;
    std::vector<tf::DataType> given, made;
    for (auto& [name, info] : source_.signature.inputs) {
      const std::string placeholder = info.name.substr(0, info.name.find(':'));
      const std::string feed = "serving_default_" + node_name(name);
      arguments[placeholder] = argument_name(name);
      function.inputs.push_back({arguments[placeholder], info.dtype, {}, {}, {}});
      meta_.graph.nodes.push_back(node(feed, "Placeholder", {}, {{"dtype", info.dtype}, {"shape", info.shape}}));
      feeds.push_back(feed);
      given.push_back(info.dtype);
      info.name = feed + ":0";
    }
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      function.inputs.push_back({fmt::format("variable_{}", i), tf::DataType::resource, {}, {}, {}});
      feeds.push_back(variables_[i].name);
      given.push_back(tf::DataType::resource);
    }
    add_body(function, arguments);
    for (std::size_t i = 0; i < source_.signature.outputs.size(); ++i) {
      auto& [name, info] = source_.signature.outputs[i];
      const std::string result = argument_name(name) + "_";
      function.outputs.push_back({fmt::format("{}{}", result, i), info.dtype, {}, {}, {}});
      function.returns.emplace_back(function.outputs.back().name, in_body(info.name, arguments));
      info.name = fmt::format("StatefulPartitionedCall:{}", i);
      made.push_back(info.dtype);
    }
    meta_.graph.functions.push_back(std::move(function));
    for (const Variable& v : variables_)
      meta_.graph.nodes.push_back(node(v.name, "VarHandleOp", {},
                                       {{"dtype", v.value.dtype}, {"shape", v.value.shape}, {"shared_name", v.name}}));
    meta_.graph.nodes.push_back(call("StatefulPartitionedCall", kServe, feeds, given, made));
    meta_.signatures.push_back(source_.signature);
    tf::Signature init;
    init.key = "__saved_model_init_op";
    tf::TensorInfo nothing;
    nothing.name = "NoOp";
    nothing.shape.unknown_rank = true;
    init.outputs.emplace_back(init.key, nothing);
    meta_.signatures.push_back(std::move(init));
    meta_.graph.nodes.push_back(node("NoOp", "NoOp", {}));
  }

  static tf::NodeDef call(const char* name, const char* function, const std::vector<std::string>& inputs,
                          const std::vector<tf::DataType>& given, const std::vector<tf::DataType>& made) {
    return node(name, "StatefulPartitionedCall", inputs,
                {{"Tin", given}, {"Tout", made}, function_attr("f", function)});
  }

  void add_body(tf::FunctionDef& function, const std::map<std::string, std::string>& arguments) {
    for (const tf::NodeDef& n : source_.graph.nodes) nodes_[n.name] = &n;
    for (const tf::NodeDef& n : source_.graph.nodes) {
      if (n.op == "Placeholder") continue;
      tf::NodeDef inner = n;
      if (n.op != "ReadVariableOp")
        for (std::string& input : inner.inputs) input = in_body(input, arguments);
      function.nodes.push_back(std::move(inner));
    }
  }

  /// "node:1" -> "node:output:1"
  std::string in_body(const std::string& tensor, const std::map<std::string, std::string>& arguments) const {
    const std::size_t colon = tensor.find(':');
    const std::string name = tensor.substr(0, colon);
    if (const auto argument = arguments.find(name); argument != arguments.end()) return argument->second;
    const tf::NodeDef& n = *nodes_.at(name);
    if (n.op == "ReadVariableOp") return name + ":value:0";
    const int port = colon == tensor.npos ? 0 : std::stoi(tensor.substr(colon + 1));
    return name + ":" + result_name(n.op, n.attrs, port);
  }

  void add_objects() {
    tf::ObjectGraph& graph = meta_.objects;
    graph.objects.resize(3 + variables_.size());
    std::vector<tf::CheckpointObject> stored(graph.objects.size());
    tf::SavedObject& root = graph.objects[0];
    root.kind = tf::SavedObject::Kind::user_object;
    root.name = "_generic_user_object";
    graph.objects[1].kind = tf::SavedObject::Kind::user_object;
    graph.objects[1].name = "signature_map";
    graph.objects[1].children = {{source_.signature.key, 2}};
    graph.objects[2].kind = tf::SavedObject::Kind::concrete_function;
    graph.objects[2].name = kServe;
    tf::ConcreteFunction serve{kServe, {}};
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const auto number = static_cast<std::int32_t>(3 + i);
      tf::SavedObject& object = graph.objects[3 + i];
      object.kind = tf::SavedObject::Kind::variable;
      object.name = variables_[i].name;
      object.dtype = variables_[i].value.dtype;
      object.shape = variables_[i].value.shape;
      root.children.emplace_back(variables_[i].key.substr(0, variables_[i].key.find('/')), number);
      stored[3 + i] = {{}, variables_[i].name, variables_[i].key};
      serve.bound_inputs.push_back(number);
    }
    root.children.emplace_back("signatures", 1);
    stored[0].children = root.children;
    graph.functions.push_back(std::move(serve));
    object_text_ = tf::object_graph_text(stored);
  }

  void add_saver() {
    std::vector<std::string> keys, handles{"saver_filename"};
    std::vector<tf::DataType> types, given{tf::DataType::string};
    for (const Variable& v : variables_) {
      keys.push_back(v.key);
      types.push_back(v.value.dtype);
      handles.push_back(v.name);
      given.push_back(tf::DataType::resource);
    }
    keys.emplace_back(kObjectGraph);
    types.push_back(tf::DataType::string);
    meta_.graph.functions.push_back(save_function(keys, types));
    meta_.graph.functions.push_back(restore_function(keys, types));
    meta_.graph.nodes.push_back(
        node("saver_filename", "Placeholder", {}, {{"dtype", tf::DataType::string}, {"shape", tf::TensorShape{}}}));
    meta_.graph.nodes.push_back(call("StatefulPartitionedCall_1", kSave, handles, given, {tf::DataType::string}));
    meta_.graph.nodes.push_back(call("StatefulPartitionedCall_2", kRestore, handles, given, {tf::DataType::string}));
    meta_.saver = tf::SaverDef{"saver_filename:0", "StatefulPartitionedCall_1:0", "StatefulPartitionedCall_2"};
  }

  /// A function of a file's name and all variables that gives the name when its work is done.
  tf::FunctionDef about_file(const char* name) const {
    tf::FunctionDef function;
    function.name = name;
    function.inputs.push_back({"file_prefix", tf::DataType::string, {}, {}, {}});
    for (std::size_t i = 0; i < variables_.size(); ++i)
      function.inputs.push_back({fmt::format("variable_{}", i), tf::DataType::resource, {}, {}, {}});
    function.outputs.push_back({"identity", tf::DataType::string, {}, {}, {}});
    function.returns.emplace_back("identity", "Identity:output:0");
    return function;
  }

  static void end(tf::FunctionDef& function, const std::vector<std::string>& waits_for) {
    std::vector<std::string> inputs{"file_prefix"};
    for (const std::string& name : waits_for) inputs.push_back("^" + name);
    function.nodes.push_back(node("Identity", "Identity", inputs, {{"T", tf::DataType::string}}));
  }

  tf::FunctionDef save_function(const std::vector<std::string>& keys, const std::vector<tf::DataType>& types) const {
    tf::FunctionDef f = about_file(kSave);
    f.nodes.push_back(texts("tensor_names", keys));
    f.nodes.push_back(texts("shape_and_slices", std::vector<std::string>(keys.size())));
    tf::NodeDef graph = texts("object_graph", {object_text_});
    auto scalar =
        std::make_shared<tf::TensorProto>(*std::get<std::shared_ptr<const tf::TensorProto>>(graph.attrs.back().value));
    scalar->shape.dims.clear();
    graph.attrs.back().value = std::shared_ptr<const tf::TensorProto>(std::move(scalar));
    f.nodes.push_back(std::move(graph));
    std::vector<std::string> inputs{"file_prefix", "tensor_names:output:0", "shape_and_slices:output:0"};
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      f.nodes.push_back(node(fmt::format("ReadVariableOp_{}", i), "ReadVariableOp", {fmt::format("variable_{}", i)},
                             {{"dtype", types[i]}}));
      inputs.push_back(fmt::format("ReadVariableOp_{}:value:0", i));
    }
    inputs.emplace_back("object_graph:output:0");
    f.nodes.push_back(node("SaveV2", "SaveV2", inputs, {{"dtypes", types}}));
    end(f, {"SaveV2"});
    return f;
  }

  tf::FunctionDef restore_function(const std::vector<std::string>& keys, const std::vector<tf::DataType>& types) const {
    tf::FunctionDef f = about_file(kRestore);
    f.nodes.push_back(texts("tensor_names", keys));
    f.nodes.push_back(texts("shape_and_slices", std::vector<std::string>(keys.size())));
    f.nodes.push_back(node("RestoreV2", "RestoreV2",
                           {"file_prefix", "tensor_names:output:0", "shape_and_slices:output:0"}, {{"dtypes", types}}));
    std::vector<std::string> assigned{"RestoreV2"};
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      assigned.push_back(fmt::format("AssignVariableOp_{}", i));
      f.nodes.push_back(node(assigned.back(), "AssignVariableOp",
                             {fmt::format("variable_{}", i), fmt::format("RestoreV2:tensors:{}", i)},
                             {{"dtype", types[i]}}));
    }
    end(f, assigned);
    return f;
  }

  Exported source_;
  tf::MetaGraph meta_;
  std::vector<Variable> variables_;
  std::set<std::string> locals_;
  std::map<std::string, const tf::NodeDef*> nodes_;
  std::string object_text_;
};

}  // namespace

SavedParts to_saved_model(Exported exported, bool keeps_variables) {
  return Builder(std::move(exported), keeps_variables).build();
}

}  // namespace ingot::backends::tensorflow
