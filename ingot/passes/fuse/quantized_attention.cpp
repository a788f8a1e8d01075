// MultiHeadAttention of three products of integers becomes QAttention, which rounds its rows once.
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/passes/fuse/integer_product.h"

namespace ingot::passes::fuse {
namespace {

/// rows * weight + bias, the rows rounded in each run; all but the rows are stored.
struct Part {
  IntegerProduct product;
  const Tensor *weight = nullptr, *scale = nullptr, *zero = nullptr, *bias = nullptr;
  std::int64_t width() const { return weight->dims()[1]; }
};

std::optional<Part> part_of(const Value* v) {
  Part part;
  if (const Node* sum = maker(v, "Add")) {
    const auto biased = split_bias(*sum);
    if (!biased) return std::nullopt;
    part.bias = ops::constant_of(biased->row);
    v = biased->x;
  }
  const Node* scaled = maker(v, "Mul");
  const auto found = scaled ? integer_product(*scaled) : std::nullopt;
  if (!found) return std::nullopt;
  part.product = *found;
  part.weight = ops::constant_of(found->product->input(1));
  part.scale = ops::constant_of(found->b_scale);
  part.zero = ops::constant_of(found->product->input(3));
  if (!part.weight || part.weight->rank() != 2 || (found->product->input(3) && !part.zero)) return std::nullopt;
  const auto fits = [&](const Tensor* t) {
    return !t || t->size() == 1 || (t->rank() == 1 && t->size() == part.width());
  };
  if (!fits(part.scale) || !fits(part.zero) || rank_of(found->rounding->input(0)) != 3) return std::nullopt;
  return part;
}

/// What all columns of the three parts have, of numbers that each part has once or for each of its columns.
template <class T> std::vector<T> by_column(const std::vector<Part>& parts, const Tensor* Part::*numbers) {
  std::vector<T> all;
  for (const Part& part : parts) {
    const Tensor* given = part.*numbers;
    const auto width = static_cast<std::size_t>(part.width());
    std::vector<T> values(1, T{0});
    if constexpr (std::is_same_v<T, float>) {
      if (given) values = given->to_vector<float>();
    } else {
      if (given) values = given->to_ints();
    }
    if (values.size() == 1) values.assign(width, values[0]);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// One number where all are the same.
template <class T> void join_same(std::vector<T>& all) {
  if (std::ranges::all_of(all, [&](T v) { return v == all[0]; })) all.resize(1);
}

Tensor bytes_of(DType dtype, Dims dims, const std::vector<std::int64_t>& values) {
  std::vector<std::uint8_t> bytes(values.size());
  std::ranges::transform(values, bytes.begin(), [](std::int64_t v) { return static_cast<std::uint8_t>(v); });
  return Tensor(dtype, std::move(dims), Bytes::copy(std::as_bytes(std::span(bytes))));
}

Tensor weights_beside(const std::vector<Part>& parts) {
  const std::int64_t rows = parts[0].weight->dims()[0], width = parts[0].width();
  std::vector<std::int64_t> all(static_cast<std::size_t>(3 * rows * width));
  for (std::int64_t p = 0; p < 3; ++p) {
    const std::vector<std::int64_t> from = parts[static_cast<std::size_t>(p)].weight->to_ints();
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(from.begin() + r * width, width, all.begin() + (3 * r + p) * width);
  }
  return bytes_of(parts[0].weight->dtype(), {rows, 3 * width}, all);
}

bool is_plain(const Node& attention) {
  for (std::size_t i = 3; i < 10; ++i)
    if (attention.input(i)) return false;
  return attention.output_count() == 1;
}

bool pack(Node& node) {
  if (!is_plain(node)) return false;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = part_of(node.input(i));
    if (!part) return false;
    parts.push_back(*part);
    const Part& first = parts[0];
    if (part->product.rounding != first.product.rounding || part->weight->dtype() != first.weight->dtype() ||
        part->weight->dims() != first.weight->dims())
      return false;
  }
  const std::int64_t heads = node.attributes.int_or("num_heads", 1);
  if (heads < 1 || parts[0].width() % heads != 0) return false;
  std::vector<float> scales = by_column<float>(parts, &Part::scale), biases = by_column<float>(parts, &Part::bias);
  std::vector<std::int64_t> zeros = by_column<std::int64_t>(parts, &Part::zero);
  join_same(scales);
  join_same(zeros);
  const Node& rounding = *parts[0].product.rounding;
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  const auto numbers = [&](const std::vector<float>& all) {
    return g.constant(Tensor::of<float>(all.size() == 1 ? Dims{} : Dims{std::ssize(all)}, all));
  };
  Value* zero =
      g.constant(bytes_of(parts[0].weight->dtype(), zeros.size() == 1 ? Dims{} : Dims{std::ssize(zeros)}, zeros));
  replace_by_microsoft(node, "QAttention",
                       {rounding.output(0), g.constant(weights_beside(parts)),
                        g.constant(Tensor::of<float>({std::ssize(biases)}, biases)), rounding.output(1),
                        numbers(scales), nullptr, rounding.output(2), zero},
                       {{"num_heads", heads}, {"scale", node.attributes.float_or("scale", 0)}});
  return true;
}

constexpr Fusion kFusions[] = {{"QAttention", "MultiHeadAttention", pack, kMicrosoft}};

}  // namespace

std::span<const Fusion> quantized_attention_fusions() { return kFusions; }

}  // namespace ingot::passes::fuse
