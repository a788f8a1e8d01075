// Results of kernels that are only cut off at two ends get them while they are in registers.
#include <algorithm>
#include <cmath>
#include <map>

#include "ingot/backends/cpp/prepare.h"
#include "ingot/backends/cpp/printer.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::cpp {

using namespace lower;

namespace {

struct Held {
  Expr load;
  Range range{-INFINITY, INFINITY};
};

/// min(max(load, low), high), in any order or one of them.
std::optional<Held> held_of(const Expr& value) {
  Held held;
  const Expr* e = &value;
  for (; (*e)->op == Op::min || (*e)->op == Op::max; e = &(*e)->args[0]) {
    const Expr& end = (*e)->args[1];
    if (end->op != Op::constant || std::isnan(end->real)) return std::nullopt;
    if ((*e)->op == Op::max)
      held.range.low = std::max(held.range.low, end->real);
    else
      held.range.high = std::min(held.range.high, end->real);
  }
  if (e == &value || (*e)->op != Op::load || held.range.low > held.range.high) return std::nullopt;
  held.load = *e;
  return held;
}

class Holding {
 public:
  explicit Holding(Program& program) : program_(program) {
    for (const Statement& s : program.body)
      for_each_buffer(s, [&](int tensor, bool writes) { ++(writes ? writes_ : reads_)[tensor]; });
  }

  /// One after the other: statements of a body and of groups in it.
  void visit(Body& body) {
    std::map<int, Statement*> makers;
    const auto go = [&](auto& self, Body& part) -> void {
      for (Statement& s : part) {
        if (auto* group = std::get_if<Group>(&s.is)) self(self, group->body);
        if (auto* product = std::get_if<Product>(&s.is)) makers[product->out] = &s;
        if (auto* convolution = std::get_if<Convolution>(&s.is)) makers[convolution->out] = &s;
        if (auto* map = std::get_if<Map>(&s.is)) hold(*map, makers);
        if (auto* loop = std::get_if<Loop>(&s.is)) visit(loop->body);
        if (auto* branch = std::get_if<Branch>(&s.is)) {
          visit(branch->yes);
          visit(branch->no);
        }
      }
    };
    go(go, body);
    drop(body);
  }

 private:
  const Buffer& buffer(int tensor) const { return program_.buffers[static_cast<std::size_t>(tensor)]; }

  void hold(Map& map, const std::map<int, Statement*>& makers) {
    const auto held = held_of(map.value);
    if (!held) return;
    const int from = held->load->id;
    const auto maker = makers.find(from);
    if (maker == makers.end() || reads_[from] != 1 || writes_[from] != 1 || writes_[map.out] != 1) return;
    const Buffer &before = buffer(from), &after = buffer(map.out);
    if (before.role != Buffer::Role::scratch || before.type != after.type || !static_size(before) ||
        static_size(before) != static_size(after) || !is_map_in_step(map))
      return;
    if (auto* product = std::get_if<Product>(&maker->second->is)) {
      product->out = map.out;
      product->range = held->range;
    } else if (auto* convolution = std::get_if<Convolution>(&maker->second->is)) {
      convolution->out = map.out;
      convolution->range = held->range;
    }
    map.out = -1;
  }

  static void drop(Body& body) {
    for (Statement& s : body)
      if (auto* group = std::get_if<Group>(&s.is)) drop(group->body);
    std::erase_if(body, [](const Statement& s) {
      const auto* map = std::get_if<Map>(&s.is);
      const auto* group = std::get_if<Group>(&s.is);
      return (map && map->out < 0) || (group && group->body.empty());
    });
  }

  Program& program_;
  std::map<int, int> reads_, writes_;
};

}  // namespace

void hold_results(Program& program) { Holding(program).visit(program.body); }

}  // namespace ingot::backends::cpp
