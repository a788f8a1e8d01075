// What a model uses although the IR version that it states does not have it yet.
#include <fmt/format.h>

#include <map>

#include "ingot/passes/check/rules.h"
#include "ingot/passes/fit_ir_version.h"

namespace ingot::passes::rules {
namespace {

/// The first use of each feature that is too new, in the order in which they are found.
class TooNew {
 public:
  explicit TooNew(std::int64_t ir_version) : ir_version_(ir_version) {}

  template <class Place> void use(std::int64_t since, std::string_view feature, Place&& place) {
    if (ir_version_ >= since) return;
    const auto it = index_.find(feature);
    if (it == index_.end()) {
      index_.emplace(std::string(feature), uses_.size());
      uses_.push_back({since, std::string(feature), place(), 1});
    } else {
      ++uses_[it->second].count;
    }
  }

  template <class Place> void use(DType dtype, Place&& place) {
    if (ir_version_ >= 13) return;
    const std::int64_t since = ir_version_of(dtype);
    if (since > 3 && ir_version_ < since) use(since, fmt::format("element type {}", name_of(dtype)), place);
  }

  template <class Place> void use(const Type& type, Place&& place) {
    if (ir_version_ >= 13) return;
    for (const Type* t = &type; t; t = t->element.get()) {
      if (t->kind == Type::Kind::optional) use(8, "the optional type", place);
      if (t->kind == Type::Kind::sparse_tensor) use(8, "the sparse tensor type", place);
      use(t->elem, place);
    }
  }

  void report(Context& c) {
    for (Use& u : uses_) {
      std::string message =
          fmt::format("{} needs IR version {}, but the model states {}", u.feature, u.since, ir_version_);
      if (u.count > 1) message += fmt::format(" ({} uses)", u.count);
      const std::string hint = fmt::format("state IR version {} or newer", u.since);
      // Readers of old models do not look for functions at all, and then do not know the operators.
      if (u.feature == kFunctions)
        c.report.error(Code::bad_ir_version, std::move(u.place), std::move(message), hint);
      else
        c.report.warning(Code::bad_ir_version, std::move(u.place), std::move(message), hint);
    }
  }

  static constexpr std::string_view kFunctions = "a model-local function";

 private:
  struct Use {
    std::int64_t since;
    std::string feature, place;
    std::size_t count;
  };

  std::int64_t ir_version_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<Use> uses_;
};

void look_at_value(Context& c, TooNew& found, const Value& value) {
  const auto place = [&] { return c.places.of(value); };
  found.use(value.type, place);
  if (!value.metadata.empty()) found.use(10, "metadata of a value", place);
  if (value.sparse_initializer) found.use(6, "a sparse initializer", place);
  if (value.initializer) {
    found.use(value.initializer->dtype(), place);
    if (value.initializer->notes && !value.initializer->notes->metadata.empty())
      found.use(10, "metadata of a tensor", place);
  }
}

void look_at_attribute(TooNew& found, const Attribute& a, const std::function<std::string()>& place) {
  if (const auto* t = std::get_if<Tensor>(&a.value)) found.use(t->dtype(), place);
  if (const auto* list = std::get_if<std::vector<Tensor>>(&a.value))
    for (const Tensor& t : *list) found.use(t.dtype(), place);
  const AttrType type = a.type();
  if (type == AttrType::sparse_tensor || type == AttrType::sparse_tensors) found.use(6, "a sparse attribute", place);
  if (type == AttrType::type_proto || type == AttrType::type_protos) found.use(8, "an attribute that is a type", place);
}

void look_at_node(Context& c, TooNew& found, const Node& node) {
  const auto place = [&] { return c.places.of(node); };
  if (!node.overload.empty()) found.use(10, "an overload of a function", place);
  if (!node.metadata.empty()) found.use(10, "metadata of a node", place);
  if (!node.device_configurations.empty()) found.use(11, "a device configuration", place);
  for (const Attribute& a : node.attributes) look_at_attribute(found, a, place);
  for (std::size_t i = 0; i < node.output_count(); ++i)
    if (node.output(i)) look_at_value(c, found, *node.output(i));
}

}  // namespace

void check_ir_features(Context& c) {
  const Model& model = c.model;
  if (model.ir_version <= 0) return;  // reported already
  TooNew found(model.ir_version);
  for (std::size_t i = 0; i < model.training.size(); ++i)
    found.use(7, "training information", [&] { return fmt::format("training info {}", i); });
  for (const auto& f : model.functions) {
    const auto place = [&] { return function_name(*f); };
    found.use(8, TooNew::kFunctions, place);
    if (!f->attribute_defaults.empty()) found.use(9, "a default of a function's attribute", place);
    if (!f->overload.empty()) found.use(10, "an overload of a function", place);
    if (!f->metadata.empty()) found.use(10, "metadata of a function", place);
  }
  for (std::size_t i = 0; i < model.device_configurations.size(); ++i)
    found.use(11, "a device configuration", [] { return std::string("model"); });
  for (const GraphPlace& place : c.graphs) {
    const Graph& graph = *place.graph;
    const auto at_graph = [&] { return c.places.of(graph); };
    if (!graph.quantization.empty()) found.use(5, "a quantization annotation", at_graph);
    if (!graph.metadata.empty()) found.use(10, "metadata of a graph", at_graph);
    for (const Value* v : graph.inputs()) look_at_value(c, found, *v);
    for (const Value* v : graph.initializers())
      if (!v->is_input()) look_at_value(c, found, *v);
    for (const Node& node : graph.nodes()) look_at_node(c, found, node);
  }
  found.report(c);
}

}  // namespace ingot::passes::rules
