// com.microsoft: rotary position embeddings.
#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/rotary_body.h"

namespace ingot::ops {

Value* rotated(GraphBuilder& g, Value* x, Value* cosines, Value* sines, Value* positions, bool is_interleaved) {
  std::int64_t turned = 0;  // all
  const auto pairs = last_size(cosines), width = last_size(x);
  if (pairs && width && 2 * *pairs != *width) turned = 2 * *pairs;
  return g.op("RotaryEmbedding", {x, cosines, sines, positions},
              {{"interleaved", is_interleaved ? 1 : 0}, {"rotary_embedding_dim", turned}});
}

Value* positions_from(GraphBuilder& g, Value* first, Value* x, std::int64_t batch_axis, std::int64_t row_axis) {
  Value* rows = g.op("Range", {g.index(0), count_of(g, x, row_axis), g.index(1)});
  Value* all = g.add(rows, first);
  return g.op("Expand", {g.unsqueeze(all, {0}), g.concat({size_of(g, x, batch_axis), size_of(g, x, row_axis)}, 0)});
}

namespace {

/// How wide a head is; 0: not known.
std::int64_t head_width(const DecomposeContext& c) {
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (const auto width = last_size(c.in(0)); heads > 0 && width) return *width / heads;
  return 2 * last_size(c.in(2)).value_or(0);
}

Values rotary_embedding(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0), position_rank = c.rank(1);
  if (!rank || !position_rank || (*rank != 3 && *rank != 4)) return {};
  const bool is_flat = *rank == 3;
  Value* positions = c.in(1);
  if (*position_rank < 2)
    positions =
        positions_from(g, *position_rank == 0 ? positions : g.squeeze(positions, {0}), c.in(0), 0, is_flat ? 1 : 2);
  Value* x = c.in(0);
  if (is_flat) {
    const std::int64_t width = head_width(c);
    if (width <= 0) return {};
    x = g.transpose(g.reshape(x, {0, 0, -1, width}), {0, 2, 1, 3});
  }
  Value* y = rotated(g, x, c.in(2), c.in(3), positions, c.attr("interleaved", std::int64_t{0}) != 0);
  return {is_flat ? join_heads(g, y) : y};
}

/// Which of three positions (time, height, width) turns each pair.
std::vector<std::size_t> streams_of(const DecomposeContext& c, std::int64_t pairs) {
  const auto sections = c.node.attributes.ints_or("mrope_section", {});
  if (sections.size() != 3) return {};
  std::vector<std::size_t> streams(static_cast<std::size_t>(pairs), 0);
  for (std::int64_t i = 0; i < pairs; ++i) {
    auto& stream = streams[static_cast<std::size_t>(i)];
    if (c.attr("mrope_layout", std::int64_t{0}) == 0)
      stream = i < sections[0] ? 0 : i < sections[0] + sections[1] ? 1 : 2;
    else
      stream = i % 3 == 1 && i < 3 * sections[1] ? 1 : i % 3 == 2 && i < 3 * sections[2] ? 2 : 0;
  }
  return streams;
}

Values multi_rotary_embedding(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  const auto pairs = last_size(c.in(2));
  if ((rank != 3 && rank != 4) || !pairs) return {};
  const auto streams = streams_of(c, *pairs);
  if (streams.empty()) return {};
  std::vector<float> chosen(3 * streams.size(), 0.0f);
  for (std::size_t i = 0; i < streams.size(); ++i) chosen[streams[i] * streams.size() + i] = c.attr("scale", 1.0f);
  Value* choice = g.cast(g.constant(Tensor::of<float>({3, 1, 1, *pairs}, chosen)), c.elem(2));
  const auto angles = [&](std::size_t i) {
    return g.reduce_sum(g.mul(g.op("Gather", {c.in(i), c.in(1)}), choice), {0}, false);
  };
  Value* x = c.in(0);
  if (rank == 3) {
    const std::int64_t width = head_width(c);
    if (width <= 0) return {};
    x = g.transpose(g.reshape(x, {0, 0, -1, width}), {0, 2, 1, 3});
  }
  Value* y = rotated(g, x, angles(2), angles(3), nullptr, c.attr("interleaved", std::int64_t{0}) != 0);
  return {rank == 3 ? join_heads(g, y) : y};
}

/// The angles themselves are given, and the halves already turned.
Values gemma_rotary_embedding(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* sines = g.unsqueeze(g.cast(g.op("Sin", {c.in(0)}), c.elem(1)), {1});
  Value* cosines = g.unsqueeze(g.cast(g.op("Cos", {c.in(0)}), c.elem(1)), {1});
  const auto turned = [&](std::size_t i) { return g.add(g.mul(c.in(i), cosines), g.mul(c.in(i + 1), sines)); };
  return {turned(1), turned(3)};
}

}  // namespace

constinit const OpDef defs::microsoft::GemmaRotaryEmbedding = {
    .name = "GemmaRotaryEmbedding", .domain = kMicrosoft, .infer = infer_by_body, .decompose = gemma_rotary_embedding};
constinit const OpDef defs::microsoft::MRotaryEmbedding = {
    .name = "MRotaryEmbedding", .domain = kMicrosoft, .infer = infer_by_body, .decompose = multi_rotary_embedding};
constinit const OpDef defs::microsoft::RotaryEmbedding = {
    .name = "RotaryEmbedding", .domain = kMicrosoft, .infer = infer_by_body, .decompose = rotary_embedding};

}  // namespace ingot::ops
