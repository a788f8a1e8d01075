// Loops: unrolled where the number of rounds is known, else ONNX Loops.
#include <fmt/format.h>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/torch/interpreter.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::torch {
namespace {

constexpr std::int64_t kMostUnrolled = 20'000;  // rounds of all loops together
constexpr int kMostAttempts = 24;

void leaves_of(Translation& t, const Item& item, Values& leaves) {
  t.spend(1);
  if (const TensorRef* tensor = item.get<TensorRef>()) {
    leaves.push_back(t.read(*tensor));
  } else if (item.is_number()) {
    leaves.push_back(t.value_of(item, DType::f64));
  } else if (const Tuple* tuple = item.get<Tuple>()) {
    for (const Item& part : *tuple->items) leaves_of(t, part, leaves);
  } else if (const ListRef* list = item.get<ListRef>()) {
    for (const Item& part : (*list)->items) leaves_of(t, part, leaves);
  } else if (!item.is_none() && !item.is<std::string>()) {
    refuse("a loop that is not unrolled changes a " + kind_text(item));
  }
}

/// The same item with other values at its leaves.
Item with_leaves(const Item& item, const Values& leaves, std::size_t& next) {
  const auto all = [&](const std::vector<Item>& items) {
    std::vector<Item> made;
    for (const Item& part : items) made.push_back(with_leaves(part, leaves, next));
    return made;
  };
  if (item.is_tensor()) return leaves.at(next++);
  if (item.is_number()) return Scalar{leaves.at(next++)};
  if (const Tuple* tuple = item.get<Tuple>()) return Item::tuple(all(*tuple->items), tuple->type);
  if (const ListRef* list = item.get<ListRef>()) return Item::list(all((*list)->items));
  return item;
}

bool same_structure(const Item& a, const Item& b) {
  if (a.is_number() && b.is_number()) return true;
  if (a.content().index() != b.content().index()) return false;
  const auto* list_a = a.get<ListRef>();
  const auto* tuple_a = a.get<Tuple>();
  const std::vector<Item>* x = list_a ? &(*list_a)->items : tuple_a ? tuple_a->items.get() : nullptr;
  if (!x) return true;
  const std::vector<Item>& y = list_a ? (*b.get<ListRef>())->items : *b.get<Tuple>()->items;
  if (x->size() != y.size()) return false;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!same_structure((*x)[i], y[i])) return false;
  return true;
}

Item item_at(const Place& place) {
  const Contents now = contents_of(place);
  if (std::holds_alternative<TensorRef>(place.owner)) return now.tensor;
  if (std::holds_alternative<ListRef>(place.owner)) return Item::list(now.items);
  if (std::holds_alternative<ObjectRef>(place.owner)) return now.attribute;
  refuse("a loop that is not unrolled changes a dictionary");
}

void put_at(const Place& place, const Item& item) {
  Contents contents;
  if (const TensorRef* tensor = item.get<TensorRef>()) contents.tensor = (*tensor)->value;
  if (const ListRef* list = item.get<ListRef>()) contents.items = (*list)->items;
  contents.attribute = item;
  restore(place, contents);
}

/// All that can be changed and that the item leads to.
void reach(const Item& item, std::set<const void*>& reached) {
  const auto all = [&](const std::vector<Item>& items) {
    for (const Item& part : items) reach(part, reached);
  };
  if (const Tuple* tuple = item.get<Tuple>()) all(*tuple->items);
  if (const ListRef* list = item.get<ListRef>(); list && reached.insert(list->get()).second) all((*list)->items);
  if (const DictRef* dict = item.get<DictRef>(); dict && reached.insert(dict->get()).second)
    for (const auto& [key, value] : (*dict)->entries) reach(value, reached);
  if (const ObjectRef* object = item.get<ObjectRef>(); object && reached.insert(object->get()).second)
    for (const auto& [name, value] : (*object)->attributes) reach(value, reached);
  if (const TensorRef* tensor = item.get<TensorRef>())
    for (const TensorCell* cell = tensor->get(); cell; cell = cell->base.get()) reached.insert(cell);
}

void add_result(Graph& graph, Value* value) {
  const bool is_own = value->producer() && &value->graph() == &graph;
  if (!is_own || std::ranges::count(graph.outputs(), value) != 0) value = GraphBuilder(graph).op("Identity", {value});
  graph.add_output(value);
}

}  // namespace

/// What goes round in a loop: variables and places with what they held before, and the lists that rounds append to.
struct Interpreter::LoopState {
  Value *rounds = nullptr, *condition = nullptr;
  std::vector<Item> bounds;  // of a range: its begin and step
  std::vector<std::string> variables;
  std::vector<Place> places;
  std::vector<ListRef> appended;
  std::vector<Item> before;  // of variables, then of places
  std::vector<Type> types;   // of their leaves
  Values start;
  std::vector<Contents> kept;  // of the places, while a round is followed
  GraphPtr body;

  std::size_t size() const { return variables.size() + places.size(); }
};

/// What one round makes of the state.
struct Interpreter::LoopRound {
  std::vector<Item> after;
  Values made, scanned;  // the leaves of `after`, and what is appended
  Value* condition = nullptr;
};

void Interpreter::begin_round(const script::Statement& statement, const Item& element, Frame& frame) {
  if (statement.unpacks)
    unpack(statement, element, frame);
  else
    assign(*statement.targets[0], element, frame);
}

void Interpreter::count(const script::Statement& statement, Frame& frame) {
  const script::Expr& over = *statement.value;
  if (over.kind == script::Expr::Kind::call && script::dotted(*over.parts[0]) == "range" && over.parts.size() > 1 &&
      over.parts.size() < 5) {
    std::vector<Item> bounds = arguments(over, frame).first;
    if (std::ranges::any_of(bounds, [](const Item& i) { return i.is_unknown(); })) return;
    if (bounds.size() == 1) bounds.insert(bounds.begin(), Item(0));
    if (bounds.size() == 2) bounds.emplace_back(1);
    return count_range(statement, bounds, frame);
  }
  Item listed = evaluate(over, frame);
  if (listed.is_unknown()) return;
  if (listed.is_tensor()) listed = t_.call("unbind", {listed, 0});
  if (listed.is<DictRef>()) listed = t_.call("keys", {listed});
  const auto* parts = parts_of(listed);
  const ListRef* list = listed.get<ListRef>();
  if (!parts || (list && (*list)->rolled)) refuse("the code loops over a " + kind_text(listed));
  const std::vector<Item> elements = *parts;
  for (const Item& element : elements) {
    if (++unrolled_ > kMostUnrolled)
      throw Error(Code::node_limit, "the loops of the code have too many rounds to unroll");
    begin_round(statement, element, frame);
    run(statement.body, frame);
    if (frame.returned) return;
  }
}

void Interpreter::count_range(const script::Statement& statement, const std::vector<Item>& bounds, Frame& frame) {
  const Item rounds = t_.call("__range_length", bounds);
  if (rounds.is_unknown()) return;
  const auto* known = rounds.get<std::int64_t>();
  if (!known || *known > kMostUnrolled)
    return loop_at_run_time(statement, t_.value_of(rounds), nullptr, frame, {bounds[0], bounds[2]});
  for (std::int64_t i = 0; i < *known; ++i) {
    if (++unrolled_ > kMostUnrolled)
      throw Error(Code::node_limit, "the loops of the code have too many rounds to unroll");
    begin_round(statement, t_.call("__derive_index", {i, bounds[0], bounds[2]}), frame);
    run(statement.body, frame);
    if (frame.returned) return;
  }
}

void Interpreter::loop(const script::Statement& statement, Frame& frame) {
  while (true) {
    const Item condition = converted("bool", evaluate(*statement.value, frame));
    if (condition.is_unknown()) return;
    if (const Scalar* scalar = condition.get<Scalar>())
      return loop_at_run_time(statement, nullptr, scalar->value, frame);
    if (!*condition.get<bool>()) return;
    if (++unrolled_ > kMostUnrolled)
      throw Error(Code::node_limit, "the loops of the code have too many rounds to unroll");
    run(statement.body, frame);
  }
}

void Interpreter::loop_at_run_time(const script::Statement& statement, Value* rounds, Value* condition, Frame& frame,
                                   const std::vector<Item>& bounds) {
  LoopState state;
  state.bounds = bounds;
  state.rounds = rounds;
  state.condition = condition;
  for (int attempt = 0; !try_loop(statement, state, frame); ++attempt)
    if (attempt > kMostAttempts) refuse("what a loop changes could not be found out");
  GraphBuilder& g = t_.g();
  // A Loop has two inputs at least, and one that is left out at the end does not count.
  if (!condition && state.start.empty()) condition = g.constant(Tensor::scalar(true));
  Values inputs{rounds, condition};
  inputs.insert(inputs.end(), state.start.begin(), state.start.end());
  const std::size_t carried = state.start.size();
  Node* node = g.node("Loop", "", inputs, {}, carried + state.appended.size());
  node->attributes.append(Attribute("body", AttrValue(std::move(state.body))));
  ops::InferSession session;
  ops::infer_node(*node, session);
  const Values outputs = node->outputs();
  std::size_t next = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    Item made = with_leaves(state.before[i], outputs, next);
    if (i < state.variables.size()) {
      frame.variables.insert_or_assign(state.variables[i], std::move(made));
    } else {
      const Place& place = state.places[i - state.variables.size()];
      t_.journal.changing(place);
      put_at(place, made);
    }
  }
  for (std::size_t i = 0; i < state.appended.size(); ++i) {
    if (state.appended[i]->rolled) refuse("two loops append to one list");
    state.appended[i]->rolled = outputs[carried + i];
  }
}

bool Interpreter::try_loop(const script::Statement& statement, LoopState& state, const Frame& frame) {
  Frame inner = enter_loop(state, frame);
  const Frame entered = inner;
  LoopRound round;
  t_.journal.begin();
  try {
    run_round(statement, state, inner, round);
  } catch (...) {
    for (const ListRef& list : state.appended) list->rolled = nullptr;
    for (const Journal::Change& change : t_.journal.end()) restore(change.place, change.before);
    leave_loop(state);
    throw;
  }
  std::vector<std::string> new_variables;
  const auto is_target = [&](const std::string& name) {
    return std::ranges::any_of(statement.targets, [&](const script::ExprPtr& target) { return target->text == name; });
  };
  for (const auto& [name, item] : entered.variables)
    if (!is_target(name) && !same_item(item, inner.variables.find(name)->second) &&
        !std::ranges::count(state.variables, name))
      new_variables.push_back(name);
  const Journal::Changes changes = t_.journal.end();
  std::vector<std::size_t> sizes_after;
  for (const Journal::Change& change : changes) {
    sizes_after.push_back(contents_of(change.place).items.size());
    restore(change.place, change.before);
  }
  // Only what the code outside can reach goes round; the rest was made inside.
  std::set<const void*> reached;
  for (const auto& [name, item] : entered.variables) reach(item, reached);
  std::vector<Place> new_places;
  std::vector<ListRef> new_lists;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Journal::Change& change = changes[i];
    const auto is_same = [&](const Place& p) {
      return p.identity() == change.place.identity() && p.attribute == change.place.attribute;
    };
    const auto* list = std::get_if<ListRef>(&change.place.owner);
    const bool is_known =
        std::ranges::any_of(state.places, is_same) || (list && std::ranges::count(state.appended, *list));
    if (!is_known && reached.contains(change.place.identity())) {
      if (list && sizes_after[i] > change.before.items.size())
        new_lists.push_back(*list);
      else
        new_places.push_back(change.place);
    }
  }
  leave_loop(state);
  for (std::size_t i = 0; i < state.size(); ++i)
    if (!same_structure(state.before[i], round.after[i]))
      refuse("a loop that is not unrolled changes what kind of thing a variable holds");
  if (!new_variables.empty() || !new_places.empty() || !new_lists.empty()) {
    state.types.clear();
    state.variables.insert(state.variables.end(), new_variables.begin(), new_variables.end());
    state.places.insert(state.places.end(), new_places.begin(), new_places.end());
    state.appended.insert(state.appended.end(), new_lists.begin(), new_lists.end());
    return false;
  }
  bool holds = true;
  for (std::size_t i = 0; i < state.types.size(); ++i) {
    Type type = common(state.types[i], round.made[i]->type);
    if (type == state.types[i]) continue;
    if (type.elem == DType::undefined) refuse("a loop that is not unrolled changes a tensor's element type");
    state.types[i] = std::move(type);
    holds = false;
  }
  if (!holds) return false;
  add_result(*state.body, round.condition);
  for (Value* value : round.made) add_result(*state.body, value);
  for (Value* value : round.scanned) add_result(*state.body, value);
  return true;
}

Interpreter::Frame Interpreter::enter_loop(LoopState& state, const Frame& frame) {
  state.before.clear();
  for (const std::string& name : state.variables) state.before.push_back(settled(frame.variables.find(name)->second));
  for (const Place& place : state.places) state.before.push_back(settled(item_at(place)));
  state.start.clear();
  for (const Item& item : state.before) leaves_of(t_, item, state.start);
  for (std::size_t i = state.types.size(); i < state.start.size(); ++i) state.types.push_back(state.start[i]->type);

  state.body = std::make_unique<Graph>(&t_.g().graph());
  Graph& body = *state.body;
  body.name = t_.g().graph().fresh_name("body");
  body.add_input(body.fresh_name("round"), Type::tensor(DType::i64, Shape()));
  body.add_input(body.fresh_name("condition"), Type::tensor(DType::boolean, Shape()));
  Values carried;
  for (const Type& type : state.types) carried.push_back(body.add_input(body.fresh_name("state"), type));

  Frame inner = frame;
  std::size_t next = 0;
  state.kept.clear();
  for (std::size_t i = 0; i < state.size(); ++i) {
    Item item = with_leaves(state.before[i], carried, next);
    if (i < state.variables.size()) {
      inner.variables.insert_or_assign(state.variables[i], std::move(item));
    } else {
      const Place& place = state.places[i - state.variables.size()];
      state.kept.push_back(contents_of(place));
      put_at(place, item);
    }
  }
  return inner;
}

void Interpreter::leave_loop(const LoopState& state) {
  for (std::size_t i = 0; i < state.places.size(); ++i) restore(state.places[i], state.kept[i]);
}

void Interpreter::run_round(const script::Statement& statement, LoopState& state, Frame& inner, LoopRound& round) {
  Graph& body = *state.body;
  round.condition = body.inputs()[1];
  std::vector<std::size_t> sizes;
  for (const ListRef& list : state.appended) {
    sizes.push_back(list->items.size());
    t_.journal.changing({list});
    list->rolled = body.inputs()[0];  // nobody may ask for its length meanwhile
  }
  t_.inside(body, [&] {
    if (statement.kind == script::Statement::Kind::count)
      begin_round(statement, t_.call("__derive_index", {Scalar{body.inputs()[0]}, state.bounds[0], state.bounds[1]}),
                  inner);
    run(statement.body, inner);
    if (inner.returned) refuse("the code returns inside a loop that is not unrolled");
    if (statement.kind == script::Statement::Kind::loop) {
      const Item goes_on = converted("bool", evaluate(*statement.value, inner));
      round.condition = t_.g().cast(t_.value_of(goes_on), DType::boolean);
    }
    for (const std::string& name : state.variables) round.after.push_back(settled(inner.variables.find(name)->second));
    for (const Place& place : state.places) round.after.push_back(settled(item_at(place)));
    for (const Item& item : round.after) leaves_of(t_, item, round.made);
    for (std::size_t i = 0; i < round.made.size() && i < state.types.size(); ++i)
      if (state.types[i].elem == DType::f64) round.made[i] = t_.g().cast(round.made[i], DType::f64);
    for (std::size_t i = 0; i < state.appended.size(); ++i) {
      const auto& items = state.appended[i]->items;
      const TensorRef* last = items.size() == sizes[i] + 1 ? items.back().get<TensorRef>() : nullptr;
      if (!last) refuse("a loop that is not unrolled changes a list other than by appending one tensor in each round");
      round.scanned.push_back(t_.read(*last));
      state.appended[i]->rolled = nullptr;
    }
  });
}

}  // namespace ingot::frontends::torch
