// Lifetimes of buffers, and places for them in one arena.
#include "ingot/lower/plan.h"

#include <algorithm>

#include "ingot/lower/walk.h"

namespace ingot::lower {
namespace {

constexpr std::int64_t kAlignment = 64;

struct Lifetime {
  int first = -1, last = -1;
};

/// Statements are counted in the order of the text. What is used in a loop but made before it lives until its end;
/// so does what a loop makes, since rounds follow each other.
class Lifetimes {
 public:
  explicit Lifetimes(const Program& program) : of(program.buffers.size()) { visit(program.body); }

  std::vector<Lifetime> of;

 private:
  void visit(const Body& body) {
    for (const Statement& s : body) {
      const int here = now_++;
      const bool is_loop = std::holds_alternative<Loop>(s.is);
      if (!is_loop)
        for_each_body(s, [&](const Body& inner) { visit(inner); });
      else
        now_ += 1;
      for_each_buffer(s, [&](int tensor, bool) {
        Lifetime& l = of[static_cast<std::size_t>(tensor)];
        if (l.first < 0) l.first = here;
        l.last = std::max(l.last, now_ - 1);
      });
    }
  }

  int now_ = 0;
};

}  // namespace

std::int64_t element_bytes(DType type) { return std::max<std::int64_t>(1, bits_of(type) / 8); }

MemoryPlan plan_memory(const Program& program) {
  const Lifetimes lifetimes(program);
  MemoryPlan plan;
  plan.offsets.assign(program.buffers.size(), -1);
  struct Block {
    std::size_t buffer;
    std::int64_t bytes;
    Lifetime life;
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    const auto size = static_size(b);
    if (b.role != Buffer::Role::scratch || !size || lifetimes.of[i].first < 0) continue;
    const std::int64_t bytes = std::max<std::int64_t>(*size, 1) * element_bytes(b.type);
    blocks.push_back({i, (bytes + kAlignment - 1) / kAlignment * kAlignment, lifetimes.of[i]});
  }
  // Large ones first, each at the lowest place that is free for its whole life.
  std::ranges::stable_sort(blocks, std::greater{}, &Block::bytes);
  std::vector<const Block*> placed;
  for (const Block& block : blocks) {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const Block* other : placed)
      if (other->life.first <= block.life.last && block.life.first <= other->life.last)
        taken.emplace_back(plan.offsets[other->buffer], plan.offsets[other->buffer] + other->bytes);
    std::ranges::sort(taken);
    std::int64_t offset = 0;
    for (const auto& [from, to] : taken) {
      if (offset + block.bytes <= from) break;
      offset = std::max(offset, to);
    }
    plan.offsets[block.buffer] = offset;
    plan.bytes = std::max(plan.bytes, offset + block.bytes);
    placed.push_back(&block);
  }
  return plan;
}

}  // namespace ingot::lower
