// Sequences whose members are known become those members: many targets have tensors only.
#include "ingot/passes/legalize/sequences.h"

#include <unordered_map>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"

namespace ingot::passes::legalize {
namespace {

class Sequences {
 public:
  std::size_t resolve(Graph& graph) {
    std::size_t changed = 0;
    for (Node& node : graph.nodes()) {
      learn(node);
      GraphBuilder g(graph, &node);
      g.name_after(node);
      const Values made = read(node, g);
      if (made.empty()) continue;
      replace_node(node, made);
      ++changed;
    }
    return changed;
  }

 private:
  /// A position in a sequence of this length; nothing where it is not known or not inside.
  static std::optional<std::size_t> place(const Value* v, std::size_t length) {
    const Tensor* t = v ? ops::constant_of(v) : nullptr;
    if (!t || t->size() != 1) return std::nullopt;
    std::int64_t at = t->to_ints()[0];
    if (at < 0) at += static_cast<std::int64_t>(length);
    if (at < 0 || at > static_cast<std::int64_t>(length)) return std::nullopt;
    return static_cast<std::size_t>(at);
  }

  const Values* members(const Value* v) const {
    const auto found = members_.find(v);
    return found == members_.end() ? nullptr : &found->second;
  }

  /// The members of a sequence for one that is made of it: moved where nobody else reads it, so that a list that grows
  /// by one at a time is not copied each time.
  Values handed_on(const Value* v) {
    Values& all = members_.at(v);
    return v->uses().size() == 1 ? std::move(all) : all;
  }

  void learn(Node& node) {
    Value* y = node.output(0);
    if (node.is("SequenceEmpty")) members_[y] = {};
    if (node.is("SequenceConstruct")) members_[y] = node.inputs();
    if (node.is("SplitToSequence")) split(node);
    const Values* x = node.input(0) ? members(node.input(0)) : nullptr;
    if (!x) return;
    if (node.is("Identity")) members_[y] = handed_on(node.input(0));
    if (node.is("SequenceInsert")) {
      const auto at = node.input(2) ? place(node.input(2), x->size()) : x->size();
      if (!at) return;
      Values all = handed_on(node.input(0));
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(*at), node.input(1));
      members_[y] = std::move(all);
    }
    if (node.is("SequenceErase")) {
      const auto at = node.input(1) ? place(node.input(1), x->size()) : x->size() - 1;
      if (!at || *at >= x->size()) return;
      Values all = handed_on(node.input(0));
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(*at));
      members_[y] = std::move(all);
    }
  }

  void split(Node& node) {
    const auto& shape = node.input(0)->type.shape;
    if (!shape || shape->empty()) return;
    std::int64_t axis = node.attributes.int_or("axis", 0);
    if (axis < 0) axis += static_cast<std::int64_t>(shape->size());
    const Dim size = (*shape)[static_cast<std::size_t>(axis)];
    const Tensor* given = node.input(1) ? ops::constant_of(node.input(1)) : nullptr;
    if (!size.is_known() || (node.input(1) && !given)) return;
    std::vector<std::int64_t> sizes;
    if (given && given->rank() == 1) {
      sizes = given->to_ints();
    } else {
      const std::int64_t each = given ? given->to_ints()[0] : 1;
      if (each < 1) return;
      for (std::int64_t at = 0; at < size.value(); at += each) sizes.push_back(std::min(each, size.value() - at));
    }
    constexpr std::size_t kMost = 1024;
    if (sizes.empty() || sizes.size() > kMost) return;
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    Values parts = sizes.size() == 1 ? Values{g.op("Identity", {node.input(0)})}
                                     : g.op("Split", {node.input(0), g.ints(sizes)}, {{"axis", axis}}, sizes.size());
    if (!given && !node.attributes.int_or("keepdims", 1))
      for (Value*& part : parts) part = g.squeeze(part, {axis});
    members_[node.output(0)] = std::move(parts);
  }

  Values read(Node& node, GraphBuilder& g) const {
    const Values* x = node.input(0) ? members(node.input(0)) : nullptr;
    if (!x) return {};
    if (node.is("SequenceLength")) return {g.index(static_cast<std::int64_t>(x->size()))};
    if (node.is("SequenceAt")) {
      const auto at = place(node.input(1), x->size());
      return at && *at < x->size() ? Values{g.op("Identity", {(*x)[*at]})} : Values{};
    }
    if (!node.is("ConcatFromSequence") || x->empty()) return {};
    const std::int64_t axis = node.attributes.int_or("axis", 0);
    if (!node.attributes.int_or("new_axis", 0)) return {g.concat(*x, axis)};
    Values parts;
    for (Value* part : *x) parts.push_back(g.unsqueeze(part, {axis}));
    return {g.concat(parts, axis)};
  }

  std::unordered_map<const Value*, Values> members_;
};

}  // namespace

std::size_t resolve_sequences(Graph& graph) {
  std::size_t changed = 0;
  for_each_graph(graph, [&](Graph& g) {
    bool is_any = false;
    for (const Node& node : g.nodes())
      for (const Value* v : node.outputs()) is_any |= v && v->type.kind == Type::Kind::sequence;
    if (is_any) changed += Sequences().resolve(g);
  });
  return changed;
}

}  // namespace ingot::passes::legalize
