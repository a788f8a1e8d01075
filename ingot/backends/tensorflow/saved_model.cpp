// Graphs as a SavedModel: functions, signatures, objects and variables.
#include "ingot/backends/tensorflow/saved_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ingot/backends/tensorflow/definitions.h"
#include "ingot/backends/tensorflow/emitter.h"
#include "ingot/backends/tensorflow/saved_tables.h"
#include "ingot/backends/tensorflow/saver.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/writer.h"

namespace ingot::backends::tensorflow {
namespace {

constexpr const char* kSave = "__inference__traced_save_1";
constexpr const char* kRestore = "__inference__traced_restore_2";
constexpr std::size_t kFirstCall = 3;  // names of calls and functions: the first serves, then those two

using Port = std::pair<std::string, tf::TensorInfo>;

struct Variable {
  std::string name, key, node;  // the user's, in the checkpoint, in the graph
  tf::TensorProto value;
};

/// Names of a function's arguments are lower-case words.
std::string argument_name(std::string_view wanted) {
  std::string name;
  for (const char c : wanted)
    name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c
            : c >= 'A' && c <= 'Z'                           ? static_cast<char>(c - 'A' + 'a')
                                                             : '_';
  return name.empty() || name.front() < 'a' ? "arg_" + name : name;
}

std::string node_in(const std::string& tensor) { return tensor.substr(0, tensor.find(':')); }

/// Whether a constant is what training would change.
bool is_parameter(const tf::NodeDef& n) {
  if (n.op != "Const") return false;
  const auto& value = *std::get<std::shared_ptr<const tf::TensorProto>>(*n.find("value"));
  const bool is_float = value.dtype == tf::DataType::f32 || value.dtype == tf::DataType::f64 ||
                        value.dtype == tf::DataType::f16 || value.dtype == tf::DataType::bf16;
  return is_float && !value.shape.dims.empty() && tf::element_count(value.shape) > 1;
}

std::string table_argument(std::size_t i) { return fmt::format("table_{}", i); }
std::string variable_argument(std::size_t i) { return fmt::format("variable_{}", i); }

/// One graph on its way into a function.
class Body {
 public:
  Body(SignatureGraph& source, std::string name) : source_(source) {
    function.name = std::move(name);
    for (const tf::NodeDef& n : source_.exported.graph.nodes) nodes_[n.name] = &n;
  }

  void add_argument(const Port& input, std::string name) {
    const auto is_node = [&] { return nodes_.contains(name) && nodes_.at(name)->op != "Placeholder"; };
    while (is_node() || !names_.insert(name).second) name += "_";
    function.inputs.push_back({name, input.second.dtype, {}, {}, {}});
    arguments_[node_in(input.second.name)] = std::move(name);
  }

  /// Handles follow the user's arguments, as those of variables do.
  void bind_table(const std::string& placeholder, std::string argument) {
    arguments_[placeholder] = std::move(argument);
  }

  void add_nodes() {
    for (const tf::NodeDef& n : source_.exported.graph.nodes) {
      if (n.op == "Placeholder") continue;
      tf::NodeDef inner = n;
      if (n.op != "ReadVariableOp")
        for (std::string& input : inner.inputs) input = in_body(input);
      function.nodes.push_back(std::move(inner));
    }
  }

  /// The variable gets a new value, once what reads it has the old one.
  void assign(std::size_t variable, const tf::TensorInfo& value, const std::string& read) {
    std::vector<std::string> inputs{variable_argument(variable), in_body(value.name)};
    if (!read.empty()) inputs.push_back("^" + read);
    assigned_.push_back(unique(fmt::format("AssignVariableOp_{}", variable)));
    function.nodes.push_back(node_of(assigned_.back(), "AssignVariableOp", inputs, {{"dtype", value.dtype}}));
  }

  /// What a function gives that only changes variables: how many.
  Port count_of_assigned() {
    auto tensor = std::make_shared<tf::TensorProto>();
    tensor->dtype = tf::DataType::i32;
    const auto count = static_cast<std::int32_t>(assigned_.size());
    tensor->elements = Bytes::own(std::string(reinterpret_cast<const char*>(&count), sizeof count));
    const std::string name = unique("variables");
    function.nodes.push_back(node_of(name, "Const", {}, {{"dtype", tf::DataType::i32}}));
    function.nodes.back().attrs.push_back({"value", std::shared_ptr<const tf::TensorProto>(std::move(tensor))});
    nodes_[name] = &(counter_ = function.nodes.back());
    tf::TensorInfo info;
    info.name = name + ":0";
    info.dtype = tf::DataType::i32;
    return {"variables", info};
  }

  /// A result; it is there when all variables have their new values.
  void add_result(const Port& output, std::size_t i) {
    std::string from = in_body(output.second.name);
    if (!assigned_.empty()) {
      std::vector<std::string> inputs{from};
      for (const std::string& name : assigned_) inputs.push_back("^" + name);
      const std::string name = unique(fmt::format("Identity_{}", i));
      function.nodes.push_back(node_of(name, "Identity", inputs, {{"T", output.second.dtype}}));
      from = name + ":output:0";
    }
    function.outputs.push_back({fmt::format("{}_{}", argument_name(output.first), i), output.second.dtype, {}, {}, {}});
    function.returns.emplace_back(function.outputs.back().name, from);
  }

  tf::FunctionDef function;

 private:
  std::string unique(const std::string& wanted) {
    std::string made = wanted;
    for (int i = 1; nodes_.contains(made) || !names_.insert(made).second; ++i) made = fmt::format("{}_{}", wanted, i);
    return made;
  }

  /// "node:1" -> "node:output:1"
  std::string in_body(const std::string& tensor) const {
    const std::size_t colon = tensor.find(':');
    const std::string name = tensor.substr(0, colon);
    if (const auto argument = arguments_.find(name); argument != arguments_.end()) return argument->second;
    const tf::NodeDef& n = *nodes_.at(name);
    if (n.op == "ReadVariableOp") return name + ":value:0";
    const int port = colon == tensor.npos ? 0 : std::stoi(tensor.substr(colon + 1));
    return name + ":" + result_name(n.op, n.attrs, port);
  }

  SignatureGraph& source_;
  std::map<std::string, const tf::NodeDef*> nodes_;
  std::map<std::string, std::string> arguments_;  // placeholder -> argument
  std::set<std::string> names_;                   // of arguments, and of nodes that are added
  std::vector<std::string> assigned_;
  tf::NodeDef counter_;
};

class Builder {
 public:
  Builder(std::vector<SignatureGraph> graphs, const std::vector<SavedVariable>& variables)
      : graphs_(std::move(graphs)) {
    meta_.tags = {"serve"};
    meta_.tensorflow_version = "2.7.0";
    meta_.graph.producer = graphs_.at(0).exported.graph.producer;
    for (const char* name : {"saver_filename", "NoOp"}) nodes_.insert(name);
    for (const SavedVariable& v : variables) {
      by_name_[v.name] = variables_.size();
      add_variable(v.name, proto_of(v.value));
    }
  }

  SavedParts build() {
    for (std::size_t i = 0; i < graphs_.size(); ++i) add_signature(graphs_[i], i);
    add_objects();
    for (const Variable& v : variables_)
      meta_.graph.nodes.push_back(node_of(
          v.node, "VarHandleOp", {}, {{"dtype", v.value.dtype}, {"shape", v.value.shape}, {"shared_name", v.node}}));
    add_start();
    add_saver();
    SavedParts parts;
    for (SavedTable& table : tables_)
      if (!table.asset.empty()) parts.assets.emplace_back(table.filename, std::move(table.text));
    for (Variable& v : variables_) parts.checkpoint.emplace_back(v.key, std::move(v.value));
    tf::TensorProto graph;
    graph.dtype = tf::DataType::string;
    graph.strings = {object_text_};
    parts.checkpoint.emplace_back(kObjectGraph, std::move(graph));
    parts.model.meta_graphs.push_back(std::move(meta_));
    return parts;
  }

 private:
  std::size_t add_variable(const std::string& name, tf::TensorProto value) {
    // Names of nodes differ in what becomes '_' only if somebody meant to; then a number tells them apart.
    std::string local = node_name(name);
    std::ranges::replace(local, '/', '_');
    std::ranges::replace(local, '.', '_');
    std::string made = local;
    for (int i = 1; !locals_.insert(made).second; ++i) made = fmt::format("{}_{}", local, i);
    std::string node = node_name(name);
    for (int i = 1; !nodes_.insert(node).second; ++i) node = fmt::format("{}_{}", node_name(name), i);
    variables_.push_back({name, made + "/.ATTRIBUTES/VARIABLE_VALUE", node, std::move(value)});
    return variables_.size() - 1;
  }

  /// Constants that training would change become variables, which the node that was the constant reads.
  void take_constants(tf::GraphDef& graph, std::map<std::size_t, std::string>& reads) {
    for (tf::NodeDef& n : graph.nodes) {
      if (!is_parameter(n)) continue;
      const std::size_t i = add_variable(n.name, *std::get<std::shared_ptr<const tf::TensorProto>>(*n.find("value")));
      n = node_of(n.name, "ReadVariableOp", {variable_argument(i)}, {{"dtype", variables_[i].value.dtype}});
      reads[i] = n.name;
    }
  }

  /// The variables that a graph has inputs for; those are inputs no longer.
  void bind_inputs(SignatureGraph& graph, std::map<std::size_t, std::string>& reads) {
    std::map<std::string, std::size_t> bound;  // placeholder -> variable
    std::erase_if(graph.exported.signature.inputs, [&](const Port& input) {
      const auto variable = by_name_.find(input.first);
      if (variable == by_name_.end()) return false;
      bound[node_in(input.second.name)] = variable->second;
      return true;
    });
    for (tf::NodeDef& n : graph.exported.graph.nodes) {
      const auto variable = n.op == "Placeholder" ? bound.find(n.name) : bound.end();
      if (variable == bound.end()) continue;
      const std::size_t i = variable->second;
      n = node_of(n.name, "ReadVariableOp", {variable_argument(i)}, {{"dtype", variables_[i].value.dtype}});
      reads[i] = n.name;
    }
  }

  void add_signature(SignatureGraph& graph, std::size_t number) {
    tf::Signature& signature = graph.exported.signature;
    std::map<std::size_t, std::string> reads;  // variable -> the node that reads it
    bind_inputs(graph, reads);
    if (graph.keeps_variables) take_constants(graph.exported.graph, reads);
    const std::size_t call = number ? kFirstCall + number - 1 : 0;
    Body body(graph, number ? fmt::format("__inference_{}_{}", argument_name(graph.key), call)
                            : "__inference_signature_wrapper_0");
    std::ranges::sort(signature.inputs, {}, &Port::first);
    std::ranges::sort(signature.outputs, {}, &Port::first);
    std::vector<std::string> feeds;
    std::vector<tf::DataType> given, made;
    for (Port& input : signature.inputs) {
      body.add_argument(input, argument_name(input.first));
      std::string feed = graph.key + "_" + node_name(input.first);
      for (int i = 1; !nodes_.insert(feed).second; ++i)
        feed = fmt::format("{}_{}_{}", graph.key, node_name(input.first), i);
      meta_.graph.nodes.push_back(
          node_of(feed, "Placeholder", {}, {{"dtype", input.second.dtype}, {"shape", input.second.shape}}));
      feeds.push_back(feed);
      given.push_back(input.second.dtype);
      input.second.name = feed + ":0";
    }
    for (std::size_t i = 0; i < graph.exported.tables.size(); ++i)
      body.bind_table(graph.exported.tables[i].node, table_argument(i));
    body.add_nodes();
    std::vector<std::int32_t> bound = assign_outputs(graph, body, reads);
    for (const std::int32_t i : bound) {
      const auto at = static_cast<std::size_t>(i);
      body.function.inputs.push_back({variable_argument(at), tf::DataType::resource, {}, {}, {}});
      feeds.push_back(variables_[at].node);
      given.push_back(tf::DataType::resource);
    }
    tables_of_.push_back({});
    for (std::size_t i = 0; i < graph.exported.tables.size(); ++i) {
      body.function.inputs.push_back({table_argument(i), tf::DataType::resource, {}, {}, {}});
      feeds.push_back(add_table(graph.exported.tables[i]));
      given.push_back(tf::DataType::resource);
      tables_of_.back().push_back(tables_.size() - 1);
    }
    if (signature.outputs.empty()) signature.outputs.push_back(body.count_of_assigned());
    const std::string name = call ? fmt::format("StatefulPartitionedCall_{}", call) : "StatefulPartitionedCall";
    for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
      body.add_result(signature.outputs[i], i);
      made.push_back(signature.outputs[i].second.dtype);
      signature.outputs[i].second.name = fmt::format("{}:{}", name, i);
    }
    functions_.push_back({body.function.name, std::move(bound)});
    calls_.push_back(call_of(name, body.function.name, feeds, given, made));
    auto& all = meta_.graph.functions;
    for (tf::FunctionDef& f : graph.exported.graph.functions) all.push_back(std::move(f));
    all.push_back(std::move(body.function));
    signature.key = graph.key;
    signature.method = "tensorflow/serving/predict";
    meta_.signatures.push_back(signature);
  }

  /// Returns the node of the main graph.
  const std::string& add_table(const Table& table) {
    std::string node = table.node;
    for (int i = 1; !nodes_.insert(node).second; ++i) node = fmt::format("{}_{}", table.node, i);
    tables_.emplace_back(table, std::move(node), tables_.size());
    return tables_.back().node;
  }

  /// Returns the variables that the function works with.
  std::vector<std::int32_t> assign_outputs(SignatureGraph& graph, Body& body,
                                           const std::map<std::size_t, std::string>& reads) {
    std::set<std::size_t> used;
    for (const auto& [variable, node] : reads) used.insert(variable);
    std::set<std::string> assigned;
    for (const auto& [output, name] : graph.assigned) {
      const auto port = std::ranges::find(graph.exported.signature.outputs, output, &Port::first);
      if (port == graph.exported.signature.outputs.end() || !by_name_.contains(name))
        throw Error(Code::broken_invariant, "no output '" + output + "' for the variable '" + name + "'");
      const std::size_t variable = by_name_.at(name);
      const auto read = reads.find(variable);
      body.assign(variable, port->second, read == reads.end() ? std::string() : read->second);
      used.insert(variable);
      assigned.insert(output);
    }
    std::erase_if(graph.exported.signature.outputs, [&](const Port& p) { return assigned.contains(p.first); });
    return {used.begin(), used.end()};
  }

  void add_start() {
    for (tf::NodeDef& call : calls_) meta_.graph.nodes.push_back(std::move(call));
    tf::Signature init;
    init.key = "__saved_model_init_op";
    tf::TensorInfo nothing;
    nothing.name = "NoOp";
    nothing.shape.unknown_rank = true;
    init.outputs.emplace_back(init.key, nothing);
    meta_.signatures.push_back(std::move(init));
    meta_.graph.nodes.push_back(node_of("NoOp", "NoOp", fill_tables()));
  }

  /// Calls what fills the tables; returns what has to be waited for.
  std::vector<std::string> fill_tables() {
    std::vector<std::string> done;
    for (SavedTable& table : tables_) {
      for (tf::NodeDef& n : table.nodes) meta_.graph.nodes.push_back(std::move(n));
      std::vector<std::string> inputs{table.node};
      std::vector<tf::DataType> given{tf::DataType::resource};
      if (!table.asset.empty()) {
        inputs.push_back(table.asset);
        given.push_back(tf::DataType::string);
      }
      const std::string name = fmt::format("StatefulPartitionedCall_{}", kFirstCall + graphs_.size() + done.size());
      meta_.graph.nodes.push_back(call_of(name, table.fill.name, inputs, given, {tf::DataType::i32}));
      for (const tf::FunctionDef* f : {&table.create, &table.fill, &table.destroy}) meta_.graph.functions.push_back(*f);
      done.push_back("^" + name);
    }
    return done;
  }

  static tf::NodeDef call_of(const std::string& name, const std::string& function,
                             const std::vector<std::string>& inputs, const std::vector<tf::DataType>& given,
                             const std::vector<tf::DataType>& made) {
    return node_of(name, "StatefulPartitionedCall", inputs,
                   {{"Tin", given}, {"Tout", made}, function_attr("f", function)});
  }

  /// The root, the signatures, their functions, the variables.
  void add_objects() {
    tf::ObjectGraph& graph = meta_.objects;
    const std::size_t first = 2 + functions_.size();
    graph.objects.resize(first + variables_.size());
    std::vector<tf::CheckpointObject> stored(graph.objects.size());
    tf::SavedObject& root = graph.objects[0];
    root.kind = tf::SavedObject::Kind::user_object;
    root.name = "_generic_user_object";
    graph.objects[1].kind = tf::SavedObject::Kind::user_object;
    graph.objects[1].name = "signature_map";
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      graph.objects[1].children.emplace_back(graphs_[i].key, static_cast<std::int32_t>(2 + i));
      graph.objects[2 + i].kind = tf::SavedObject::Kind::concrete_function;
      graph.objects[2 + i].name = functions_[i].name;
      for (std::int32_t& bound : functions_[i].bound_inputs) bound += static_cast<std::int32_t>(first);
    }
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      tf::SavedObject& object = graph.objects[first + i];
      object.kind = tf::SavedObject::Kind::variable;
      object.name = variables_[i].node;
      object.dtype = variables_[i].value.dtype;
      object.shape = variables_[i].value.shape;
      root.children.emplace_back(variables_[i].key.substr(0, variables_[i].key.find('/')),
                                 static_cast<std::int32_t>(first + i));
      stored[first + i] = {{}, variables_[i].node, variables_[i].key};
    }
    root.children.emplace_back("signatures", 1);
    graph.functions = std::move(functions_);
    add_tables_to(graph);
    stored.resize(graph.objects.size());
    stored[0].children = graph.objects[0].children;
    object_text_ = tf::object_graph_text(stored);
  }

  /// Behind all other objects.
  void add_tables_to(tf::ObjectGraph& graph) {
    std::vector<std::int32_t> numbers;
    for (const SavedTable& table : tables_) {
      numbers.push_back(table.add_objects(meta_));
      graph.objects[0].children.emplace_back(table_argument(numbers.size() - 1), numbers.back());
    }
    for (std::size_t i = 0; i < tables_of_.size(); ++i)
      for (const std::size_t table : tables_of_[i]) graph.functions[i].bound_inputs.push_back(numbers[table]);
  }

  void add_saver() {
    std::vector<SaverEntry> entries;
    std::vector<std::string> handles{"saver_filename"};
    std::vector<tf::DataType> given{tf::DataType::string};
    for (const Variable& v : variables_) {
      entries.push_back({v.key, v.value.dtype});
      handles.push_back(v.node);
      given.push_back(tf::DataType::resource);
    }
    meta_.graph.functions.push_back(save_function(kSave, entries, object_text_));
    meta_.graph.functions.push_back(restore_function(kRestore, entries));
    auto& nodes = meta_.graph.nodes;
    nodes.push_back(
        node_of("saver_filename", "Placeholder", {}, {{"dtype", tf::DataType::string}, {"shape", tf::TensorShape{}}}));
    nodes.push_back(call_of("StatefulPartitionedCall_1", kSave, handles, given, {tf::DataType::string}));
    nodes.push_back(call_of("StatefulPartitionedCall_2", kRestore, handles, given, {tf::DataType::string}));
    meta_.saver = tf::SaverDef{"saver_filename:0", "StatefulPartitionedCall_1:0", "StatefulPartitionedCall_2"};
  }

  std::vector<SignatureGraph> graphs_;
  tf::MetaGraph meta_;
  std::vector<Variable> variables_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<tf::ConcreteFunction> functions_;
  std::vector<tf::NodeDef> calls_;
  std::vector<SavedTable> tables_;
  std::vector<std::vector<std::size_t>> tables_of_;  // the tables of each function
  std::set<std::string> locals_, nodes_;
  std::string object_text_;
};

}  // namespace

SavedParts to_saved_model(std::vector<SignatureGraph> graphs, const std::vector<SavedVariable>& variables) {
  return Builder(std::move(graphs), variables).build();
}

}  // namespace ingot::backends::tensorflow
