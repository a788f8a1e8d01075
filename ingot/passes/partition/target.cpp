// Whether a target's table has a node.
#include "ingot/passes/partition/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/ops/schema.h"

namespace ingot::passes {
namespace {

std::string name_in_table(const Node& node) { return node.domain.empty() ? node.op : node.domain + "." + node.op; }

bool is_known(const Type& type) {
  return type.is_tensor() && type.shape && std::ranges::all_of(*type.shape, [](const Dim& d) { return d.is_known(); });
}

std::string text_of(const Attribute& attribute) {
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) return std::to_string(*i);
  if (const auto* s = std::get_if<std::string>(&attribute.value)) return *s;
  if (const auto* f = std::get_if<float>(&attribute.value)) return fmt::format("{}", *f);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute.value))
    return fmt::format("{}", fmt::join(*list, ","));
  return "?";
}

std::string joined(const std::vector<DType>& types) {
  std::string text;
  for (const DType t : types) text += (text.empty() ? "" : ", ") + std::string(name_of(t));
  return text;
}

/// One rule against one node.
class Question {
 public:
  Question(const OperatorRule& rule, const Node& node, const OpsetImports& opsets, std::int64_t version)
      : rule_(rule), node_(node), opset_(opsets.version(node.domain)), version_(version) {}

  bool is_of_version() const {
    return is_within(version_, rule_.first_version, rule_.last_version) &&
           is_within(opset_, rule_.first_opset, rule_.last_opset);
  }

  std::optional<Fallback> answer() const {
    for (const auto ask : {&Question::types, &Question::ranks, &Question::constants, &Question::attributes})
      if (auto no = (this->*ask)()) return no;
    return std::nullopt;
  }

 private:
  static bool is_within(std::int64_t v, std::int64_t first, std::int64_t last) {
    return (first == 0 || v >= first) && (last == 0 || v <= last);
  }

  std::optional<Fallback> type_of(const Value* v, const std::vector<DType>& allowed) const {
    if (!v || allowed.empty() || !v->type) return std::nullopt;
    if (!v->type.is_tensor())
      return Fallback{"UNSUPPORTED_NODE_INPUT", fmt::format("'{}' is no tensor", v->name()), ""};
    if (v->type.elem == DType::undefined || std::ranges::find(allowed, v->type.elem) != allowed.end())
      return std::nullopt;
    const bool has_float = std::ranges::find(allowed, DType::f32) != allowed.end();
    return Fallback{"UNSUPPORTED_NODE_DATATYPE",
                    fmt::format("'{}' is {}, and the target has {}", v->name(), name_of(v->type.elem), joined(allowed)),
                    has_float ? "compute it in float32" : "cast it to a type that the target has"};
  }

  std::optional<Fallback> types() const {
    if (!rule_.types.empty())
      if (auto no = type_of(node_.input(0) ? node_.input(0) : node_.output(0), rule_.types)) return no;
    const auto all = [&](const Values& values,
                         const std::vector<std::vector<DType>>& allowed) -> std::optional<Fallback> {
      for (std::size_t i = 0; i < values.size() && !allowed.empty(); ++i)
        if (auto no = type_of(values[i], allowed[std::min(i, allowed.size() - 1)])) return no;
      return std::nullopt;
    };
    if (auto no = all(node_.inputs(), rule_.inputs)) return no;
    return all(node_.outputs(), rule_.outputs);
  }

  std::optional<Fallback> ranks() const {
    if (!rule_.least_rank && !rule_.most_rank) return std::nullopt;
    const Value* v = node_.input(0);
    if (!v || !v->type.shape)
      return Fallback{"UNSUPPORTED_NODE_DYNAMIC", "the number of dimensions is not known", "fix it by --input-shape"};
    const auto rank = static_cast<std::int64_t>(v->type.shape->size());
    if (is_within(rank, rule_.least_rank, rule_.most_rank)) return std::nullopt;
    return Fallback{"UNSUPPORTED_NODE_SHAPE",
                    fmt::format("'{}' has {} dimensions, and the target takes {} to {}", v->name(), rank,
                                rule_.least_rank, rule_.most_rank ? std::to_string(rule_.most_rank) : "any"),
                    ""};
  }

  std::optional<Fallback> constants() const {
    for (const std::size_t i : rule_.constant_inputs) {
      const Value* v = node_.input(i);
      const bool is_stored =
          !v || (v->initializer && !v->is_input()) || (v->producer() && v->producer()->is("Constant"));
      if (!is_stored)
        return Fallback{"UNSUPPORTED_NODE_INPUT", fmt::format("'{}' must be stored in the model", v->name()),
                        "'ingot optimize' computes what does not depend on inputs"};
    }
    return std::nullopt;
  }

  std::optional<Fallback> attributes() const {
    for (const auto& [name, allowed] : rule_.attributes) {
      const Attribute* attribute = node_.attributes.find(name);
      if (!attribute) continue;
      const std::string text = text_of(*attribute);
      if (std::ranges::find(allowed, text) == allowed.end())
        return Fallback{"UNSUPPORTED_NODE_ATTR",
                        fmt::format("{} is {}, and the target has {}", name, text, fmt::join(allowed, ", ")), ""};
    }
    return std::nullopt;
  }

  const OperatorRule& rule_;
  const Node& node_;
  std::int64_t opset_, version_;
};

std::optional<Fallback> by_table(const PartitionTarget& target, const Node& node, const OpsetImports& opsets) {
  const auto found = target.operators.find(name_in_table(node));
  if (found == target.operators.end())
    return Fallback{
        "UNSUPPORTED_NODE", "the target has no such operator",
        node.domain == "com.microsoft" ? "'ingot convert --standard' spells it out in plain operators" : ""};
  const ops::Schema* schema = ops::schema_for(node.domain, node.op, opsets.version(node.domain));
  const std::int64_t version = schema ? schema->since : opsets.version(node.domain);
  std::optional<Fallback> why =
      Fallback{"UNSUPPORTED_NODE", fmt::format("the target does not have version {} of it", version),
               "--opset of 'ingot convert'"};
  bool has_version = false;
  for (const OperatorRule& rule : found->second) {
    const Question question(rule, node, opsets, version);
    if (!question.is_of_version()) continue;
    auto no = question.answer();
    if (!no) return std::nullopt;
    if (!has_version) why = no;
    has_version = true;
  }
  return why;
}

std::optional<Fallback> by_limits(const PartitionTarget& target, const Node& node, const OpsetImports& opsets) {
  const std::int64_t opset = opsets.version("");
  if (node.domain.empty() && target.first_opset && opset < target.first_opset)
    return Fallback{
        "UNSUPPORTED_NODE", fmt::format("operator set {} is older than {}", opset, target.first_opset),
        fmt::format("'ingot convert --opset {}'", target.last_opset ? target.last_opset : target.first_opset)};
  if (node.domain.empty() && target.last_opset && opset > target.last_opset)
    return Fallback{"UNSUPPORTED_NODE", fmt::format("operator set {} is newer than {}", opset, target.last_opset),
                    fmt::format("'ingot convert --opset {}'", target.last_opset)};
  if (target.needs_static_shapes)
    for (const Values& values : {node.inputs(), node.outputs()})
      for (const Value* v : values)
        if (v && v->type.is_tensor() && !is_known(v->type))
          return Fallback{"UNSUPPORTED_NODE_DYNAMIC", fmt::format("the size of '{}' is not known", v->name()),
                          "fix the inputs by --input-shape"};
  return std::nullopt;
}

}  // namespace

std::optional<Fallback> why_not_run(const PartitionTarget& target, const Node& node, const OpsetImports& opsets) {
  if (target.takes_all) return std::nullopt;
  if (target.answer) return target.answer(node);
  if (auto no = by_limits(target, node, opsets)) return no;
  if (auto no = by_table(target, node, opsets)) return no;
  std::optional<Fallback> inside;
  for_each_subgraph(node, [&](Graph& sub) {
    for_each_graph(sub, [&](Graph& graph) {
      for (const Node& n : graph.nodes())
        if (!inside)
          if (auto no = by_table(target, n, opsets)) {
            inside = no;
            inside->reason = fmt::format("inside it, {} ({}): {}", n.label(), n.op, no->reason);
          }
    });
  });
  return inside;
}

}  // namespace ingot::passes
