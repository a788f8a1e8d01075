// Matrix products: FULLY_CONNECTED where the weights are constant, BATCH_MATMUL elsewhere.
#include <algorithm>

#include "ingot/backends/tflite/quantized.h"
#include "ingot/backends/tflite/rows.h"
#include "ingot/base/mapped_file.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

Tensor scaled(const Tensor& t, float factor) {
  if (factor == 1) return t;
  std::vector<float> values = t.to_vector<float>();
  for (float& v : values) v *= factor;
  return Tensor::of<float>(t.dims(), values);
}

Refused needs_float(const Node& n) {
  for (std::size_t i = 0; i < n.input_count(); ++i)
    if (Refused why = needs_types(n, {DType::f32}, i)) return why;
  return {};
}

/// A bias that FULLY_CONNECTED can add by itself.
bool is_bias(const Value* c, const Dim& columns) {
  const Tensor* t = ops::constant_of(c);
  return t && columns.is_known() && t->size() == columns.value() &&
         (t->rank() == 1 || (t->rank() == 2 && t->dims()[0] == 1));
}

/// The version that the weights need; how activations are rounded is an option.
int connected_version(const NodeOut& n, Options& options) {
  if (!rounds_activations(n)) return 1;
  const bool is_asymmetric = note_of(n.node.metadata, kDynamicRange) == "asymmetric";
  options.set("asymmetric_quantize_inputs", is_asymmetric);
  return is_asymmetric ? 9 : 3;
}

}  // namespace

Refused refuse_gemm(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  return needs_float(n);
}

void emit_gemm(NodeOut& n) {
  const float alpha = n.attr("alpha", 1.f), beta = n.attr("beta", 1.f);
  std::int32_t a = n.in(0);
  if (n.attr("transA", 0)) a = transposed(n.e, a, DType::f32, n.shape(0), {1, 0});
  const Tensor* weights = n.constant(1);
  const bool is_turned = n.attr("transB", 0) != 0;
  std::int32_t w;
  if (weights) {
    const Tensor turned = is_turned ? *weights : passes::transposed(*weights, {1, 0});
    w = n.e.constant(scaled(turned, alpha), n.node.input(1)->name());
    if (!is_turned || alpha != 1) drop_pages(weights->bytes());
  } else if (const auto q = quantized_constant(n.node.input(1)); q && alpha == 1) {
    w = emit_weights(n, is_turned ? *q : permuted(*q, {1, 0}));
  } else {
    w = is_turned ? n.in(1) : transposed(n.e, n.in(1), DType::f32, n.shape(1), {1, 0});
  }
  const Dim columns = n.out_shape().back();
  std::int32_t bias = fmt_tflite::kNoTensor;
  const bool has_quantized_bias = n.has(2) && beta == 1 && n.node.input(2)->type.shape && n.shape(2).size() == 1 &&
                                  quantized_constant(n.node.input(2));
  const bool adds_bias =
      n.has(2) && beta != 0 && (has_quantized_bias || is_bias(n.node.input(2), columns)) && (weights || alpha == 1);
  if (has_quantized_bias && adds_bias) {
    bias = n.in(2);
  } else if (adds_bias) {
    const Tensor& c = *n.constant(2);
    bias = n.e.constant(scaled(c.reshaped({c.size()}), beta), n.node.input(2)->name());
  }
  const bool adds_after = n.has(2) && beta != 0 && !adds_bias;
  const bool scales_after = !weights && alpha != 1;
  const auto next = [&](bool is_last) { return is_last ? n.out() : n.e.temporary(DType::f32, n.out_shape()); };
  std::int32_t y = next(!adds_after && !scales_after);
  Options options(Op::FULLY_CONNECTED);
  const int version = connected_version(n, options);
  n.e.add(Op::FULLY_CONNECTED, {a, w, bias}, {y}, options, version);
  if (scales_after) {
    const std::int32_t factor = n.e.scalar(alpha, DType::f32), product = next(!adds_after);
    n.e.add(Op::MUL, {y, factor}, {product});
    y = product;
  }
  if (!adds_after) return;
  std::int32_t c = n.in(2);
  if (beta != 1) {
    const std::int32_t factor = n.e.scalar(beta, DType::f32);
    const std::int32_t product = n.e.temporary(DType::f32, n.node.input(2)->type.shape.value_or(Shape{}));
    n.e.add(Op::MUL, {c, factor}, {product});
    c = product;
  }
  n.e.add(Op::ADD, {y, c}, {n.out()});
}

Refused refuse_matmul(const Node& n) {
  for (const std::size_t i : {0U, 1U}) {
    if (Refused why = needs_rank(n, i)) return why;
    if (n.input(i)->type.shape->size() > 5) return Refusal{Kind::dimensions, "more than 5 dimensions"};
  }
  if (!n.output(0)->type.shape) return Refusal{Kind::unknown_size, "the rank is not known"};
  const Tensor* weights = ops::constant_of(n.input(1));
  if (weights && weights->size() == 0) return Refusal{Kind::structure, "a product with a matrix without elements"};
  return needs_float(n);
}

namespace {

/// The sizes before the matrices as one, where both factors have the same: older kernels have 4 dimensions.
std::optional<std::int64_t> common_batch(const Shape& a, const Shape& b) {
  if (a.size() != 5 || b.size() != 5 || !is_fixed(a) || !is_fixed(b)) return std::nullopt;
  std::int64_t batch = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (a[i].value() != b[i].value()) return std::nullopt;
    batch *= a[i].value();
  }
  return batch;
}

}  // namespace

void emit_matmul(NodeOut& n) {
  const Tensor* weights = n.constant(1);
  if (weights && weights->rank() == 2 && n.rank(0) >= 2) {
    const std::int32_t w = n.e.constant(passes::transposed(*weights, {1, 0}), n.node.input(1)->name());
    drop_pages(weights->bytes());
    Options options(Op::FULLY_CONNECTED);
    options.set("keep_num_dims", n.rank(0) > 2);
    return n.e.add(Op::FULLY_CONNECTED, {n.in(0), w, fmt_tflite::kNoTensor}, {n.out()}, options, n.rank(0) > 2 ? 5 : 1);
  }
  if (const auto q = quantized_constant(n.node.input(1)); q && q->tensor.rank() == 2 && n.rank(0) >= 2) {
    const std::int32_t w = emit_weights(n, permuted(*q, {1, 0}));
    Options options(Op::FULLY_CONNECTED);
    options.set("keep_num_dims", n.rank(0) > 2);
    const int version = std::max(5, connected_version(n, options));
    return n.e.add(Op::FULLY_CONNECTED, {n.in(0), w, fmt_tflite::kNoTensor}, {n.out()}, options, version);
  }
  // Vectors become matrices for the time being.
  std::int32_t a = n.in(0), b = n.in(1);
  Shape sa = n.shape(0), sb = n.shape(1);
  const bool a_is_vector = sa.size() == 1, b_is_vector = sb.size() == 1;
  if (a_is_vector) {
    sa.insert(sa.begin(), Dim(1));
    a = reshaped(n.e, a, DType::f32, sa);
  }
  if (b_is_vector) {
    sb.push_back(Dim(1));
    b = reshaped(n.e, b, DType::f32, sb);
  }
  if (const auto batch = common_batch(sa, sb)) {
    a = reshaped(n.e, a, DType::f32, {Dim(*batch), sa[3], sa[4]});
    b = reshaped(n.e, b, DType::f32, {Dim(*batch), sb[3], sb[4]});
    const std::int32_t product = n.e.temporary(DType::f32, Shape{Dim(*batch), sa[3], sb[4]});
    n.e.add(Op::BATCH_MATMUL, {a, b}, {product});
    return add_reshape(n.e, product, n.out(), dims_of(n.out_shape()));
  }
  if (!a_is_vector && !b_is_vector) return n.e.add(Op::BATCH_MATMUL, {a, b}, {n.out()});
  Shape full = n.out_shape();
  if (b_is_vector) full.push_back(Dim(1));
  if (a_is_vector) full.insert(full.end() - 1, Dim(1));
  const std::int32_t product = n.e.temporary(DType::f32, full);
  n.e.add(Op::BATCH_MATMUL, {a, b}, {product});
  add_reshape(n.e, product, n.out(), dims_of(n.out_shape()));
}

}  // namespace ingot::backends::tflite
