// From a graph to a program: values become buffers, or expressions that are read where they are needed.
#include "ingot/lower/lowering.h"

#include <algorithm>
#include <set>

#include "ingot/base/error.h"
#include "ingot/lower/walk.h"
#include "ingot/ops/known.h"

namespace ingot::lower {
namespace {

/// Elements that are cheaper to compute again than to keep.
constexpr int kFree = 0;
constexpr int kDeepest = 32, kMostFused = 64;
constexpr std::size_t kHighestRank = 64;  // expressions of places grow with it

/// Whether all readers of a computed value can be one loop.
bool is_read_once(const Value& value) {
  if (value.uses().size() != 1) return false;
  const Use& use = value.uses()[0];
  return use.node && &use.node->graph() == &value.graph();
}

/// The variables that statements set, without those that they declare.
void find_assigned(const Body& body, std::set<int>& declared, std::set<int>& assigned) {
  for (const Statement& s : body) {
    if (const auto* let = std::get_if<Let>(&s.is)) declared.insert(let->variable);
    if (const auto* set = std::get_if<Assign>(&s.is)) assigned.insert(set->variable);
    if (const auto* loop = std::get_if<Loop>(&s.is)) find_assigned(loop->body, declared, assigned);
    if (const auto* branch = std::get_if<Branch>(&s.is)) {
      find_assigned(branch->yes, declared, assigned);
      find_assigned(branch->no, declared, assigned);
    }
  }
}

/// Whether the run may end in them: there is no memory, or sizes do not fit.
bool may_end_run(const Body& body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    if (std::holds_alternative<Allocate>(s.is) || std::holds_alternative<Grow>(s.is)) return true;
    if (std::holds_alternative<Require>(s.is)) return true;
    if (const auto* loop = std::get_if<Loop>(&s.is)) return may_end_run(loop->body);
    if (const auto* branch = std::get_if<Branch>(&s.is)) return may_end_run(branch->yes) || may_end_run(branch->no);
    return false;
  });
}

bool holds_groups(const Body& body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    if (std::holds_alternative<Group>(s.is)) return true;
    if (const auto* loop = std::get_if<Loop>(&s.is)) return holds_groups(loop->body);
    if (const auto* branch = std::get_if<Branch>(&s.is)) return holds_groups(branch->yes) || holds_groups(branch->no);
    return false;
  });
}

/// Whether the statements can be a function that changes buffers only.
bool is_closed(const Body& body) {
  std::set<int> declared, assigned;
  find_assigned(body, declared, assigned);
  return !may_end_run(body) && !holds_groups(body) && std::ranges::includes(declared, assigned);
}

/// The highest rank of what a node reads and makes, as far as it is known.
std::size_t highest_rank(const Node& node) {
  std::size_t rank = 0;
  for (const auto& values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v && v->type.shape) rank = std::max(rank, v->type.shape->size());
  return rank;
}

}  // namespace

bool Program::is_static() const {
  // A result without elements may have open sizes all the same: [0, n].
  const auto is_known = [](const Expr& e) { return e.as_int().has_value(); };
  return std::ranges::all_of(buffers, [](const Buffer& b) { return static_size(b).has_value(); }) &&
         std::ranges::all_of(outputs, [&](const Port& p) { return std::ranges::all_of(p.dims, is_known); });
}

std::optional<std::int64_t> static_size(const Buffer& buffer) { return product(buffer.dims).as_int(); }

Expr View::at(const Exprs& place) const {
  if (place.size() != dims.size())
    throw Error(Code::not_expressible, "an operand has another rank than the operator asks for");
  return tensor >= 0 ? Expr::load(tensor, type, place, dims) : read(place);
}

View Lowering::in(std::size_t i) {
  if (!node_->input(i)) refuse("input " + std::to_string(i) + " is absent");
  return view_of(node_->input(i));
}

View Lowering::view_of(const Value* value) {
  if (const auto it = views_.find(value); it != views_.end()) return it->second;
  if (value->initializer) {
    View view = weight(*value->initializer);
    if (view.tensor >= 0) program_.buffers[static_cast<std::size_t>(view.tensor)].name = value->name();
    return views_[value] = view;
  }
  refuse(unknown_.contains(value) ? "it needs what cannot be made" : "'" + value->name() + "' has no value");
}

void Lowering::out(std::size_t i, View view) {
  const Value* value = node_->output(i);
  if (!value || value->uses().empty()) return;
  if (view.tensor < 0) {
    // Long chains are cut, so that expressions stay small enough to be read and to be walked.
    for (const Value* input : node_->inputs())
      if (const auto it = views_.find(input); it != views_.end() && it->second.tensor < 0)
        view.depth = std::max(view.depth, it->second.depth + 1);
    if (view.depth > kDeepest || view.cost > kMostFused || (view.cost > kFree && !is_read_once(*value)))
      view = stored(view);
  }
  if (view.tensor >= 0) {
    Buffer& buffer = program_.buffers[static_cast<std::size_t>(view.tensor)];
    if (buffer.name.empty()) buffer.name = value->name();
  }
  views_[value] = std::move(view);
}

bool Lowering::wants(std::size_t i) const {
  const Value* value = node_->output(i);
  return value && !value->uses().empty();
}

std::int64_t Lowering::attr(std::string_view name, std::int64_t fallback) const {
  return node_->attributes.int_or(name, fallback);
}

std::int64_t Lowering::axis(std::int64_t axis, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < 0) axis += r;
  if (axis < 0 || axis >= std::max<std::int64_t>(r, 1)) refuse("axis is out of range");
  return axis;
}

void Lowering::refuse(const std::string& why) const { throw Error(Code::not_expressible, why); }

void Lowering::settle(std::size_t i, Exprs& dims) const {
  const Value* value = node_->output(i);
  if (!value || !value->type.shape || value->type.shape->size() != dims.size()) return;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (const auto known = (*value->type.shape)[d].as_int(); known && !dims[d].as_int()) dims[d] = *known;
}

View Lowering::computed(DType type, Exprs dims, std::function<Expr(const Exprs&)> read, int cost) const {
  return {type, std::move(dims), -1, std::move(read), cost};
}

View Lowering::fresh(DType type, Exprs dims) {
  for (Expr& d : dims)
    if (!d.as_int() && d->op != Op::variable) d = let(d);
  Buffer buffer;
  buffer.type = type;
  buffer.dims = dims;
  const bool is_sized_now = !product(dims).as_int();
  const int tensor = add_buffer(std::move(buffer));
  if (is_sized_now) emit({Allocate{tensor}});
  return {type, std::move(dims), tensor, {}, 0};
}

View Lowering::stored(const View& view) {
  if (view.tensor >= 0) return view;
  return copied(view);
}

View Lowering::copied(const View& view) {
  View made = fresh(view.type, view.dims);
  map(
      made, made.dims, [](const Exprs& at) { return at; }, [&](const Exprs& at) { return view.at(at); });
  return made;
}

void Lowering::map(const View& to, const Exprs& over, const std::function<Exprs(const Exprs&)>& place,
                   const std::function<Expr(const Exprs&)>& value) {
  Map map;
  map.out = to.tensor;
  map.dims = to.dims;
  Exprs at;
  for (const Expr& d : over) {
    map.axes.push_back(axis_of(d));
    at.push_back(var(map.axes.back()));
  }
  map.at = place(at);
  map.value = value(at);
  emit({std::move(map)});
}

View Lowering::reduced(DType type, Exprs dims, const Exprs& over, Combine combine,
                       const std::function<Expr(const Exprs&, const Exprs&)>& value) {
  const View made = fresh(type, std::move(dims));
  reduce_into(made, over, combine, value);
  return made;
}

void Lowering::reduce_into(const View& made, const Exprs& over, Combine combine,
                           const std::function<Expr(const Exprs&, const Exprs&)>& value) {
  Reduce reduce;
  reduce.out = made.tensor;
  reduce.combine = combine;
  Exprs at, inner;
  for (const Expr& d : made.dims) {
    reduce.axes.push_back(axis_of(d));
    at.push_back(var(reduce.axes.back()));
  }
  for (const Expr& d : over) {
    reduce.reduced.push_back(axis_of(d));
    inner.push_back(var(reduce.reduced.back()));
  }
  reduce.value = value(at, inner);
  emit({std::move(reduce)});
}

View Lowering::weight(Tensor value) {
  if (value.size() == 1) {
    const DType type = value.dtype();
    const bool is_real = is_float(type);
    const Expr e = is_real ? Expr::constant(value.to_doubles()[0], type) : Expr::integer(value.to_ints()[0], type);
    return computed(type, Exprs(value.dims().begin(), value.dims().end()), [e](const Exprs&) { return e; });
  }
  Buffer buffer;
  buffer.type = value.dtype();
  buffer.dims = Exprs(value.dims().begin(), value.dims().end());
  buffer.role = Buffer::Role::weight;
  buffer.value = std::move(value);
  View view{buffer.type, buffer.dims, -1, {}, 0};
  view.tensor = add_buffer(std::move(buffer));
  return view;
}

Strings Lowering::constant_strings(const Tensor& value) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> ends;
  for (const std::string& s : value.strings()) {
    bytes.insert(bytes.end(), s.begin(), s.end());
    ends.push_back(std::ssize(bytes));
  }
  const std::int64_t count = std::ssize(bytes);
  if (bytes.empty()) bytes.push_back(0);
  View all = stored(weight(Tensor::of<std::uint8_t>({std::ssize(bytes)}, bytes)));
  all.dims = {count};
  return {all, stored(weight(Tensor::of<std::int64_t>(value.dims(), ends)))};
}

Strings Lowering::strings_of(const Value* value) {
  if (const auto it = strings_.find(value); it != strings_.end()) return it->second;
  if (!value->initializer) refuse("'" + value->name() + "' has no strings that are known here");
  return strings_[value] = constant_strings(*value->initializer);
}

Strings Lowering::strings_in(std::size_t i) {
  if (!node_->input(i)) refuse("input " + std::to_string(i) + " is absent");
  return strings_of(node_->input(i));
}

void Lowering::strings_out(std::size_t i, Strings strings) {
  if (const Value* value = node_->output(i)) strings_[value] = std::move(strings);
}

List Lowering::list_of(const Value* value) {
  if (const auto it = lists_.find(value); it != lists_.end()) return it->second;
  refuse("'" + (value ? value->name() : std::string()) + "' is no sequence that is known here");
}

void Lowering::list_out(std::size_t i, List list) {
  if (const Value* value = node_->output(i)) lists_[value] = std::move(list);
}

const Maps& Lowering::maps_of(const Value* value) const {
  const auto it = maps_.find(value);
  if (it == maps_.end()) refuse("'" + value->name() + "' is no sequence of maps that is known here");
  return it->second;
}

void Lowering::maps_out(std::size_t i, Maps maps) {
  if (const Value* value = node_->output(i)) maps_[value] = std::move(maps);
}

Expr Lowering::is_present(const Value* value) const {
  const auto it = presence_.find(value);
  return it == presence_.end() ? Expr::integer(1, DType::boolean) : it->second;
}

void Lowering::hand_on(const Value* from, const Value* to) {
  if (!from || !to) refuse("an optional without a value");
  if (const auto it = presence_.find(from); it != presence_.end()) presence_[to] = it->second;
  if (const auto it = lists_.find(from); it != lists_.end()) {
    lists_[to] = it->second;
  } else if (const auto text = strings_.find(from); text != strings_.end()) {
    strings_[to] = text->second;
  } else {
    views_[to] = view_of(from);
  }
}

View Lowering::reshaped(const View& view, Exprs dims) {
  View dense = stored(view);
  for (Expr& d : dims)
    if (!d.as_int() && d->op != Op::variable) d = let(d);
  dense.dims = std::move(dims);
  return dense;
}

View Lowering::reshaped_exactly(const View& view, const Exprs& dims) {
  View made = reshaped(view, dims);
  for (const Expr& d : made.dims) require_natural(d);
  if (!same(product(made.dims), product(view.dims))) require_same(checked_product(made.dims), product(view.dims));
  return made;
}

int Lowering::add_buffer(Buffer buffer) {
  if (checked_product(buffer.dims).as_int() == -1)
    refuse("a tensor has sizes that are negative, or more than memory can hold");
  program_.buffers.push_back(std::move(buffer));
  return static_cast<int>(program_.buffers.size()) - 1;
}

Body Lowering::body_of(const std::function<void()>& fill) {
  Body body;
  Body* const outer = std::exchange(body_, &body);
  fill();
  body_ = outer;
  return body;
}

void Lowering::require(const Expr& holds) {
  if (holds.as_int() != 1) emit({Require{holds, node_ ? node_->op + " " + node_->label() : std::string()}});
}

void Lowering::require_natural(const Expr& size) {
  if (!is_natural(size, program_)) require(less_equal(0, size));
}

void Lowering::require_same(const Exprs& a, const Exprs& b) {
  if (a.size() != b.size()) refuse("two shapes that must be the same have different ranks");
  for (std::size_t i = 0; i < a.size(); ++i) require_same(a[i], b[i]);
}

void Lowering::require_spread(const Exprs& dims, const Exprs& to) {
  if (dims.size() > to.size()) refuse("an operand has a higher rank than what it is broadcast to");
  const std::size_t shift = to.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!same(dims[i], to[shift + i])) require(either(equal(dims[i], 1), equal(dims[i], to[shift + i])));
}

Exprs Lowering::broadcast(const Exprs& a, const Exprs& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Exprs dims = a;
  const std::size_t shift = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    Expr& d = dims[shift + i];
    if (same(d, b[i]) || (b[i].as_int() == 1)) continue;
    if (d.as_int() == 1) {
      d = b[i];
      continue;
    }
    require(either(equal(d, b[i]), either(equal(d, 1), equal(b[i], 1))));
    if (!d.as_int()) d = b[i].as_int() ? b[i] : let(select(equal(d, 1), b[i], d));
  }
  return dims;
}

Axis Lowering::axis_of(const Expr& extent) {
  program_.variables.push_back({"", DType::i64, true, true});
  return {static_cast<int>(program_.variables.size()) - 1, extent};
}

Expr Lowering::var(const Axis& axis) const {
  return axis.extent.as_int() == 1 ? Expr(0) : Expr::variable(axis.variable, DType::i64, true);
}

Expr Lowering::let(const Expr& value, bool is_changed) {
  const bool is_size = value.is_index() && !is_changed && is_natural(value, program_);
  program_.variables.push_back({"", value.type(), value.is_index(), is_size});
  const int id = static_cast<int>(program_.variables.size()) - 1;
  emit({Let{id, value, is_changed}});
  return Expr::variable(id, value.type(), value.is_index());
}

void Lowering::set(const Expr& variable, const Expr& value) { emit({Assign{variable->id, value}}); }

void Lowering::loop(const Expr& extent, const std::function<void(Expr)>& body, const Expr& go_on) {
  const Axis axis = axis_of(extent);
  emit({Loop{axis, body_of([&] { body(var(axis)); }), go_on}});
}

void Lowering::branch(const Expr& condition, const std::function<void()>& yes, const std::function<void()>& no) {
  Body on_yes = body_of(yes);
  emit({Branch{condition, std::move(on_yes), no ? body_of(no) : Body()}});
}

void Lowering::store(const View& to, const Exprs& at, const Expr& value) {
  emit({Store{to.tensor, at, to.dims, value}});
}

void Lowering::loops(const Exprs& extents, const std::function<void(const Exprs&)>& body) {
  Exprs at;
  const std::function<void(std::size_t)> nest = [&](std::size_t depth) {
    if (depth == extents.size()) return body(at);
    loop(extents[depth], [&](Expr i) {
      at.push_back(i);
      nest(depth + 1);
      at.pop_back();
    });
  };
  nest(0);
}

/// What declares stays where all later statements see it; the runs between become groups.
void Lowering::add_groups(const Node& node, Body body) {
  const std::string label = node.op + " " + node.label();
  Body run;
  const auto flush = [&] {
    if (run.empty()) return;
    if (is_closed(run))
      emit({Group{label, std::move(run)}});
    else
      for (Statement& s : run) emit(std::move(s));
    run.clear();
  };
  for (Statement& s : body) {
    if (std::holds_alternative<Let>(s.is) || std::holds_alternative<Allocate>(s.is) ||
        std::holds_alternative<Require>(s.is)) {
      flush();
      emit(std::move(s));
    } else {
      run.push_back(std::move(s));
    }
  }
  flush();
}

bool Lowering::depends_on_unknown(const Node& node) const {
  return std::ranges::any_of(node.inputs(), [&](const Value* v) { return v && unknown_.contains(v); });
}

void Lowering::lower_node(const Node& node) {
  const Node* const outer = std::exchange(node_, &node);
  Body* const around = body_;
  const auto give_up = [&](const std::string* why) {
    body_ = around;
    if (why) problems_.push_back(node.op + " (" + node.label() + "): " + *why);
    set_unknown(node);
  };
  try {
    const std::string type = unknown_type(node);
    const Lower lower = lowering_of(node);
    if (!lower || !type.empty()) {
      const std::string why = lower ? "no code can be made for " + type : "no code can be made for this operator";
      give_up(&why);
    } else if (const std::size_t rank = highest_rank(node); rank > kHighestRank) {
      const std::string why = "a tensor of rank " + std::to_string(rank);
      give_up(&why);
    } else if (depends_on_unknown(node)) {
      give_up(nullptr);
    } else {
      add_groups(node, body_of([&] { lower(*this); }));
    }
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;
    give_up(&error.message());
  }
  node_ = outer;
}

void Lowering::set_unknown(const Node& node) {
  for (const Value* v : node.outputs())
    if (v) unknown_.insert(v);
}

void Lowering::lower_branch(const Graph& graph) {
  const bool ended = std::exchange(ended_, false);
  ++branches_;
  lower_graph(graph);
  --branches_;
  ended_ = ended;
}

void Lowering::lower_graph(const Graph& graph) {
  const auto order = topological_order(graph);
  if (!order) throw Error(Code::cyclic_graph, "the graph has a cycle");
  for (const Node* node : *order) {
    if (branches_ > 0 && !ended_ && contradictions_.contains(node)) {
      emit({Require{Expr::integer(0, DType::boolean), node->op + " " + node->label()}});
      ended_ = true;
    }
    if (ended_)
      set_unknown(*node);
    else
      lower_node(*node);
  }
}

Expr flat_index(const Exprs& at, const Exprs& dims) {
  Expr place = 0;
  for (std::size_t i = 0; i < at.size(); ++i) place = place * dims[i] + at[i];
  return place;
}

Expr equal_bytes(const Expr& a, const Expr& b) { return Expr::make(Op::equal, DType::boolean, {a, b}); }

Exprs broadcast_place(const Exprs& at, const Exprs& out, const Exprs& dims) {
  Exprs place;
  const std::size_t shift = at.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Expr &here = at[shift + i], &d = dims[i];
    if (same(d, out[shift + i]) || (d.as_int() && *d.as_int() != 1))
      place.push_back(here);
    else
      place.push_back(select(equal(d, 1), 0, here));
  }
  return place;
}

}  // namespace ingot::lower
