// Byte pair encoding: symbols joined by ranked merges.
#include "ingot/ops/contrib/bpe_model.h"

#include <queue>

namespace ingot::ops {

std::uint32_t BpeModel::add_if_new(const std::string& token) {
  return ids_.try_emplace(token, static_cast<std::uint32_t>(ids_.size())).first->second;
}

std::uint32_t BpeModel::id_of(const std::string& token) const {
  const auto it = ids_.find(token);
  return it == ids_.end() ? kNone : it->second;
}

namespace {
std::uint64_t key(std::uint32_t left, std::uint32_t right) { return static_cast<std::uint64_t>(right) << 32 | left; }
}  // namespace

void BpeModel::add_merge(std::string_view left, std::string_view right) {
  const std::string a(left), b(right);
  merges_[key(id_of(a), id_of(b))] = {rank_++, id_of(a + b)};
}

void BpeModel::add_byte_tokens() {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string token = std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + '>';
    if (const auto it = ids_.find(token); it != ids_.end())
      ids_.try_emplace(std::string(1, static_cast<char>(byte)), it->second);
  }
}

const BpeModel::Merge* BpeModel::find(std::uint32_t left, std::uint32_t right) const {
  const auto it = merges_.find(key(left, right));
  return it == merges_.end() ? nullptr : &it->second;
}

namespace {

constexpr std::size_t kEnd = static_cast<std::size_t>(-1);

struct Candidate {
  std::uint32_t rank;
  std::size_t place;  // of the left symbol
  std::uint32_t left, right;

  bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : place > other.place; }
};
using Queue = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

}  // namespace

void BpeModel::merge(std::vector<Symbol>& symbols) const {
  if (symbols.size() < 2) return;
  std::vector<std::size_t> next(symbols.size()), before(symbols.size());
  Queue queue;
  std::vector<Candidate> later;  // of other merges, found while all places of one are joined
  const auto look = [&](std::size_t i, std::uint32_t rank) {
    if (i == kEnd || next[i] == kEnd) return;
    const std::uint32_t left = symbols[i].id, right = symbols[next[i]].id;
    const Merge* m = find(left, right);
    if (!m) return;
    const Candidate found{m->rank, i, left, right};
    if (m->rank == rank)
      queue.push(found);
    else
      later.push_back(found);
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    next[i] = i + 1 < symbols.size() ? i + 1 : kEnd;
    before[i] = i ? i - 1 : kEnd;
  }
  for (std::size_t i = 0; i < symbols.size(); ++i) look(i, kNone);
  std::vector<bool> is_gone(symbols.size(), false);
  for (std::uint32_t rank = kNone; !queue.empty() || !later.empty();) {
    if (queue.empty() || queue.top().rank != rank) {
      for (const Candidate& found : later) queue.push(found);
      later.clear();
      rank = queue.top().rank;
    }
    const Candidate best = queue.top();
    queue.pop();
    const std::size_t i = best.place;
    if (is_gone[i] || next[i] == kEnd || symbols[i].id != best.left || symbols[next[i]].id != best.right) continue;
    const std::size_t j = next[i];
    symbols[i] = {find(best.left, best.right)->id, symbols[i].bytes + symbols[j].bytes};
    is_gone[j] = true;
    next[i] = next[j];
    if (next[i] != kEnd) before[next[i]] = i;
    look(before[i], rank);
    look(i, rank);
  }
  std::vector<Symbol> left;
  for (std::size_t i = 0; i != kEnd; i = next[i]) left.push_back(symbols[i]);
  symbols = std::move(left);
}

}  // namespace ingot::ops
