// Graphs without variables and calls, for runtimes that have neither.
#include "ingot/frontends/tensorflow/freeze.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/body.h"
#include "ingot/frontends/tensorflow/examples.h"
#include "ingot/frontends/tensorflow/pipelines.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr int kDeepest = 100;  // calls inside of calls

std::string reference(const std::string& node, std::int32_t port) {
  return port ? node + ":" + std::to_string(port) : node;
}

std::string node_of(const std::string& reference) { return reference.substr(0, reference.find(':')); }

/// One call of a function, or the main graph.
struct Frame {
  const Body* body;
  std::string prefix;
  std::vector<std::string> arguments;
  const std::vector<tf::Attr>* attrs = nullptr;  // what the function is instantiated with
  int depth = 0;
};

class Freezing {
 public:
  Freezing(const tf::GraphDef& graph, const ModelFiles& files, Budget& budget)
      : graph_(graph), files_(files), budget_(budget) {
    for (const tf::FunctionDef& f : graph.functions) functions_.emplace(f.name, &f);
    find_ = [this](std::string_view name) -> const tf::FunctionDef* {
      const auto it = functions_.find(name);
      return it == functions_.end() ? nullptr : it->second;
    };
  }

  tf::GraphDef run(std::vector<std::string>& outputs) {
    const Body main(graph_.nodes, nullptr, find_);
    std::vector<Frame> pending{{&main, "", {}}};
    while (!pending.empty()) {
      const Frame frame = std::move(pending.back());
      pending.pop_back();
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(frame.body->size()); ++i) add(frame, i, pending);
    }
    for (tf::NodeDef& node : flat_.nodes)
      for (std::string& input : node.inputs)
        if (!input.starts_with('^')) input = resolved(input);
    for (std::string& output : outputs) {
      const Source s = main.resolve(output);
      output = resolved(reference(main.node(s.node).name, s.port));
    }
    keep_needed(outputs);
    flat_.functions = graph_.functions;
    for (tf::FunctionDef& f : flat_.functions)
      for (tf::NodeDef& node : f.nodes) read_directly(node);
    flat_.producer = graph_.producer;
    flat_.min_consumer = graph_.min_consumer;
    std::unordered_set<std::string_view> names;
    for (const tf::NodeDef& node : flat_.nodes) names.insert(node.name);
    std::erase_if(features_, [&](const auto& feature) { return !names.contains(feature.second); });
    return std::move(flat_);
  }

  const Features& features() const { return features_; }

 private:
  static std::string name_in(const Frame& frame, Source source) {
    if (source.node < 0) return frame.arguments.at(static_cast<std::size_t>(source.port));
    return reference(frame.prefix + frame.body->node(source.node).name, source.port);
  }

  /// The function that a node calls; null if it is no call.
  const tf::FunctionDef* called(const tf::NodeDef& node, const std::vector<tf::Attr>** attrs) const {
    if (node.op == "PartitionedCall" || node.op == "StatefulPartitionedCall") {
      const tf::AttrValue* attr = node.find("f");
      const auto* name = attr ? std::get_if<std::shared_ptr<const tf::FunctionName>>(attr) : nullptr;
      if (!name) return nullptr;
      *attrs = &(*name)->attrs;
      return find_((*name)->name);
    }
    *attrs = &node.attrs;
    return find_(node.op);
  }

  const Body& body_of(const tf::FunctionDef& function) {
    auto& body = bodies_[&function];
    if (!body) body = std::make_unique<Body>(function.nodes, &function, find_);
    return *body;
  }

  void add(const Frame& frame, std::int32_t i, std::vector<Frame>& pending) {
    budget_.charge_nodes(1);
    const tf::NodeDef& def = frame.body->node(i);
    std::vector<std::string> inputs;
    for (const Source& source : frame.body->inputs(i)) inputs.push_back(name_in(frame, source));
    const std::vector<tf::Attr>* attrs = nullptr;
    if (const tf::FunctionDef* function = called(def, &attrs)) {
      if (inputs.size() < function->inputs.size()) return;  // what needs it is refused as unknown
      Frame inner{&body_of(*function), frame.prefix + def.name + "/", std::move(inputs), attrs, frame.depth + 1};
      if (inner.depth > kDeepest) throw Error(Code::depth_limit, "functions call each other too deeply");
      for (std::size_t k = 0; k < function->outputs.size(); ++k)
        for (const auto& [output, value] : function->returns)
          if (output == function->outputs[k].name)
            aliases_[reference(frame.prefix + def.name, static_cast<std::int32_t>(k))] =
                name_in(inner, inner.body->resolve(value));
      pending.push_back(std::move(inner));
      return;
    }
    if (parses_examples(def.op) && add_features(frame, i)) return;
    if (ends_pipeline(def.op)) return add_components(frame, i);
    tf::NodeDef node = def;
    node.name = frame.prefix + def.name;
    node.inputs = std::move(inputs);
    if (frame.prefix.empty())
      for (const std::int32_t control : frame.body->controls(i))
        node.inputs.push_back("^" + frame.body->node(control).name);
    for (tf::Attr& attr : node.attrs)
      if (const auto* placeholder = std::get_if<tf::AttrPlaceholder>(&attr.value); placeholder && frame.attrs)
        for (const tf::Attr& given : *frame.attrs)
          if (given.name == placeholder->name) attr.value = tf::AttrValue(given.value);
    read_directly(node);
    set_variable(node, frame.prefix);
    flat_.nodes.push_back(std::move(node));
  }

  /// Placeholders in place of a parser; false: it is not understood, and perhaps nothing needs it.
  bool add_features(const Frame& frame, std::int32_t i) {
    const tf::NodeDef& def = frame.body->node(i);
    std::vector<ExampleFeature> all;
    try {
      all = features_of(*frame.body, i, !parses_one_example(def.op));
    } catch (const Error& error) {
      if (error.exit_code() == 5) throw;
      return false;
    }
    for (const ExampleFeature& feature : all)
      add_placeholder(frame.prefix + def.name, feature.output, feature.name, feature.dtype);
    return true;
  }

  /// Placeholders in place of what hands out the components of a pipeline's elements.
  void add_components(const Frame& frame, std::int32_t i) {
    const std::string name = frame.prefix + frame.body->node(i).name;
    for (std::int32_t port = 0; port < static_cast<std::int32_t>(frame.body->output_count(i)); ++port)
      if (const DType dtype = pipeline_type(*frame.body, i, port, name).elem; dtype != DType::undefined)
        add_placeholder(name, port, reference(name, port), dtype);
  }

  void add_placeholder(const std::string& place_of, std::int32_t port, const std::string& input, DType dtype) {
    tf::NodeDef node;
    node.name = place_of + "/" + input;
    node.op = "Placeholder";
    node.attrs = {{"dtype", tf::data_type_of(dtype)}, {"shape", tf::TensorShape{.unknown_rank = true}}};
    std::ranges::replace(node.name, ':', '_');
    aliases_[reference(place_of, port)] = node.name;
    features_.emplace_back(input, node.name);
    flat_.nodes.push_back(std::move(node));
  }

  /// A handle has become the value.
  static void read_directly(tf::NodeDef& node) {
    if (node.op != "ReadVariableOp") return;
    node.op = "Identity";
    for (tf::Attr& attr : node.attrs)
      if (attr.name == "dtype") attr.name = "T";
  }

  void set_variable(tf::NodeDef& node, const std::string& prefix) {
    if (node.op != "VarHandleOp" && node.op != "VariableV2" && node.op != "Variable") return;
    std::optional<Tensor> value = files_.variable ? files_.variable(node.name) : std::nullopt;
    const tf::AttrValue* shared = node.find("shared_name");
    const auto* name = shared ? std::get_if<std::string>(shared) : nullptr;
    if (!value && files_.variable && name && !name->empty()) value = files_.variable(*name);
    if (!value && prefix.empty()) return;  // perhaps nothing needs it
    if (!value) throw Error(Code::unsupported_setting, "the value of variable '" + node.name + "' is not known");
    auto proto = std::make_shared<tf::TensorProto>();
    proto->dtype = tf::data_type_of(value->dtype());
    proto->shape.dims = value->dims();
    if (value->dtype() == DType::string)
      proto->strings.assign(value->strings().begin(), value->strings().end());
    else
      proto->elements = value->bytes();
    node.op = "Const";
    node.attrs = {{"dtype", proto->dtype}, {"value", std::shared_ptr<const tf::TensorProto>(proto)}};
  }

  std::string resolved(std::string name) const {
    for (std::size_t steps = 0; steps <= aliases_.size(); ++steps) {
      const auto it = aliases_.find(name);
      if (it == aliases_.end()) return name;
      name = it->second;
    }
    throw Error(Code::cyclic_graph, "the result of a call depends on itself");
  }

  void keep_needed(const std::vector<std::string>& outputs) {
    std::unordered_map<std::string, const tf::NodeDef*> by_name;
    for (const tf::NodeDef& node : flat_.nodes) by_name.emplace(node.name, &node);
    std::unordered_set<std::string> needed;
    std::vector<std::string> stack;
    for (const std::string& output : outputs) stack.push_back(node_of(output));
    while (!stack.empty()) {
      const std::string name = std::move(stack.back());
      stack.pop_back();
      const auto it = by_name.find(name);
      if (it == by_name.end() || !needed.insert(name).second) continue;
      for (const std::string& input : it->second->inputs)
        stack.push_back(node_of(input.starts_with('^') ? input.substr(1) : input));
    }
    std::erase_if(flat_.nodes, [&](const tf::NodeDef& node) { return !needed.contains(node.name); });
    for (tf::NodeDef& node : flat_.nodes)
      std::erase_if(node.inputs, [&](const std::string& input) {
        return input.starts_with('^') && !needed.contains(input.substr(1));
      });
  }

  const tf::GraphDef& graph_;
  const ModelFiles& files_;
  Budget& budget_;
  Body::FindFunction find_;
  std::unordered_map<std::string_view, const tf::FunctionDef*> functions_;
  std::unordered_map<const tf::FunctionDef*, std::unique_ptr<Body>> bodies_;
  std::unordered_map<std::string, std::string> aliases_;
  Features features_;
  tf::GraphDef flat_;
};

}  // namespace

tf::GraphDef freeze(const tf::GraphDef& graph, const ModelFiles& files, std::vector<std::string>& outputs,
                    Budget& budget, Features* features) {
  Freezing freezing(graph, files, budget);
  tf::GraphDef flat = freezing.run(outputs);
  if (features) *features = freezing.features();
  return flat;
}

}  // namespace ingot::frontends::tensorflow
