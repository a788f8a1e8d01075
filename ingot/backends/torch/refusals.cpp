// Why PyTorch lacks an operator as a node has it.
#include "ingot/backends/torch/refusals.h"

#include <algorithm>

#include "ingot/backends/torch/slide.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/known.h"
#include "ingot/ops/nn/window.h"

namespace ingot::backends::torch::refuse {
namespace {

Refused window(const Node& node, bool has_weights) {
  if (Refused why = unranked(node)) return why;
  const Shape& x = *node.input(0)->type.shape;
  if (x.size() < 3 || x.size() > 5) return Refusal{Kind::dimensions, "PyTorch has it for one to three spatial axes"};
  Shape kernel;
  if (has_weights) {
    const Shape& w = *node.input(1)->type.shape;
    if (w.size() != x.size()) return Refusal{Kind::dimensions, "weights of another rank"};
    kernel = Shape(w.begin() + 2, w.end());
  }
  const ops::Window w = ops::Window::read(node.attributes, x.size() - 2, has_weights ? &kernel : nullptr);
  for (std::size_t i = 0; i < w.rank(); ++i) {
    const auto [before, after] = w.padding(i, x[i + 2]);
    if (!before.as_int() || !after.as_int())
      return Refusal{Kind::unknown_size, "the padding depends on a size that is not known"};
  }
  return {};
}

Refused pool(const Node& node) {
  if (Refused why = window(node, false)) return why;
  const Slide w = slide_of(node, false);
  // PyTorch decides by the padding at the end whether a last window that is not full counts.
  if (w.ceil_mode && !w.may_pad()) return Refusal{Kind::attribute_value, "ceil_mode with ends that differ"};
  return {};
}

std::size_t axis_of(const Node& node, std::int64_t fallback, std::size_t rank) {
  const std::int64_t given = node.attributes.int_or("axis", fallback);
  return static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(rank) : given);
}

}  // namespace

Refused unranked(const Node& node) {
  for (const Value* input : node.inputs())
    if (input && input->type.is_tensor() && !input->type.shape)
      return Refusal{Kind::unknown_size, "the rank is not known"};
  return {};
}

Refused not_float(const Node& node) {
  if (is_float(node.input(0)->type.elem)) return {};
  return Refusal{Kind::element_type, "PyTorch has it for floating-point numbers"};
}

Refused axis_from_end(const Node& node) {
  if (node.attributes.int_or("axis", 0) >= 0) return {};
  return unranked(node);
}

Refused transpose(const Node& node) { return node.attributes.has("perm") ? Refused() : unranked(node); }

Refused arg_extremum(const Node& node) {
  if (node.attributes.int_or("select_last_index", 0)) return Refusal{Kind::attribute_value, "select_last_index"};
  return {};
}

Refused conv(const Node& node) {
  if (Refused why = not_float(node)) return why;
  return window(node, true);
}

Refused conv_transpose(const Node& node) {
  if (!node.attributes.ints_or("output_shape", {}).empty()) return Refusal{Kind::attribute_value, "output_shape"};
  if (node.attributes.string_or("auto_pad", "NOTSET").starts_with("SAME"))
    return Refusal{Kind::attribute_value, "auto_pad"};
  if (Refused why = conv(node)) return why;
  const Slide w = slide_of(node, true);
  const Ints extra = node.attributes.ints_or("output_padding", Ints(w.rank(), 0));
  for (std::size_t i = 0; i < w.rank() && i < extra.size(); ++i)
    if (extra[i] >= std::max(w.strides[i], w.dilations[i]))
      return Refusal{Kind::attribute_value, "output_padding is not less than the stride"};
  return {};
}

Refused max_pool(const Node& node) {
  if (node.output(1)) return Refusal{Kind::attribute_value, "places of the maxima are counted otherwise"};
  return pool(node);
}

Refused average_pool(const Node& node) {
  const auto dilations = node.attributes.ints_or("dilations", {});
  if (std::ranges::any_of(dilations, [](std::int64_t d) { return d != 1; }))
    return Refusal{Kind::attribute_value, "dilations"};
  if (Refused why = not_float(node)) return why;
  return pool(node);
}

Refused batch_normalization(const Node& node) {
  if (node.attributes.int_or("training_mode", 0) || node.output_count() > 1)
    return Refusal{Kind::attribute_value, "training_mode"};
  for (std::size_t i = 1; i < 5; ++i)
    if (node.input(i)->type.elem != node.input(0)->type.elem)
      return Refusal{Kind::element_type, "parameters of another type"};
  return not_float(node);
}

Refused layer_normalization(const Node& node) {
  if (node.output_count() > 1) return Refusal{Kind::attribute_value, "mean and deviation are outputs"};
  if (Refused why = unranked(node)) return why;
  const Shape& x = *node.input(0)->type.shape;
  const std::size_t axis = axis_of(node, -1, x.size());
  for (std::size_t a = axis; a < x.size(); ++a)
    if (!x[a].as_int()) return Refusal{Kind::unknown_size, "a normalised size is not known"};
  for (std::size_t i = 1; i < 3; ++i) {
    if (!node.input(i)) continue;
    const Shape& w = *node.input(i)->type.shape;
    bool fits = w.size() == x.size() - axis;
    for (std::size_t k = 0; fits && k < w.size(); ++k) fits = w[k].as_int() == x[axis + k].as_int();
    if (!fits) return Refusal{Kind::dimensions, "the scale is spread"};
  }
  return not_float(node);
}

Refused group_normalization(const Node& node) {
  if (Refused why = unranked(node)) return why;
  const Shape& x = *node.input(0)->type.shape;
  for (std::size_t i = 1; i < 3; ++i) {
    const Shape& w = *node.input(i)->type.shape;
    if (w.size() != 1 || x.size() < 2 || !same(w[0], x[1])) return Refusal{Kind::dimensions, "the scale is of groups"};
  }
  return not_float(node);
}

Refused gelu(const Node& node) {
  if (node.attributes.string_or("approximate", "none") != "none") return Refusal{Kind::attribute_value, "approximate"};
  return not_float(node);
}

Refused grid_sample(const Node& node) {
  if (Refused why = unranked(node)) return why;
  const std::size_t rank = node.input(0)->type.shape->size();
  const std::string mode = node.attributes.string_or("mode", "linear");
  if (rank != 4 && rank != 5) return Refusal{Kind::dimensions, "PyTorch has it for images and volumes"};
  if (mode != "linear" && rank == 5) return Refusal{Kind::attribute_value, mode + " in volumes"};
  return not_float(node);
}

Refused scatter(const Node& node) {
  const std::string how = node.attributes.string_or("reduction", "none");
  if (how != "none" && how != "add") return Refusal{Kind::attribute_value, "reduction '" + how + "'"};
  return {};
}

Refused pad(const Node& node) {
  if (node.attributes.string_or("mode", "constant") != "constant") return {};
  const auto pads = ingot::known_ints(node.input(1));
  return pads ? unranked(node) : Refused();
}

Refused truth(const Node& node) {
  if (node.input(0)->type.elem == DType::boolean) return Refusal{Kind::element_type, "PyTorch has it for numbers"};
  return {};
}

Refused images(const Node& node) {
  if (Refused why = unranked(node)) return why;
  return node.input(0)->type.shape->size() == 4 ? Refused() : Refusal{Kind::dimensions, "four axes are expected"};
}

Refused unique(const Node& node) { return node.attributes.has("axis") ? unranked(node) : Refused(); }

Refused loop(const Node& node) {
  const GraphPtr* body = node.attributes.get<GraphPtr>("body");
  if (!body || (*body)->inputs().size() < 2) return Refusal{Kind::structure, "its body is not as a Loop's must be"};
  for (std::size_t i = 2; i < node.input_count(); ++i)
    if (!node.input(i)) return Refusal{Kind::structure, "a state has no first value"};
  return {};
}

}  // namespace ingot::backends::torch::refuse
