// Graphs from outside, without their inner parts.
#include "ingot/api/model_builder.h"

#include <algorithm>

#include "ingot/api/engine_options.h"
#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/versions.h"
#include "ingot/passes/check/check.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/infer.h"

namespace ingot {
namespace {

struct ToIr {
  const std::string& name;

  AttrValue operator()(const std::vector<GraphView>&) const {
    throw Error(Code::bad_attribute, "attribute '" + name + "' is a graph, which the builder does not take")
        .hint("write the model as text and read it with parse_model()");
  }
  template <class T> AttrValue operator()(const T& value) const { return value; }
};

/// "ai.onnx.ml.Scaler" -> "ai.onnx.ml", "Scaler"
std::pair<std::string, std::string> split_domain(const std::string& op) {
  const std::size_t dot = op.rfind('.');
  if (dot == std::string::npos) return {"", op};
  return {std::string(normal_domain(op.substr(0, dot))), op.substr(dot + 1)};
}

/// Splits make many outputs, and what asks for more made a mistake.
constexpr std::size_t kMostOutputs = 1 << 16;

}  // namespace

ModelBuilder::Attribute::Attribute(std::string n, const char* v) : name(std::move(n)) {
  if (!v) throw Error(Code::bad_attribute, "attribute '" + name + "' is a null pointer");
  value = std::string(v);
}

struct ModelBuilder::State {
  Model model;
  std::vector<Value*> inputs_of(const std::vector<Ref>& refs, const std::string& reader) const {
    std::vector<Value*> values;
    for (const Ref& ref : refs) {
      if (ref.value_ && ref.owner_.lock().get() != this)
        throw Error(Code::bad_usage, reader + " reads a value of another builder, or of a model that is built");
      values.push_back(ref.value_);
    }
    return values;
  }
  void refuse_taken(const std::string& name) const {
    if (name.empty()) throw Error(Code::bad_name, "inputs, initializers and outputs need a name");
    if (model.graph->find(name)) throw Error(Code::duplicate_name, "the graph has a value '" + name + "' already");
  }
};

ModelBuilder::ModelBuilder(std::int64_t opset, std::string graph_name) : state_(std::make_shared<State>()) {
  state_->model.opsets.set("", opset);
  state_->model.producer_name = "ingot";
  state_->model.graph->name = std::move(graph_name);
}
ModelBuilder::ModelBuilder(ModelBuilder&&) noexcept = default;
ModelBuilder& ModelBuilder::operator=(ModelBuilder&&) noexcept = default;
ModelBuilder::~ModelBuilder() = default;

ModelBuilder::State& ModelBuilder::state() const { return held(state_, "ModelBuilder"); }

void ModelBuilder::import_opset(const std::string& domain, std::int64_t version) {
  state().model.opsets.set(domain, version);
}

ModelBuilder::Ref ModelBuilder::input(const std::string& name, const Type& type) {
  state().refuse_taken(name);
  return Ref(state_, state().model.graph->add_input(name, type));
}

ModelBuilder::Ref ModelBuilder::initializer(const std::string& name, const Tensor& value) {
  state().refuse_taken(name);
  return Ref(state_, state().model.graph->add_initializer(name, value));
}

ModelBuilder::Ref ModelBuilder::node(const std::string& op, const std::vector<Ref>& inputs,
                                     const std::vector<Attribute>& attributes, const std::string& output_name) {
  const Ref made = node_outputs(op, inputs, 1, attributes).front();
  if (!output_name.empty()) state().model.graph->rename(made.value_, state().model.graph->fresh_name(output_name));
  return made;
}

std::vector<ModelBuilder::Ref> ModelBuilder::node_outputs(const std::string& op, const std::vector<Ref>& inputs,
                                                          std::size_t outputs,
                                                          const std::vector<Attribute>& attributes) {
  const std::vector<Value*> values = state().inputs_of(inputs, op);
  if (outputs > kMostOutputs) throw Error(Code::bad_usage, op + " cannot have " + std::to_string(outputs) + " outputs");
  std::vector<ingot::Attribute> own;
  for (const Attribute& a : attributes) {
    if (std::ranges::find(own, a.name, &ingot::Attribute::name) != own.end())
      throw Error(Code::bad_attribute, op + " is given attribute '" + a.name + "' twice");
    own.emplace_back(a.name, std::visit(ToIr{a.name}, a.value));
  }
  Graph& graph = *state().model.graph;
  const auto [domain, name] = split_domain(op);
  Node* node = graph.add_node(name, domain);
  for (Value* v : values) node->add_input(v);
  for (ingot::Attribute& a : own) node->attributes.set(std::move(a));
  std::vector<Ref> made;
  for (std::size_t i = 0; i < outputs; ++i) made.push_back(Ref(state_, node->add_output(graph.fresh_name(name))));
  return made;
}

void ModelBuilder::output(const std::string& name, Ref value) {
  Value* v = state().inputs_of({value}, "output '" + name + "'").front();
  if (!v) throw Error(Code::bad_usage, "output '" + name + "' has no value");
  Graph& graph = *state().model.graph;
  if (v->name() != name) {
    state().refuse_taken(name);
    // What is an output already, or came in by its own name, keeps that.
    if (v->producer() && std::ranges::none_of(v->uses(), [](const Use& use) { return use.node == nullptr; }))
      graph.rename(v, name);
    else
      v = node("Identity", {value}, {}, name).value_;
  }
  graph.add_output(v);
}

Model ModelBuilder::build() {
  if (state().model.graph->outputs().empty())
    throw Error(Code::bad_usage, "a model without outputs computes nothing").hint("name one by output()");
  Model model = std::move(state().model);
  *this = ModelBuilder(model.opsets.version(""), model.graph->name);
  model.ir_version =
      std::max<std::int64_t>({4, ops::ir_version_for(model.opsets), passes::needed_ir_version(model).version});
  passes::InferOptions infer;
  infer.tolerate_errors = true;  // the checker tells of them, together with all others
  passes::infer(model, infer);
  passes::require_valid(model);
  return model;
}

Model parse_model(const std::string& text) { return onnx::parse_text(text); }

}  // namespace ingot
