// Which operators are which layers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ingot/backends/keras/layer_out.h"
#include "ingot/backends/keras/rewrites.h"
#include "ingot/ir/transpose.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/layout.h"

namespace ingot::backends::keras {
namespace {

using passes::legalize::Refusal;

Refused never(const Node&) { return {}; }

std::int64_t dims_in(const Value* v) { return static_cast<std::int64_t>(v->type.shape->size()); }

// ---- activations
void activation(LayerOut& n, const char* word) { n.set("Activation", fmt::format(R"("activation":"{}")", word)); }
void relu(LayerOut& n) { activation(n, "relu"); }
void sigmoid(LayerOut& n) { activation(n, "sigmoid"); }
void tanh(LayerOut& n) { activation(n, "tanh"); }
void softplus(LayerOut& n) { activation(n, "softplus"); }
void softsign(LayerOut& n) { activation(n, "softsign"); }
void selu(LayerOut& n) { activation(n, "selu"); }
void mish(LayerOut& n) { activation(n, "mish"); }
void elu(LayerOut& n) { activation(n, "elu"); }
void hard_sigmoid(LayerOut& n) { activation(n, "hard_sigmoid"); }
void identity(LayerOut& n) { n.model.bind(n.node.output(0), n.in()); }

Refused only_plain_elu(const Node& n) {
  return n.attributes.float_or("alpha", 1) == 1 ? Refused() : Refusal{Kind::attribute_value, "another slope than 1"};
}
Refused only_plain_selu(const Node& n) {
  const auto is_about = [&](const char* name, float keras) {
    return std::abs(n.attributes.float_or(name, keras) - keras) < 1e-6F;
  };
  return is_about("alpha", 1.6732632F) && is_about("gamma", 1.050701F)
             ? Refused()
             : Refusal{Kind::attribute_value, "Keras has constants of its own"};
}
Refused only_plain_hard_sigmoid(const Node& n) {
  const bool is_plain = n.attributes.float_or("alpha", 0.2F) == 0.2F && n.attributes.float_or("beta", 0.5F) == 0.5F;
  return is_plain ? Refused() : Refusal{Kind::attribute_value, "Keras 2 has 0.2 x + 0.5"};
}

void leaky_relu(LayerOut& n) {
  n.set("LeakyReLU", fmt::format(R"("alpha":{})", n.node.attributes.float_or("alpha", 0.01F)));
}
Refused refuse_softmax(const Node& n) {
  const std::int64_t axis = n.attributes.int_or("axis", -1), rank = dims_in(n.input(0));
  return (axis < 0 ? axis + rank : axis) > 0 ? Refused() : Refusal{Kind::attribute_value, "over the batch"};
}
void softmax(LayerOut& n) { n.set("Softmax", fmt::format(R"("axis":{})", n.node.attributes.int_or("axis", -1))); }

/// From 0 up to some number.
Refused refuse_clip(const Node& n) {
  const Tensor* low = n.input(1) ? ops::constant_of(n.input(1)) : nullptr;
  const Tensor* high = n.input_count() > 2 && n.input(2) ? ops::constant_of(n.input(2)) : nullptr;
  if (!low || low->size() != 1 || low->to_doubles()[0] != 0 || (high && high->size() != 1) ||
      (n.input_count() > 2 && n.input(2) && !high))
    return Refusal{Kind::attribute_value, "only from 0 up to a number"};
  return {};
}
void clip(LayerOut& n) {
  const Tensor* high = n.constant(2);
  n.set("ReLU", fmt::format(R"("max_value":{})", high ? fmt::format("{}", high->to_doubles().at(0)) : "null"));
}

Refused refuse_prelu(const Node& n) {
  const Tensor* slope = ops::constant_of(n.input(1));
  return slope && slope->size() == 1 ? Refused() : Refusal{Kind::not_constant, "one slope for all is a layer"};
}
void prelu(LayerOut& n) { n.set("LeakyReLU", fmt::format(R"("alpha":{})", n.constant(1)->to_doubles().at(0))); }

// ---- products
Refused refuse_gemm(const Node& n) {
  const auto& a = n.attributes;
  const Tensor *w = ops::constant_of(n.input(1)),
               *c = n.input_count() > 2 && n.input(2) ? ops::constant_of(n.input(2)) : nullptr;
  if (!w || (n.input_count() > 2 && n.input(2) && !c))
    return Refusal{Kind::not_constant, "a layer's weights are constant"};
  const bool is_vector = !c || (c->size() == w->dims()[a.int_or("transB", 0) ? 0 : 1] && c->dims().back() == c->size());
  if (a.int_or("transA", 0) || a.float_or("alpha", 1) != 1 || a.float_or("beta", 1) != 1 || !is_vector)
    return Refusal{Kind::attribute_value, "it is more than x w + b"};
  return {};
}
void dense(LayerOut& n, const Tensor& w, const Tensor* bias, const std::vector<std::string>& inputs = {}) {
  std::vector<std::pair<std::string, Tensor>> weights{{"kernel", w}};
  if (bias) weights.emplace_back("bias", bias->reshaped({bias->size()}));
  n.set("Dense", fmt::format(R"("units":{},"activation":"linear","use_bias":{})", w.dims()[1], bias != nullptr),
        weights, inputs);
}
void gemm(LayerOut& n) {
  const Tensor& w = *n.constant(1);
  dense(n, n.node.attributes.int_or("transB", 0) ? transposed(w, {1, 0}) : w, n.constant(2));
}
Refused refuse_matmul(const Node& n) {
  const Tensor* w = ops::constant_of(n.input(1));
  if (!w && !ops::constant_of(n.input(0)) && dims_in(n.input(0)) == 3 && dims_in(n.input(1)) == 3) return {};
  return w && w->rank() == 2 && dims_in(n.input(0)) >= 2
             ? Refused()
             : Refusal{Kind::not_constant, "a layer's weights are constant"};
}
/// The Add that alone reads a product, and adds a number for each unit; null: none does.
const Node* bias_behind(const Node& product, std::int64_t units) {
  const auto& uses = product.output(0)->uses();
  const Node* add = uses.size() == 1 ? uses.front().node : nullptr;
  if (!add || !add->is("Add") || dims_in(add->output(0)) != dims_in(product.output(0))) return nullptr;
  const Tensor* bias = ops::constant_of(add->input(1 - uses.front().index));
  return bias && bias->rank() > 0 && bias->size() == units && bias->dims().back() == units ? add : nullptr;
}
void matmul(LayerOut& n) {
  const Tensor* w = n.constant(1);
  const Node* add = w ? bias_behind(n.node, w->dims()[1]) : nullptr;
  if (add) {
    LayerOut whole{n.model, *add};
    const Tensor* bias = whole.constant(0) ? whole.constant(0) : whole.constant(1);
    dense(whole, *w, bias, {n.in()});
    return n.model.bind(n.node.output(0), n.model.layer_of(add->output(0)));
  }
  if (w) return dense(n, *w, nullptr);
  n.set("Dot", R"("axes":[2,1],"normalize":false)", {}, {n.in(0), n.in(1)});
}

Refused refuse_layer_normalization(const Node& n) {
  const std::int64_t axis = n.attributes.int_or("axis", -1), rank = dims_in(n.input(0));
  if ((axis < 0 ? axis + rank : axis) == 0) return Refusal{Kind::attribute_value, "over the batch"};
  for (std::size_t i = 1; i < n.input_count(); ++i)
    if (n.input(i) && !ops::constant_of(n.input(i)))
      return Refusal{Kind::not_constant, "a layer's weights are constant"};
  for (std::size_t i = 1; i < n.output_count(); ++i)
    if (n.output(i) && !n.output(i)->uses().empty())
      return Refusal{Kind::structure, "means and deviations are asked for"};
  return n.output(0)->type.elem == DType::f32 ? Refused() : Refusal{Kind::element_type, "layers compute floats"};
}
void layer_normalization(LayerOut& n) {
  const std::int64_t rank = dims_in(n.node.input(0)), axis = n.node.attributes.int_or("axis", -1);
  Ints axes;
  for (std::int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i) axes.push_back(i);
  std::vector<std::pair<std::string, Tensor>> weights{{"gamma", *n.constant(1)}};
  if (n.constant(2)) weights.emplace_back("beta", *n.constant(2));
  n.set("LayerNormalization",
        fmt::format(R"("axis":{},"epsilon":{},"center":{},"scale":true)", list_of(axes),
                    n.node.attributes.float_or("epsilon", 1e-5F), n.constant(2) != nullptr),
        weights);
}

Refused refuse_gather(const Node& n) {
  const Tensor* table = ops::constant_of(n.input(0));
  return table && table->rank() == 2 && n.attributes.int_or("axis", 0) == 0 && dims_in(n.input(1)) == 2
             ? Refused()
             : Refusal{Kind::structure, "only rows of a constant table are a layer"};
}
void gather(LayerOut& n) {
  const Tensor& table = *n.constant(0);
  n.set("Embedding",
        fmt::format(R"("input_dim":{},"output_dim":{},"mask_zero":false)", table.dims()[0], table.dims()[1]),
        {{"embeddings", table}}, {n.in(1)});
}

// ---- sums and products of tensors, or with constants
/// Whether a constant has one number, or one for each of `axis`, which is not that of the examples.
bool is_along(const Tensor& c, std::int64_t rank, std::int64_t axis) {
  if (c.size() == 1) return true;
  const std::int64_t at = axis - (rank - c.rank());
  return axis > 0 && c.rank() <= rank && at >= 0 && at < c.rank() && c.dims()[static_cast<std::size_t>(at)] == c.size();
}
/// A dimension of one element that has more in the result.
bool is_stretched(const Shape& x, const Shape& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i].as_int() == 1 && y[i].as_int() != 1) return true;
  return false;
}
Refused refuse_arithmetic(const Node& n) {
  const std::int64_t rank = dims_in(n.output(0));
  const bool has_constant =
      std::ranges::any_of(n.inputs(), [](const Value* v) { return ops::constant_of(v) != nullptr; });
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    const Tensor* c = ops::constant_of(n.input(i));
    if (!c && dims_in(n.input(i)) != rank) return Refusal{Kind::dimensions, "tensors of other ranks"};
    if (!c && has_constant && is_stretched(*n.input(i)->type.shape, *n.output(0)->type.shape))
      return Refusal{Kind::dimensions, "what a layer scales keeps its sizes"};
    // Channels are second here, and last when the layout is chosen.
    if (c && (n.input_count() != 2 || (n.is("Div") && i == 0) || n.is("Max") || n.is("Min") || n.is("Mean") ||
              !(is_along(*c, rank, 1) || is_along(*c, rank, rank - 1))))
      return Refusal{Kind::structure, "only a number, or one for each channel, is a layer"};
  }
  const bool is_layer = n.is("Add") || n.is("Mul") || n.is("Max") || n.is("Min") || n.is("Mean") || n.is("Sum");
  if (!is_layer && !has_constant) return Refusal{Kind::unknown_operator, "TF.js has no such layer"};
  if (n.output(0)->type.elem != DType::f32) return Refusal{Kind::element_type, "layers compute floats"};
  return {};
}

/// x * scale + offset, one of both for each channel.
void line(LayerOut& n, const Tensor& c, const std::string& input, bool is_first) {
  const bool is_product = n.node.is("Mul") || n.node.is("Div");
  std::vector<float> scale, offset;
  for (const double v : c.to_doubles()) {
    scale.push_back(static_cast<float>(n.node.is("Mul")               ? v
                                       : n.node.is("Div")             ? 1 / v
                                       : n.node.is("Sub") && is_first ? -1
                                                                      : 1));
    offset.push_back(static_cast<float>(is_product ? 0 : n.node.is("Sub") && !is_first ? -v : v));
  }
  if (c.size() == 1)
    return n.set("Rescaling", fmt::format(R"("scale":{},"offset":{})", scale[0], offset[0]), {}, {input});
  const Dims dims{c.size()};
  // A normalisation by mean 0 and variance 1. TF.js computes it right along the last axis alone, and channels are there
  // only where a layout was chosen for some other layer.
  const std::vector<float> zeros(scale.size(), 0), ones(scale.size(), 1);
  const std::string config = R"("axis":-1,"momentum":0.99,"epsilon":1e-12,"center":true,"scale":true)";
  const std::vector<std::pair<std::string, Tensor>> weights{{"gamma", Tensor::of<float>(dims, scale)},
                                                            {"beta", Tensor::of<float>(dims, offset)},
                                                            {"moving_mean", Tensor::of<float>(dims, zeros)},
                                                            {"moving_variance", Tensor::of<float>(dims, ones)}};
  const std::int64_t rank = dims_in(n.node.output(0));
  if (is_along(c, rank, rank - 1)) return n.set("BatchNormalization", config, weights, {input});
  Ints to_last, back{rank - 1};
  for (std::int64_t i = 2; i < rank; ++i) to_last.push_back(i);
  for (std::int64_t i = 1; i < rank - 1; ++i) back.push_back(i);
  to_last.push_back(1);
  const std::string moved = n.before("Permute", fmt::format(R"("dims":{})", list_of(to_last)), input);
  const std::string scaled =
      n.model.add("BatchNormalization", config, {moved}, std::string(n.node.output(0)->name()), weights);
  n.set("Permute", fmt::format(R"("dims":{})", list_of(back)), {}, {scaled});
}

void arithmetic(LayerOut& n) {
  if (n.model.has(n.node.output(0))) return;  // a bias, in its Dense
  for (std::size_t i = 0; i < n.node.input_count(); ++i)
    if (const Tensor* c = n.constant(i)) return line(n, *c, n.in(1 - i), i == 0);
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < n.node.input_count(); ++i) inputs.push_back(n.in(i));
  const char* name = n.node.is("Mul")    ? "Multiply"
                     : n.node.is("Max")  ? "Maximum"
                     : n.node.is("Min")  ? "Minimum"
                     : n.node.is("Mean") ? "Average"
                                         : "Add";
  n.set(name, "", {}, inputs);
}

Refused refuse_concat(const Node& n) {
  const std::int64_t axis = n.attributes.int_or("axis", 1);
  const bool has_constant =
      std::ranges::any_of(n.inputs(), [](const Value* v) { return ops::constant_of(v) != nullptr; });
  return axis == 0 || has_constant ? Refusal{Kind::structure, "only values beside each other are a layer"} : Refused();
}
void concat(LayerOut& n) {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < n.node.input_count(); ++i) inputs.push_back(n.in(i));
  n.set("Concatenate", fmt::format(R"("axis":{})", n.node.attributes.int_or("axis", 1)), {}, inputs);
}

// ---- shapes
/// The batch stays, and at most one other size is open.
Refused refuse_reshape(const Node& n) {
  if (is_of_cells(n.input(0))) return {};
  if (has_moved_batch(n.input(0))) return Refusal{Kind::structure, "the batch is not first"};
  const auto &x = n.input(0)->type.shape, &y = n.output(0)->type.shape;
  if (!x || !y || x->empty() || y->empty() || !same((*x)[0], (*y)[0]))
    return Refusal{Kind::dimensions, "the batch does not stay as it is"};
  for (std::size_t i = 1; i < y->size(); ++i)
    if (!(*y)[i].is_known()) return Refusal{Kind::unknown_size, "sizes that are not known"};
  return {};
}
void reshape(LayerOut& n) {
  if (is_of_cells(n.node.input(0))) return n.model.bind(n.node.output(0), n.in());
  Ints sizes;
  for (std::size_t i = 1; i < n.out_shape().size(); ++i) sizes.push_back(n.out_shape()[i].value());
  n.set("Reshape", fmt::format(R"("target_shape":{})", list_of(sizes)));
}
Refused refuse_transpose(const Node& n) {
  const Ints perm = n.attributes.ints_or("perm", {});
  return !perm.empty() && perm[0] == 0 && !has_moved_batch(n.input(0))
             ? Refused()
             : Refusal{Kind::attribute_value, "the batch does not stay first"};
}
void transpose(LayerOut& n) {
  const Ints perm = n.node.attributes.ints_or("perm", {});
  n.set("Permute", fmt::format(R"("dims":{})", list_of(Ints(perm.begin() + 1, perm.end()))));
}

/// Means and maxima over all places of an image, whose axes are still in ONNX's order.
Refused refuse_reduce(const Node& n) {
  const Tensor* axes = n.input_count() > 1 && n.input(1) ? ops::constant_of(n.input(1)) : nullptr;
  const std::int64_t rank = dims_in(n.input(0));
  if (!axes || rank < 3 || rank > 4 || axes->size() != rank - 2)
    return Refusal{Kind::structure, "only over all places of an image"};
  for (std::int64_t axis : axes->to_ints())
    if ((axis < 0 ? axis + rank : axis) < 2) return Refusal{Kind::structure, "only over all places of an image"};
  for (std::size_t i = 1; i < n.output(0)->type.shape->size(); ++i)
    if (!(*n.output(0)->type.shape)[i].is_known()) return Refusal{Kind::unknown_size, "sizes that are not known"};
  return {};
}
void reduce(LayerOut& n) {
  const std::int64_t rank = dims_in(n.node.input(0));
  Ints axes = n.constant(1)->to_ints();
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  // Channels first or last, as the layout was chosen.
  const bool is_last = std::ranges::find(axes, 1) != axes.end();
  const std::string name = fmt::format("Global{}Pooling{}D", n.node.is("ReduceMax") ? "Max" : "Average", rank - 2);
  std::string input = n.in();
  if (!is_last) {
    Ints order;
    for (std::int64_t i = 2; i < rank; ++i) order.push_back(i);
    order.push_back(1);
    input = n.before("Permute", fmt::format(R"("dims":{})", list_of(order)), input);
  }
  const std::string config = rank == 4 ? R"("data_format":"channels_last")" : "";
  if (!n.node.attributes.int_or("keepdims", 1)) return n.set(name, config, {}, {input});
  const std::string pooled = n.before(name, config, input);
  Ints sizes;
  for (std::size_t i = 1; i < n.out_shape().size(); ++i) sizes.push_back(n.out_shape()[i].value());
  n.set("Reshape", fmt::format(R"("target_shape":{})", list_of(sizes)), {}, {pooled});
}

}  // namespace

const std::vector<Row>& all_rows() {
  static const std::vector<Row> kRows = {
      {"Add", refuse_arithmetic, arithmetic},
      {"AveragePool", refuse_pool, emit_pool},
      {"Clip", refuse_clip, clip},
      {"Concat", refuse_concat, concat},
      {"Conv", refuse_conv, emit_conv},
      {"ConvTranspose", refuse_conv_transpose, emit_conv_transpose},
      {"Div", refuse_arithmetic, arithmetic},
      {"Dropout", never, identity},
      {"Elu", only_plain_elu, elu},
      {"Flatten", refuse_reshape, reshape},
      {"GRU", refuse_recurrent, emit_recurrent},
      {"Gather", refuse_gather, gather},
      {"Gemm", refuse_gemm, gemm},
      {"HardSigmoid", only_plain_hard_sigmoid, hard_sigmoid},
      {"Identity", never, identity},
      {"LSTM", refuse_recurrent, emit_recurrent},
      {"LayerNormalization", refuse_layer_normalization, layer_normalization},
      {"LeakyRelu", never, leaky_relu},
      {"MatMul", refuse_matmul, matmul},
      {"Max", refuse_arithmetic, arithmetic},
      {"MaxPool", refuse_pool, emit_pool},
      {"Mean", refuse_arithmetic, arithmetic},
      {"Min", refuse_arithmetic, arithmetic},
      {"Mish", never, mish},
      {"Mul", refuse_arithmetic, arithmetic},
      {"PRelu", refuse_prelu, prelu},
      {"RNN", refuse_recurrent, emit_recurrent},
      {"ReduceMax", refuse_reduce, reduce},
      {"ReduceMean", refuse_reduce, reduce},
      {"Relu", never, relu},
      {"Reshape", refuse_reshape, reshape},
      {"Resize", refuse_resize, emit_resize},
      {"Selu", only_plain_selu, selu},
      {"Sigmoid", never, sigmoid},
      {"Softmax", refuse_softmax, softmax},
      {"Softplus", never, softplus},
      {"Softsign", never, softsign},
      {"Squeeze", refuse_reshape, reshape},
      {"Sub", refuse_arithmetic, arithmetic},
      {"Sum", refuse_arithmetic, arithmetic},
      {"Tanh", never, tanh},
      {"Transpose", refuse_transpose, transpose},
      {"Unsqueeze", refuse_reshape, reshape},
  };
  return kRows;
}

const Row* row_of(const Node& node) {
  if (!node.domain.empty() && node.domain != passes::kChannelsLastDomain) return nullptr;
  const auto& rows = all_rows();
  const auto row = std::ranges::lower_bound(rows, std::string_view(node.op), {}, &Row::op);
  return row != rows.end() && row->op == node.op ? &*row : nullptr;
}

}  // namespace ingot::backends::keras
