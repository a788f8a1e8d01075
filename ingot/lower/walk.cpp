// What statements are made of.
#include "ingot/lower/walk.h"

#include <algorithm>

namespace ingot::lower {
namespace {

using Visit = std::function<void(const Expr&)>;

void visit_axes(const Axes& axes, const Visit& visit) {
  for (const Axis& a : axes) visit(a.extent);
}
void visit_all(const Exprs& exprs, const Visit& visit) {
  for (const Expr& e : exprs) visit(e);
}

struct ExprsOf {
  const Visit& visit;

  void operator()(const Map& s) const {
    visit_axes(s.axes, visit);
    visit_all(s.at, visit);
    visit_all(s.dims, visit);
    visit(s.value);
  }
  void operator()(const Reduce& s) const {
    visit_axes(s.axes, visit);
    visit_axes(s.reduced, visit);
    visit(s.value);
  }
  void operator()(const Product& s) const {
    visit_axes(s.batch, visit);
    for (const Expr* e : {&s.m, &s.n, &s.k, &s.a_start, &s.b_start, &s.out_start}) visit(*e);
  }
  void operator()(const Convolution& s) const {
    visit(s.batch);
    visit_all(s.in, visit);
    visit_all(s.outs, visit);
    visit_all(s.pads, visit);
  }
  void operator()(const Sort& s) const {
    for (const Expr* e : {&s.outer, &s.n, &s.inner}) visit(*e);
  }
  void operator()(const Forest& s) const { visit(s.rows); }
  void operator()(const Store& s) const {
    visit_all(s.at, visit);
    visit_all(s.dims, visit);
    visit(s.value);
  }
  void operator()(const Let& s) const { visit(s.value); }
  void operator()(const Assign& s) const { visit(s.value); }
  void operator()(const Loop& s) const {
    visit(s.axis.extent);
    if (s.go_on) visit(s.go_on);
  }
  void operator()(const Branch& s) const { visit(s.condition); }
  void operator()(const Require& s) const { visit(s.holds); }
  void operator()(const Allocate&) const {}
  void operator()(const Grow& s) const { visit(s.size); }
  void operator()(const Group&) const {}
};

struct BuffersOf {
  const std::function<void(int, bool)>& visit;

  void operator()(const Map& s) const { visit(s.out, true); }
  void operator()(const Reduce& s) const { visit(s.out, true); }
  void operator()(const Product& s) const {
    visit(s.a, false);
    visit(s.b, false);
    if (s.scratch >= 0) visit(s.scratch, true);
    visit(s.out, true);
  }
  void operator()(const Convolution& s) const {
    visit(s.x, false);
    visit(s.w, false);
    if (s.bias >= 0) visit(s.bias, false);
    if (s.scratch >= 0) visit(s.scratch, true);
    visit(s.out, true);
  }
  void operator()(const Sort& s) const {
    visit(s.x, false);
    visit(s.places, true);
  }
  void operator()(const Forest& s) const {
    for (const int read : {s.x, s.numbers, s.begins, s.places, s.tops, s.nodes, s.shapes, s.votes}) visit(read, false);
    if (s.aims >= 0) visit(s.aims, false);
    visit(s.out, true);
  }
  void operator()(const Store& s) const { visit(s.tensor, true); }
  void operator()(const Allocate& s) const { visit(s.tensor, true); }
  void operator()(const Grow& s) const { visit(s.tensor, true); }
  template <class Other> void operator()(const Other&) const {}
};

}  // namespace

void for_each_expr(const Statement& statement, const Visit& visit) { std::visit(ExprsOf{visit}, statement.is); }

void for_each_part(const Expr& expr, const Visit& visit) {
  if (!expr) return;
  visit(expr);
  for (const Expr& a : expr->args) for_each_part(a, visit);
  for (const Expr& d : expr->dims) for_each_part(d, visit);
}

void for_each_body(const Statement& statement, const std::function<void(const Body&)>& visit) {
  if (const auto* loop = std::get_if<Loop>(&statement.is)) visit(loop->body);
  if (const auto* group = std::get_if<Group>(&statement.is)) visit(group->body);
  if (const auto* branch = std::get_if<Branch>(&statement.is)) {
    visit(branch->yes);
    visit(branch->no);
  }
}

void for_each_buffer(const Statement& statement, const std::function<void(int, bool)>& visit) {
  for_each_expr(statement, [&](const Expr& e) {
    for_each_part(e, [&](const Expr& part) {
      if (part->op == Op::load) visit(part->id, false);
    });
  });
  std::visit(BuffersOf{visit}, statement.is);
  for_each_body(statement, [&](const Body& body) {
    for (const Statement& s : body) for_each_buffer(s, visit);
  });
}

bool has_requirements(const Body& body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    bool found = std::holds_alternative<Require>(s.is);
    for_each_body(s, [&](const Body& inner) { found = found || has_requirements(inner); });
    return found;
  });
}

Expr flat_place(const Exprs& at, const Exprs& dims) {
  Expr place = 0, stride = 1;
  for (std::size_t i = at.size(); i-- > 0;) {
    place = at[i] * stride + place;
    stride = stride * dims[i];
  }
  return place;
}

bool is_natural(const Expr& index, const Program& program) {
  const auto all = [&] {
    return std::ranges::all_of(index->args, [&](const Expr& a) { return is_natural(a, program); });
  };
  switch (index->op) {
    case Op::constant:
      return index->whole >= 0;
    case Op::variable:
      return program.variables[static_cast<std::size_t>(index->id)].is_natural;
    case Op::clamp_index:
      return true;
    case Op::add:
    case Op::mul:
    case Op::min:
    case Op::floor_div:
    case Op::modulo:
      return index.is_index() && all();
    case Op::max:
      return index.is_index() &&
             std::ranges::any_of(index->args, [&](const Expr& a) { return is_natural(a, program); });
    case Op::select:
      return index.is_index() && is_natural(index->args[1], program) && is_natural(index->args[2], program);
    default:
      return false;
  }
}

bool uses_axis(const Expr& e, const Axes& axes) {
  bool uses = false;
  for_each_part(e, [&](const Expr& part) {
    uses |=
        part->op == Op::variable && std::ranges::any_of(axes, [&](const Axis& a) { return a.variable == part->id; });
  });
  return uses;
}

bool is_in_step(const Exprs& at, const Exprs& dims, const Axes& axes) {
  if (at.size() != axes.size()) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!same(dims[i], axes[i].extent)) return false;
    if (axes[i].extent.as_int() == 1) continue;
    if (at[i]->op != Op::variable || at[i]->id != axes[i].variable) return false;
  }
  return true;
}

bool can_be_one_loop(const Expr& e, const Axes& axes) {
  if (e->op == Op::load) return is_in_step(e->args, e->dims, axes) || !uses_axis(e, axes);
  if (e->op == Op::variable) return !uses_axis(e, axes);
  return std::ranges::all_of(e->args, [&](const Expr& a) { return can_be_one_loop(a, axes); });
}

void find_variables(const Body& body, std::set<int>& used, std::set<int>& declared) {
  for (const Statement& s : body) {
    for_each_expr(s, [&](const Expr& e) {
      for_each_part(e, [&](const Expr& part) {
        if (part->op == Op::variable) used.insert(part->id);
      });
    });
    const auto declare = [&](const Axes& axes) {
      for (const Axis& a : axes) declared.insert(a.variable);
    };
    if (const auto* map = std::get_if<Map>(&s.is)) declare(map->axes);
    if (const auto* reduce = std::get_if<Reduce>(&s.is)) declare(reduce->axes), declare(reduce->reduced);
    if (const auto* product = std::get_if<Product>(&s.is)) declare(product->batch);
    if (const auto* loop = std::get_if<Loop>(&s.is)) declared.insert(loop->axis.variable);
    if (const auto* let = std::get_if<Let>(&s.is)) declared.insert(let->variable);
    for_each_body(s, [&](const Body& inner) { find_variables(inner, used, declared); });
  }
}

}  // namespace ingot::lower
