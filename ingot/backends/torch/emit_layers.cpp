// Convolutions, pools, normalisations, products.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/torch/operators.h"
#include "ingot/backends/torch/slide.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/window.h"

namespace ingot::backends::torch {

bool Slide::may_pad() const {
  bool may = is_even();
  for (std::size_t i = 0; i < kernel.size(); ++i) may &= 2 * before[i] <= kernel[i];
  return may;
}

Slide slide_of(const Node& node, bool has_weights) {
  const Shape& x = *node.input(0)->type.shape;
  const auto spatial = x.size() - 2;
  Shape kernel;
  if (has_weights) kernel = Shape(node.input(1)->type.shape->begin() + 2, node.input(1)->type.shape->end());
  const ops::Window w = ops::Window::read(node.attributes, spatial, has_weights ? &kernel : nullptr);
  Slide made{.kernel = {},
             .strides = w.strides,
             .dilations = w.dilations,
             .before = {},
             .after = {},
             .ceil_mode = w.ceil_mode};
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto [before, after] = w.padding(i, x[i + 2]);
    made.kernel.push_back(w.kernel[i].as_int().value_or(1));
    made.before.push_back(before.as_int().value_or(0));
    made.after.push_back(after.as_int().value_or(0));
  }
  return made;
}

std::string padded(const std::string& x, const Slide& w, const std::string& value) {
  Ints pads;  // the last axis comes first, with both of its ends
  for (std::size_t i = w.before.size(); i-- > 0;) {
    pads.push_back(w.before[i]);
    pads.push_back(w.after[i]);
  }
  return NodeOut::call("torch.constant_pad_nd", {x, text_of(pads), value});
}

std::string momentum_of(const Node& node) {
  const auto kept = static_cast<double>(node.attributes.float_or("momentum", 0.9F));
  return fmt::format("{:.6g}", 1 - kept);
}

std::string sized(std::string_view name, std::size_t spatial) { return fmt::format("{}{}d", name, spatial); }

namespace {

std::string spatial_axes(const NodeOut& n) {
  Ints axes;
  for (std::int64_t a = 2; a < n.rank(); ++a) axes.push_back(a);
  return text_of(axes);
}

}  // namespace

void write_conv(const NodeOut& n) {
  const Slide w = slide_of(n.node, true);
  const Ints none(w.before.size(), 0);
  n.set(NodeOut::call(
      "torch." + sized("conv", w.rank()),
      {w.is_even() ? n.in(0) : padded(n.in(0), w, "0"), n.in(1), n.has(2) ? n.in(2) : "None", text_of(w.strides),
       text_of(w.is_even() ? w.before : none), text_of(w.dilations), text_of(n.attr("group", 1))}));
}

void write_conv_transpose(const NodeOut& n) {
  const Slide w = slide_of(n.node, true);
  const std::size_t spatial = w.kernel.size();
  const Ints none(spatial, 0);
  // Ends that differ are cut off the unpadded result; the output's own padding stands at the end.
  const Ints extra = n.node.attributes.ints_or("output_padding", none);
  std::string y = NodeOut::call(
      "torch." + sized("conv_transpose", spatial),
      {n.in(0), n.in(1), n.has(2) ? n.in(2) : "None", text_of(w.strides), text_of(w.is_even() ? w.before : none),
       text_of(extra), text_of(n.attr("group", 1)), text_of(w.dilations)});
  if (!w.is_even()) {
    Slide cut = w;
    for (std::size_t i = 0; i < spatial; ++i) {
      cut.before[i] = -w.before[i];
      cut.after[i] = -w.after[i];
    }
    y = padded(y, cut, "0");
  }
  n.set(y);
}

void write_max_pool(const NodeOut& n) {
  Slide w = slide_of(n.node, false);
  std::string x = n.in(0);
  if (!w.may_pad()) {
    x = padded(x, w, "-inf");
    w.before.assign(w.before.size(), 0);
  }
  n.set(NodeOut::call("torch." + sized("max_pool", w.rank()),
                      {x, text_of(w.kernel), text_of(w.strides), text_of(w.before), text_of(w.dilations),
                       std::string(text_of_flag(w.ceil_mode))}));
}

void write_average_pool(const NodeOut& n) {
  Slide w = slide_of(n.node, false);
  const bool counts = n.flag("count_include_pad");
  const auto pooled = [&](const std::string& x, const Ints& pads) {
    return NodeOut::call(n.s.nn(sized("avg_pool", w.rank())),
                         {x, text_of(w.kernel), text_of(w.strides), text_of(pads),
                          std::string(text_of_flag(w.ceil_mode)), std::string(text_of_flag(counts))});
  };
  if (w.may_pad()) return n.set(pooled(n.in(0), w.before));
  const Ints none(w.before.size(), 0);
  const std::string sum = pooled(padded(n.in(0), w, "0"), none);
  if (counts) return n.set(sum);
  n.set(sum + " / " + pooled(padded("torch.ones_like(" + n.in(0) + ")", w, "0"), none));
}

void write_global_pool(const NodeOut& n) {
  if (n.rank() < 3) return n.set(n.in(0));
  n.set(NodeOut::call(n.node.op == "GlobalMaxPool" ? "torch.amax" : "torch.mean", {n.in(0), spatial_axes(n), "True"}));
}

void write_batch_normalization(const NodeOut& n) {
  n.set(NodeOut::call("torch.batch_norm", {n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), "self.training",
                                           momentum_of(n.node), n.real("epsilon", 1e-5F), "False"}));
}

void write_instance_normalization(const NodeOut& n) {
  n.set(NodeOut::call("torch.instance_norm",
                      {n.in(0), n.in(1), n.in(2), "None", "None", "True", "0.", n.real("epsilon", 1e-5F), "False"}));
}

void write_layer_normalization(const NodeOut& n) {
  const Shape& x = *n.node.input(0)->type.shape;
  Ints sizes;
  for (auto a = static_cast<std::size_t>(n.axis(-1)); a < x.size(); ++a) sizes.push_back(*x[a].as_int());
  n.set(NodeOut::call("torch.layer_norm", {n.in(0), text_of(sizes), n.in(1), n.has(2) ? n.in(2) : "None",
                                           n.real("epsilon", 1e-5F), "False"}));
}

void write_group_normalization(const NodeOut& n) {
  n.set(NodeOut::call("torch.group_norm",
                      {n.in(0), text_of(n.attr("num_groups", 1)), n.in(1), n.in(2), n.real("epsilon", 1e-5F)}));
}

void write_lrn(const NodeOut& n) {
  n.set(n.helped("local_response_norm", {n.in(0), text_of(n.attr("size", 1)), n.real("alpha", 1e-4F),
                                         n.real("beta", 0.75F), n.real("bias", 1)}));
}

void write_dropout(const NodeOut& n) {
  const Tensor *ratio = n.has(1) ? ops::constant_of(n.node.input(1)) : nullptr,
               *mode = n.has(2) ? ops::constant_of(n.node.input(2)) : nullptr;
  const bool is_plain = !n.has(2) || (mode && mode->to_ints() == Ints{0});
  const bool wants_mask = n.node.output(1) && !n.node.output(1)->uses().empty();
  const std::string share = !n.has(1) ? "0.5" : ratio ? literal(*ratio) : "float(" + n.s.name(n.node.input(1)) + ")";
  if (is_plain && !wants_mask) return n.set(NodeOut::call("torch.dropout", {n.in(0), share, "self.training"}));
  // A node that says by itself whether it drops does so whatever the module does.
  const std::string drops = is_plain ? "self.training" : mode ? "True" : "bool(" + n.s.name(n.node.input(2)) + ")";
  n.s.line(n.out(0) + ", " + n.out(1) + " = " + n.helped("dropout", {n.in(0), share, drops}));
}

void write_einsum(const NodeOut& n) {
  n.set(NodeOut::call("torch.einsum", {quoted(n.word("equation", "")), listed(n.all_inputs())}));
}

void write_gemm(const NodeOut& n) {
  const float alpha = n.node.attributes.float_or("alpha", 1), beta = n.node.attributes.float_or("beta", 1);
  const bool is_plain = alpha == 1 && beta == 1;
  if (is_plain && !n.flag("transA") && n.flag("transB") && (!n.has(2) || (n.has_rank(2) && n.rank(2) == 1)))
    return n.set(NodeOut::call(n.s.nn("linear"), {n.in(0), n.in(1), n.has(2) ? n.in(2) : "None"}));
  const auto turned = [](bool turns, const std::string& x) { return turns ? x + ".t()" : x; };
  const std::string product = turned(n.flag("transA"), n.in(0)) + " @ " + turned(n.flag("transB"), n.in(1));
  const auto scaled = [&](const std::string& x, std::string_view by, float factor) {
    if (factor == 1) return x;
    return grouped(x) + " * " + (is_integer(n.elem()) ? text_of(static_cast<std::int64_t>(factor)) : n.real(by, 1));
  };
  const std::string sum = scaled(product, "alpha", alpha);
  n.set(n.has(2) && beta != 0 ? sum + " + " + scaled(n.in(2), "beta", beta) : sum);
}

}  // namespace ingot::backends::torch
