// What is computed twice in a run is computed once.
#include "ingot/engine/rewrites/eliminate_common_subexpressions.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "ingot/ops/generator/random.h"

namespace ingot::engine {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

/// Of kinds that are compared here; graphs are not.
bool is_plain(const Attribute& a) {
  return !a.is_reference() &&
         (std::holds_alternative<float>(a.value) || std::holds_alternative<std::int64_t>(a.value) ||
          std::holds_alternative<std::string>(a.value) || std::holds_alternative<Floats>(a.value) ||
          std::holds_alternative<Ints>(a.value) || std::holds_alternative<Strings>(a.value));
}

/// Training computes again, on purpose, what would take too much memory to keep.
bool is_repeated(const Node& node) {
  return std::ranges::any_of(node.metadata, [](const auto& entry) { return entry.first == "ingot.recompute"; });
}

bool can_share(const Node& node) {
  return !ops::is_random(node) && !is_repeated(node) && node.input_count() > 0 &&
         std::ranges::all_of(node.attributes, is_plain);
}

template <class T> bool is_equal(const T& x, const T& y) { return x == y; }
// By their bits: 0 and -0 are not the same.
bool is_equal(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); }
bool is_equal(const Floats& x, const Floats& y) {
  return std::ranges::equal(x, y, [](float a, float b) { return is_equal(a, b); });
}

template <class T> bool is_same(const Attribute& a, const Attribute& b) {
  const T* x = std::get_if<T>(&a.value);
  const T* y = std::get_if<T>(&b.value);
  return x && y && is_equal(*x, *y);
}

bool same(const Attribute& a, const Attribute& b) {
  return a.name == b.name && (is_same<float>(a, b) || is_same<std::int64_t>(a, b) || is_same<std::string>(a, b) ||
                              is_same<Floats>(a, b) || is_same<Ints>(a, b) || is_same<Strings>(a, b));
}

bool same(const Node& a, const Node& b) {
  if (a.op != b.op || a.domain != b.domain || a.overload != b.overload || a.input_count() != b.input_count() ||
      a.output_count() != b.output_count() || a.attributes.size() != b.attributes.size())
    return false;
  for (std::size_t i = 0; i < a.input_count(); ++i)
    if (a.input(i) != b.input(i)) return false;
  for (std::size_t i = 0; i < a.output_count(); ++i)
    if (!a.output(i) != !b.output(i)) return false;
  return std::ranges::equal(a.attributes, b.attributes,
                            [](const Attribute& x, const Attribute& y) { return same(x, y); });
}

class Hash {
 public:
  template <class T> void add(const T& value) { sum_ = (sum_ ^ std::hash<T>()(value)) * 0x9e3779b97f4a7c15u; }
  template <class T> void add_some(const std::vector<T>& values) {
    add(values.size());
    for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i) add(values[i]);
  }
  std::size_t operator()() const { return sum_ ^ sum_ >> 32; }

 private:
  static constexpr std::size_t kMost = 64;
  std::size_t sum_ = 0;
};

std::size_t hash_of(const Node& node) {
  Hash hash;
  hash.add(node.op);
  for (std::size_t i = 0; i < node.input_count(); ++i) hash.add(static_cast<const void*>(node.input(i)));
  for (const Attribute& a : node.attributes) {
    hash.add(a.name);
    if (const auto* x = std::get_if<float>(&a.value)) hash.add(*x);
    if (const auto* x = std::get_if<std::int64_t>(&a.value)) hash.add(*x);
    if (const auto* x = std::get_if<std::string>(&a.value)) hash.add(*x);
    if (const auto* x = std::get_if<Floats>(&a.value)) hash.add_some(*x);
    if (const auto* x = std::get_if<Ints>(&a.value)) hash.add_some(*x);
    if (const auto* x = std::get_if<Strings>(&a.value)) hash.add_some(*x);
  }
  return hash();
}

}  // namespace

void eliminate_common_subexpressions(Graph& graph) {
  const auto order = topological_order(graph);
  if (!order) return;
  std::unordered_map<std::size_t, Node*> known;
  for (Node* node : *order) {
    if (!can_share(*node)) continue;
    const auto [it, is_new] = known.try_emplace(hash_of(*node), node);
    if (is_new || !same(*it->second, *node)) continue;
    for (std::size_t i = 0; i < node->output_count(); ++i)
      if (node->output(i)) graph.replace_all_uses(node->output(i), it->second->output(i));
    graph.erase(node);
  }
}

}  // namespace ingot::engine
