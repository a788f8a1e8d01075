// Padding before convolutions and pools becomes theirs.
#include "ingot/passes/absorb_pads.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ingot/ops/infer.h"

namespace ingot::passes {
namespace {

using Ints = std::vector<std::int64_t>;

/// What a Pad adds to spatial axes, and the number that it adds.
struct Border {
  Ints pads;  // those at the beginning of each spatial axis, then those at the end
  double number = 0;
};

/// Nothing: it pads other axes, cuts, repeats elements, or is not known.
std::optional<Border> border_of(const Node& pad) {
  if (!pad.is("Pad") || !pad.input(0) || !pad.output(0) || !pad.input(0)->type.shape) return {};
  if (pad.attributes.string_or("mode", "constant") != "constant") return {};
  const auto rank = std::ssize(*pad.input(0)->type.shape);
  const Tensor* amounts = ops::constant_of(pad.input(1));
  const Tensor* axes = ops::constant_of(pad.input(3));
  if (rank < 3 || !amounts || (pad.input(3) && !axes)) return {};
  const Ints given = amounts->to_ints();
  Ints along = axes ? axes->to_ints() : Ints{};
  if (!axes)
    for (std::int64_t i = 0; i < rank; ++i) along.push_back(i);
  if (given.size() != 2 * along.size()) return {};
  Border border{.pads = Ints(static_cast<std::size_t>(2 * (rank - 2)), 0)};
  for (std::size_t i = 0; i < along.size(); ++i) {
    const std::int64_t axis = along[i] < 0 ? along[i] + rank : along[i];
    const std::int64_t before = given[i], after = given[along.size() + i];
    if (axis < 0 || axis >= rank || before < 0 || after < 0) return {};
    if (axis < 2 && (before || after)) return {};
    if (axis < 2) continue;
    border.pads[static_cast<std::size_t>(axis - 2)] = before;
    border.pads[static_cast<std::size_t>(axis - 2 + rank - 2)] = after;
  }
  if (pad.input(2)) {
    const Tensor* number = ops::constant_of(pad.input(2));
    if (!number || number->size() != 1) return {};
    border.number = number->to_doubles()[0];
  }
  return border;
}

bool is_never_negative(const Value* x) {
  if (x->type.elem == DType::u8) return true;
  const Node* node = x->producer();
  if (!node) return false;
  if (node->is("Clip")) {
    const Tensor* low = ops::constant_of(node->input(1));
    return low && low->size() == 1 && low->to_doubles()[0] >= 0;
  }
  return node->is("Relu") || node->is("Sigmoid") || node->is("Abs");
}

bool any_but(const Ints& values, std::int64_t usual) {
  return std::ranges::any_of(values, [&](std::int64_t v) { return v != usual; });
}

/// The padding that the node has of its own; nothing where it depends on sizes.
std::optional<Ints> own_pads(const Node& node, std::size_t count) {
  const std::string rule = node.attributes.string_or("auto_pad", "NOTSET");
  if (rule == "VALID") return Ints(count, 0);
  if (rule != "NOTSET") return {};
  Ints pads = node.attributes.ints_or("pads", Ints(count, 0));
  const bool fits = pads.size() == count && std::ranges::all_of(pads, [](std::int64_t p) { return p >= 0; });
  return fits ? std::optional(std::move(pads)) : std::nullopt;
}

Ints sum(Ints a, const Ints& b) {
  std::ranges::transform(a, b, a.begin(), std::plus{});
  return a;
}

/// Each window of a pool meets an element of the image, and runtimes take no wider padding.
bool is_within(const Ints& pads, const Node& pool) {
  const Ints kernel = pool.attributes.ints_or("kernel_shape", {});
  if (pads.size() != 2 * kernel.size()) return false;
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= kernel[i % kernel.size()]) return false;
  return true;
}

bool can_absorb(const Border& border, const Node& reader, const Value* padded_input) {
  const auto own = own_pads(reader, border.pads.size());
  if (!own) return false;
  if (reader.is("Conv")) return border.number == 0;
  if (reader.attributes.int_or("ceil_mode", 0) != 0 || any_but(reader.attributes.ints_or("dilations", {}), 1))
    return false;
  if (!is_within(sum(*own, border.pads), reader)) return false;
  if (reader.is("AveragePool"))
    return border.number == 0 && (!any_but(*own, 0) || reader.attributes.int_or("count_include_pad", 0) != 0);
  if (!reader.is("MaxPool") || reader.output(1)) return false;
  return border.number == -std::numeric_limits<double>::infinity() ||
         (border.number == 0 && is_never_negative(padded_input));
}

void absorb(const Border& border, Node& reader) {
  Ints pads = sum(*own_pads(reader, border.pads.size()), border.pads);
  reader.attributes.erase("auto_pad");
  reader.attributes.set({"pads", AttrValue(std::move(pads))});
  if (reader.is("AveragePool")) reader.attributes.set({"count_include_pad", 1});
}

}  // namespace

std::size_t absorb_pads(Graph& root) {
  std::size_t count = 0;
  for_each_graph(root, [&](Graph& graph) {
    for (Node& node : graph.nodes()) {
      const auto border = border_of(node);
      if (!border) continue;
      const std::vector<Use> uses(node.output(0)->uses().begin(), node.output(0)->uses().end());
      const auto takes = [&](const Use& use) {
        return use.node && use.index == 0 && can_absorb(*border, *use.node, node.input(0));
      };
      if (uses.empty() || !std::ranges::all_of(uses, takes)) continue;
      for (const Use& use : uses) {
        absorb(*border, *use.node);
        use.node->set_input(0, node.input(0));
      }
      graph.erase(&node);
      ++count;
    }
  });
  return count;
}

}  // namespace ingot::passes
