// Reductions, and what orders elements.
#include <algorithm>
#include <numeric>

#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

std::string reduced(const NodeOut& n, const std::string& axes, const std::string& keep) {
  const std::string x = n.in(0), type = "dtype=" + n.type(n.wide == DType::undefined ? n.elem() : n.wide);
  const std::string_view op = n.node.op;
  if (op == "ReduceMean") return NodeOut::call("torch.mean", {x, axes, keep});
  if (op == "ReduceMax") return NodeOut::call("torch.amax", {x, axes, keep});
  if (op == "ReduceMin") return NodeOut::call("torch.amin", {x, axes, keep});
  if (op == "ReduceLogSumExp") return NodeOut::call("torch.logsumexp", {x, axes, keep});
  if (op == "ReduceL1") return NodeOut::call("torch.sum", {"torch.abs(" + x + ")", axes, keep, type});
  if (op == "ReduceSumSquare") return NodeOut::call("torch.sum", {grouped(x) + " * " + x, axes, keep, type});
  if (op == "ReduceL2")
    return NodeOut::call("torch.sqrt", {NodeOut::call("torch.sum", {grouped(x) + " * " + x, axes, keep, type})});
  if (op == "ReduceLogSum") return NodeOut::call("torch.log", {NodeOut::call("torch.sum", {x, axes, keep, type})});
  if (op == "ReduceProd") return n.helped("prod_axes", {x, axes, keep});
  return NodeOut::call("torch.sum", {x, axes, keep, type});
}

/// PyTorch has no extremum of no numbers; empty: there are some.
std::string extremum_of_nothing(const NodeOut& n) {
  const bool is_max = n.node.op == "ReduceMax";
  if ((!is_max && n.node.op != "ReduceMin") || !n.has_rank() || !is_float(n.elem())) return {};
  const Shape& x = *n.node.input(0)->type.shape;
  const auto out = static_dims(n.node.output()->type.shape);
  const bool is_empty = std::ranges::any_of(x, [](const Dim& d) { return same(d, 0); });
  if (!is_empty || !out) return {};
  return NodeOut::call("torch.full", {text_of(*out), is_max ? "-inf" : "inf", "dtype=" + n.type(n.elem())});
}

}  // namespace

void write_reduce(const NodeOut& n) {
  if (const std::string of_nothing = extremum_of_nothing(n); !of_nothing.empty()) return n.set(of_nothing);
  const std::string keep(text_of_flag(n.flag("keepdims", true)));
  const bool stays = n.flag("noop_with_empty_axes");
  if (const auto axes = n.has(1) ? n.known(1) : std::optional<Ints>(Ints{})) {
    Ints all = *axes;
    if (all.empty() && stays) return n.set(n.in(0));
    if (all.empty() && n.has_rank()) {
      all.resize(static_cast<std::size_t>(n.rank()));
      std::iota(all.begin(), all.end(), 0);
    }
    if (all.empty() && n.has_rank()) return n.set(reduced(n, "[0]", "False"));  // of one number
    return n.set(reduced(n, all.empty() ? n.helped("all_axes", {n.in(0)}) : text_of(all), keep));
  }
  const std::string axes = n.s.fresh("axes");
  n.s.line(axes + " = " + n.ints(1));
  if (stays) return n.set(n.in(0) + " if len(" + axes + ") == 0 else " + reduced(n, axes, keep));
  n.set(reduced(n, axes + " if len(" + axes + ") > 0 else " + n.helped("all_axes", {n.in(0)}), keep));
}

void write_arg_extremum(const NodeOut& n) {
  n.set(NodeOut::call(n.node.op == "ArgMax" ? "torch.argmax" : "torch.argmin",
                      {n.in(0), text_of(n.axis(0)), std::string(text_of_flag(n.flag("keepdims", true)))}));
}

void write_cumulative(const NodeOut& n) {
  const bool is_sum = n.node.op == "CumSum", reverse = n.flag("reverse"), exclusive = n.flag("exclusive");
  const std::string axis = n.integer(1), type = "dtype=" + n.type(n.wide == DType::undefined ? n.elem() : n.wide);
  const auto turned = [&](const std::string& x) {
    return reverse ? NodeOut::call("torch.flip", {x, "[" + axis + "]"}) : x;
  };
  std::string x = turned(n.in(0));
  if (exclusive) x = n.helped("shifted", {x, axis, is_sum ? "0" : "1"});
  n.set(turned(NodeOut::call(is_sum ? "torch.cumsum" : "torch.cumprod", {x, axis, type})));
}

void write_softmax(const NodeOut& n) {
  n.set(NodeOut::call(n.node.op == "Softmax" ? "torch.softmax" : "torch.log_softmax", {n.in(0), text_of(n.axis(-1))}));
}

void write_top_k(const NodeOut& n) {
  // torch.topk says nothing of the order of equal elements; a sort without a word about it may change theirs.
  const std::string axis = text_of(n.axis(-1)), count = n.integer(1);
  const bool is_u64 = n.elem() == DType::u64;
  const std::string x = is_u64 ? n.helped("ordered", {n.in(0)}) : n.in(0);
  const std::string values = n.s.fresh("ordered_values"), places = n.s.fresh("order");
  n.s.line(values + ", " + places + " = " +
           n.helped("sorted_along", {x, axis, std::string(text_of_flag(n.flag("largest", true)))}));
  const auto first = [&](const std::string& of) { return NodeOut::call(of + ".narrow", {axis, "0", count}); };
  n.set(is_u64 ? n.helped("ordered", {first(values)}) : first(values), 0);
  if (n.node.output(1)) n.s.line(n.out(1) + " = " + first(places));
}

void write_unique(const NodeOut& n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 4; ++i) names.push_back(n.out(i));
  const bool has_axis = n.node.attributes.find("axis") != nullptr;
  const std::string sorted(text_of_flag(n.flag("sorted", true)));
  const std::string x = has_axis ? n.in(0) : n.in(0) + ".reshape([-1])";
  n.s.line(joined(names) + " = " + n.helped("unique", {x, text_of(has_axis ? n.axis(0) : 0), sorted}));
}

}  // namespace ingot::backends::torch
