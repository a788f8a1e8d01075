// If and Loop: bodies become statements in place.
#include <algorithm>

#include "ingot/lower/rows.h"
#include "ingot/ops/known.h"

namespace ingot::lower {
namespace {

const Graph& graph_of(Lowering& l, const char* name) {
  const GraphPtr* graph = l.node().attributes.get<GraphPtr>(name);
  if (!graph || !*graph) l.refuse("a body is missing");
  return **graph;
}

void require_tensor(Lowering& l, const Value* value) {
  if (!value->type.is_tensor()) l.refuse("'" + value->name() + "' is no tensor");
}

/// The sizes of a value as far as they are constant; null ones are not.
std::optional<Exprs> constant_dims(const Value* value) {
  const auto dims = static_dims(value->type.shape);
  return dims ? std::optional(Exprs(dims->begin(), dims->end())) : std::nullopt;
}

/// A buffer whose sizes change: each is a variable.
View changing(Lowering& l, DType type, const Exprs& dims) {
  Buffer buffer;
  buffer.type = type;
  for (const Expr& d : dims) buffer.dims.push_back(l.let(d, true));
  View view{type, buffer.dims, -1, {}, 0};
  view.tensor = l.add_buffer(std::move(buffer));
  return view;
}

void require_same_rank(Lowering& l, const View& to, const View& from) {
  if (to.rank() != from.rank()) l.refuse("a value changes its rank");
}

void copy_into(Lowering& l, const View& to, const View& from) {
  require_same_rank(l, to, from);
  for (std::size_t i = 0; i < to.rank(); ++i)
    if (to.dims[i].as_int()) l.require_same(from.dims[i], to.dims[i]);
  l.map(
      to, to.dims, [](const Exprs& at) { return at; }, [&](const Exprs& at) { return from.at(at); });
}

/// Gives a changing buffer the shape and the elements of another.
void become(Lowering& l, const View& to, const View& from) {
  require_same_rank(l, to, from);
  for (std::size_t i = 0; i < to.rank(); ++i)
    if (!to.dims[i].as_int()) l.set(to.dims[i], from.dims[i]);
  if (!product(to.dims).as_int()) l.emit({Allocate{to.tensor}});
  copy_into(l, to, from);
}

}  // namespace

void lower_if(Lowering& l) {
  const View condition = l.in(0);
  const Graph &yes = graph_of(l, "then_branch"), &no = graph_of(l, "else_branch");
  if (const auto known = condition.at(Exprs(condition.rank(), 0)).as_int()) {
    const Graph& taken = *known ? yes : no;
    l.lower_graph(taken);
    for (std::size_t i = 0; i < taken.output_count(); ++i) {
      if (l.is_unknown(taken.output(i))) return l.set_unknown(l.node());
      l.out(i, l.view_of(taken.output(i)));
    }
    return;
  }
  std::vector<View> outs;
  for (std::size_t i = 0; i < yes.output_count(); ++i) {
    const Value *out = l.node().output(i), *made = yes.output(i)->type.shape ? yes.output(i) : no.output(i);
    require_tensor(l, made);
    const auto dims = out ? constant_dims(out) : std::nullopt;
    const auto rank = made->type.shape;
    if (!dims && !rank) l.refuse("the rank of a result is not known");
    const DType type = made->type.elem;
    outs.push_back(dims ? l.fresh(type, *dims) : changing(l, type, Exprs(rank->size(), 0)));
  }
  const auto fill = [&](const Graph& graph) {
    return [&l, &outs, &graph] {
      l.lower_branch(graph);
      for (std::size_t i = 0; i < outs.size(); ++i)
        if (!l.is_unknown(graph.output(i))) become(l, outs[i], l.view_of(graph.output(i)));
    };
  };
  l.branch(condition.at(Exprs(condition.rank(), 0)), fill(yes), fill(no));
  for (std::size_t i = 0; i < outs.size(); ++i) l.out(i, outs[i]);
}

namespace {

/// The value that is handed on unchanged.
const Value* origin_of(const Value* value) {
  while (value->producer() && value->producer()->is("Identity") && value->producer()->input(0))
    value = value->producer()->input(0);
  return value;
}

/// What a loop carries from round to round, and what it gathers.
struct Carried {
  std::vector<View> states, gathered;
  std::vector<List> lists;  // of states that are sequences
  std::vector<bool> grows;  // of what is gathered
};

/// The rank of a sequence's tensors, from whoever knows it.
std::int64_t rank_of_list(Lowering& l, const List& first, std::initializer_list<const Value*> values) {
  if (first.rank >= 0) return first.rank;
  for (const Value* v : values)
    if (v && v->type.is_sequence() && v->type.inner().shape) return std::ssize(*v->type.inner().shape);
  l.refuse("the rank of the tensors of a sequence is not known");
}

/// The rank of the tensor that a body puts into a sequence: what follows from the graph, whatever the file states.
std::optional<std::int64_t> inserted_rank(const Value* sequence) {
  const Node* node = origin_of(sequence)->producer();
  return node && node->is("SequenceInsert") ? rank_of(node->input(1)) : std::nullopt;
}

/// Gives a changing sequence the tensors of another.
void become_list(Lowering& l, const List& to, const List& from) {
  l.set(to.count, from.count);
  if (from.rank < 0) {
    l.set(to.data.dims[0], 0);
    l.emit({Allocate{to.data.tensor}});
    l.emit({Allocate{to.table.tensor}});
    return;
  }
  if (to.rank != from.rank) l.refuse("tensors of different rank in one sequence");
  l.set(to.data.dims[0], from.data.dims[0]);
  l.emit({Allocate{to.data.tensor}});
  l.emit({Allocate{to.table.tensor}});
  copy_into(l, to.data, from.data);
  copy_into(l, to.table, from.table);
}

List first_list(Lowering& l, const Graph& body, std::size_t i) {
  const List first = l.list_in(i);
  const std::int64_t rank =
      first.rank < 0 && inserted_rank(body.output(i - 1))
          ? *inserted_rank(body.output(i - 1))
          : rank_of_list(l, first,
                         {body.inputs()[i], body.output(i - 1), l.node().output(i - 2), origin_of(body.output(i - 1))});
  List list{first.type, rank, {}, {}, {}};
  list.data = changing(l, first.type, {0});
  list.count = l.let(0, true);
  Buffer table;
  table.type = DType::i64;
  table.dims = {list.count, rank};
  list.table = View{DType::i64, table.dims, -1, {}, 0};
  list.table.tensor = l.add_buffer(std::move(table));
  become_list(l, list, first);
  return list;
}

/// A sequence for the next round, which must not be what another one was.
void become_next(Lowering& l, const std::vector<List>& lists, std::size_t k, const List& next) {
  if (next.data.tensor == lists[k].data.tensor) return;
  for (const List& other : lists)
    if (other.data.tensor >= 0 && other.data.tensor == next.data.tensor) l.refuse("sequences of a loop change places");
  become_list(l, lists[k], next);
}

bool is_list(const Graph& body, std::size_t state) { return body.inputs()[state + 2]->type.is_sequence(); }

std::vector<View> first_states(Lowering& l, const Graph& body, std::vector<List>& lists) {
  std::vector<View> states;
  lists.resize(body.inputs().size() - 2);
  for (std::size_t i = 2; i < body.inputs().size(); ++i) {
    if (is_list(body, i - 2)) {
      lists[i - 2] = first_list(l, body, i);
      states.emplace_back();
      continue;
    }
    const View first = l.in(i);
    require_tensor(l, body.inputs()[i]);
    const auto before = constant_dims(body.inputs()[i]), after = constant_dims(body.output(i - 1));
    const bool stays = before && after && std::ranges::equal(*before, *after, same);
    View state = stays ? l.fresh(first.type, *before) : changing(l, first.type, first.dims);
    if (!stays) l.emit({Allocate{state.tensor}});
    copy_into(l, state, first);
    states.push_back(state);
  }
  return states;
}

/// Room for what each round adds: of constant size, or growing.
void make_gathered(Lowering& l, const Graph& body, const Expr& rounds, bool is_counted, Carried& c) {
  for (std::size_t i = c.states.size() + 1; i < body.output_count(); ++i) {
    const Value* value = body.output(i);
    require_tensor(l, value);
    const auto& shape = value->type.shape;
    if (!shape) l.refuse("the rank of '" + value->name() + "' is not known");
    const bool grows = !static_dims(shape) || !is_counted || !rounds.as_int();
    // Without a round, what is known of the sizes is the shape, and 0 stands for the others.
    Exprs all{grows ? Expr(0) : rounds};
    for (const Dim& d : *shape) all.emplace_back(std::max<std::int64_t>(d.as_int().value_or(0), 0));
    c.gathered.push_back(grows ? changing(l, value->type.elem, all) : l.fresh(value->type.elem, all));
    if (grows) l.emit({Allocate{c.gathered.back().tensor}});
    c.grows.push_back(grows);
  }
}

void gather_round(Lowering& l, const View& to, const View& from, const Expr& round, bool grows) {
  if (to.rank() != from.rank() + 1) l.refuse("a value changes its rank");
  if (grows) {
    for (std::size_t i = 0; i < from.rank(); ++i) {
      l.require(either(less(round, 1), equal(to.dims[i + 1], from.dims[i])));
      l.set(to.dims[i + 1], from.dims[i]);
    }
    Exprs all = to.dims;
    all[0] = round + 1;
    l.emit({Grow{to.tensor, checked_product(all)}});
  } else {
    l.require_same(from.dims, Exprs(to.dims.begin() + 1, to.dims.end()));
  }
  const auto place = [&](Exprs at) {
    at.insert(at.begin(), round);
    return at;
  };
  l.map(to, from.dims, place, [&](const Exprs& at) { return from.at(at); });
}

/// The view in memory that no state shares.
View apart(Lowering& l, const View& view, const std::vector<View>& states) {
  for (const View& state : states)
    if (state.tensor == view.tensor) return l.copied(view);
  return l.stored(view);
}

}  // namespace

void lower_loop(Lowering& l) {
  const Graph& body = graph_of(l, "body");
  const Expr rounds = l.has(0) ? l.single_int(0) : Expr(INT64_MAX);
  const Expr most = rounds.as_int() ? rounds : l.let(rounds);
  const auto first = l.has(1) ? l.known_ints(1) : std::optional(std::vector<std::int64_t>{1});
  // A condition that is handed on as it came in, or is always true, ends nothing.
  const Value* last = origin_of(body.output(0));
  const std::vector<std::int64_t> is_true = {1};
  const bool is_counted =
      first == is_true && l.has(0) && (last == body.inputs()[1] || ingot::known_ints(last) == is_true);
  const auto truth = [&](const View& v) { return v.at(Exprs(v.rank(), 0)); };
  const Expr goes_on = is_counted ? Expr::integer(1, DType::boolean)
                                  : l.let(l.has(1) ? truth(l.in(1)) : Expr::integer(1, DType::boolean), true);
  Carried c;
  c.states = first_states(l, body, c.lists);
  make_gathered(l, body, rounds, is_counted, c);
  const Expr done = l.let(0, true);
  const auto round = [&](Expr i) {
    l.set_view(body.inputs()[0], l.computed(DType::i64, {}, [i](const Exprs&) { return from_index(i, DType::i64); }));
    l.set_view(body.inputs()[1], l.computed(DType::boolean, {}, [goes_on](const Exprs&) { return goes_on; }));
    for (std::size_t k = 0; k < c.states.size(); ++k) {
      if (is_list(body, k))
        l.set_list(body.inputs()[k + 2], c.lists[k]);
      else
        l.set_view(body.inputs()[k + 2], c.states[k]);
    }
    l.lower_graph(body);
    for (std::size_t k = 0; k < c.gathered.size(); ++k)
      gather_round(l, c.gathered[k], l.view_of(body.output(c.states.size() + 1 + k)), i, c.grows[k]);
    // All new states are read before the first is written.
    const Expr next = is_counted ? Expr() : l.let(truth(l.view_of(body.output(0))));
    std::vector<View> made;
    for (std::size_t k = 0; k < c.states.size(); ++k)
      made.push_back(is_list(body, k) ? View{} : apart(l, l.view_of(body.output(k + 1)), c.states));
    for (std::size_t k = 0; k < c.states.size(); ++k) {
      if (!is_list(body, k))
        become(l, c.states[k], made[k]);
      else
        become_next(l, c.lists, k, l.list_of(body.output(k + 1)));
    }
    if (next) l.set(goes_on, next);
    l.set(done, i + 1);
  };
  l.loop(most, round, is_counted ? Expr() : goes_on);
  for (std::size_t k = 0; k < c.states.size(); ++k) {
    if (is_list(body, k))
      l.list_out(k, c.lists[k]);
    else
      l.out(k, c.states[k]);
  }
  for (std::size_t k = 0; k < c.gathered.size(); ++k) {
    if (c.grows[k]) l.set(c.gathered[k].dims[0], done);
    l.out(c.states.size() + k, c.gathered[k]);
  }
}

}  // namespace ingot::lower
