// Branches that are chosen when the model runs: both are followed, and what they leave behind becomes an If's outputs.
#include <fmt/format.h>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/torch/interpreter.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::torch {
namespace {

DType number_elem(const Item& item) {
  if (item.is<bool>()) return DType::boolean;
  if (item.is<std::int64_t>()) return DType::i64;
  if (const Scalar* s = item.get<Scalar>()) return s->value->type.elem;
  return DType::f64;
}

/// Something of the same type, where a branch has nothing that may be read.
Value* stand_in(GraphBuilder& g, const Value* like) {
  const auto rank = rank_of(like);
  return g.constant(Tensor(like->type.elem, Dims(static_cast<std::size_t>(rank.value_or(1)), 0),
                           rank == 0 ? Tensor::scalar(0.0, like->type.elem).bytes() : Bytes()));
}

}  // namespace

/// Makes one item of two, leaf by leaf. In the first pass the leaves are gathered, in the second the If's outputs take
/// their places in the same order.
class Interpreter::Merger {
 public:
  Merger(Translation& t, Graph& yes, Graph& no) : t_(t), yes_(yes), no_(no) {}

  void take_outputs(const Values& outputs) { outputs_ = &outputs; }
  const Values& of_yes() const { return of_yes_; }
  const Values& of_no() const { return of_no_; }

  Item merge(const Item& a, const Item& b) {
    t_.spend(1);
    if (same_item(a, b)) return a;
    if (a.is_tensor() || b.is_tensor()) {
      Value* made = nullptr;
      if ((!a.is_tensor() && !a.is_unknown()) || (!b.is_tensor() && !b.is_unknown())) return Unknown{};
      if (!leaf(read_in(yes_, a), read_in(no_, b), made)) return Unknown{};
      return made ? Item(made) : Item();
    }
    if ((a.is_number() || a.is_unknown()) && (b.is_number() || b.is_unknown())) return merge_numbers(a, b);
    if (const Tuple* x = a.get<Tuple>())
      if (const Tuple* y = b.get<Tuple>(); y && y->items->size() == x->items->size())
        return Item::tuple(merge_all(*x->items, *y->items), x->type);
    if (const ListRef* x = a.get<ListRef>())
      if (const ListRef* y = b.get<ListRef>(); y && (*y)->items.size() == (*x)->items.size())
        return Item::list(merge_all((*x)->items, (*y)->items));
    if (const DictRef* x = a.get<DictRef>())
      if (const DictRef* y = b.get<DictRef>(); y && (*y)->entries.size() == (*x)->entries.size()) {
        auto made = std::make_shared<DictBody>();
        for (std::size_t i = 0; i < (*x)->entries.size(); ++i)
          made->entries.emplace_back((*x)->entries[i].first, merge((*x)->entries[i].second, (*y)->entries[i].second));
        return Item(DictRef(std::move(made)));
      }
    return Unknown{};
  }

  std::vector<Item> merge_all(const std::vector<Item>& a, const std::vector<Item>& b) {
    if (a.size() != b.size()) return {Item(Unknown{})};
    std::vector<Item> made;
    for (std::size_t i = 0; i < a.size(); ++i) made.push_back(merge(a[i], b[i]));
    return made;
  }

  Value* merge_values(Value* a, Value* b) {
    Value* made = nullptr;
    if (a == b || !leaf(a, b, made)) return a;
    return made;
  }

 private:
  /// The tensor as it is at the end of a branch; null: there is none, or all are gathered.
  Value* read_in(Graph& graph, const Item& item) {
    Value* value = nullptr;
    if (const TensorRef* tensor = item.get<TensorRef>(); tensor && !outputs_)
      t_.inside(graph, [&] { value = t_.read(*tensor); });
    return value;
  }

  Item merge_numbers(const Item& a, const Item& b) {
    const DType elem_a = a.is_unknown() ? number_elem(b) : number_elem(a);
    const DType elem_b = b.is_unknown() ? number_elem(a) : number_elem(b);
    const DType common = elem_a == elem_b ? elem_a : promoted_types(elem_a, elem_b);
    const auto in = [&](Graph& graph, const Item& item) {
      Value* value = nullptr;
      t_.inside(graph, [&] {
        value = t_.g().cast(item.is_unknown() ? t_.g().scalar(0, common) : t_.value_of(item, common), common);
      });
      return value;
    };
    Value* made = nullptr;
    Value* x = outputs_ ? nullptr : in(yes_, a);
    Value* y = outputs_ ? nullptr : in(no_, b);
    leaf(x, y, made);
    return made ? Item(Scalar{made}) : Item();
  }

  bool leaf(Value* a, Value* b, Value*& made) {
    if (outputs_) {
      made = (*outputs_)[next_++];
      return true;
    }
    if (!a) t_.inside(yes_, [&] { a = stand_in(t_.g(), b); });
    if (!b) t_.inside(no_, [&] { b = stand_in(t_.g(), a); });
    of_yes_.push_back(a);
    of_no_.push_back(b);
    return true;
  }

  Translation& t_;
  Graph &yes_, &no_;
  Values of_yes_, of_no_;
  const Values* outputs_ = nullptr;
  std::size_t next_ = 0;
};

/// What a branch left behind when it was followed, all of it taken back.
struct Interpreter::Branch {
  GraphPtr graph;
  Frame frame;
  Journal::Changes changes;
  std::vector<Contents> after;  // of each change
  bool has_raised = false;
  std::string message;
};

Item Interpreter::settled(const Item& item) {
  t_.spend(1);
  if (const TensorRef* tensor = item.get<TensorRef>()) {
    if (!(*tensor)->base) return item;
    return t_.read(*tensor);
  }
  const auto all = [&](const std::vector<Item>& items) {
    std::vector<Item> made;
    for (const Item& part : items) made.push_back(settled(part));
    return made;
  };
  if (const Tuple* tuple = item.get<Tuple>()) return Item::tuple(all(*tuple->items), tuple->type);
  if (const ListRef* list = item.get<ListRef>(); list && !(*list)->rolled) {
    std::vector<Item> made = all((*list)->items);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (!same_item(made[i], (*list)->items[i])) return Item::list(std::move(made));
  }
  return item;
}

Interpreter::Branch Interpreter::follow(const script::Block& block, const Frame& frame) {
  Branch branch;
  branch.graph = std::make_unique<Graph>(&t_.g().graph());
  branch.graph->name = t_.g().graph().fresh_name("branch");
  branch.frame = frame;
  t_.journal.begin();
  const std::string scope = t_.scope();
  try {
    t_.inside(*branch.graph, [&] {
      run(block, branch.frame);
      for (auto& [name, item] : branch.frame.variables) {
        const auto before = frame.variables.find(name);
        if (before == frame.variables.end() || !same_item(before->second, item)) item = settled(item);
      }
    });
  } catch (const Raised& raised) {
    branch.has_raised = true;
    branch.message = raised.message;
  }
  t_.name_after(scope, "");
  branch.changes = t_.journal.end();
  for (const Journal::Change& change : branch.changes) {
    Contents after = contents_of(change.place);
    restore(change.place, change.before);
    branch.after.push_back(std::move(after));
  }
  return branch;
}

void Interpreter::choose(const script::Statement& statement, Frame& frame) {
  const Item condition = converted("bool", evaluate(*statement.value, frame));
  if (const auto* known = condition.get<bool>()) return run(*known ? statement.body : statement.otherwise, frame);
  if (condition.is_unknown()) return;
  const Scalar* scalar = condition.get<Scalar>();
  if (!scalar) throw Error(Code::bad_source_graph, "a condition of the archive's code is no truth value");
  choose_at_run_time(statement, scalar->value, frame);
}

namespace {

void add_results(Graph& graph, const Values& values) {
  GraphBuilder builder(graph);
  builder.name_after("result");
  for (Value* value : values) {
    const bool is_own = value->producer() && &value->graph() == &graph;
    if (!is_own || std::ranges::count(graph.outputs(), value) != 0) value = builder.op("Identity", {value});
    graph.add_output(value);
  }
}

/// A place that both branches may have changed: what each of them left there.
struct Meeting {
  Place place;
  Contents yes, no;
};

std::vector<Meeting> meetings(const Journal::Changes& of_yes, const std::vector<Contents>& after_yes,
                              const Journal::Changes& of_no, const std::vector<Contents>& after_no) {
  std::vector<Meeting> all;
  for (std::size_t i = 0; i < of_yes.size(); ++i) all.push_back({of_yes[i].place, after_yes[i], of_yes[i].before});
  for (std::size_t i = 0; i < of_no.size(); ++i) {
    const auto known = std::ranges::find_if(all, [&](const Meeting& m) {
      return m.place.identity() == of_no[i].place.identity() && m.place.attribute == of_no[i].place.attribute;
    });
    if (known != all.end())
      known->no = after_no[i];
    else
      all.push_back({of_no[i].place, of_no[i].before, after_no[i]});
  }
  return all;
}

/// Whether the condition asks if there is anything: "count > 0".
bool asks_for_any(const Value* condition) {
  const Node* node = condition->producer();
  while (node && (node->is("Cast") || node->is("Reshape") || node->is("Identity"))) node = node->input(0)->producer();
  if (!node || !node->is("Greater")) return false;
  const Value* bound = node->input(1);
  while (bound && !bound->initializer && bound->producer() && bound->producer()->is("Cast"))
    bound = bound->producer()->input(0);
  const std::optional<Tensor> known = bound ? bound->initializer : std::nullopt;
  return known && known->dims().empty() && is_integer(known->dtype()) && known->to_ints().at(0) == 0;
}

bool have_other_ranks(const Values& a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (rank_of(a[i]) && rank_of(b[i]) && *rank_of(a[i]) != *rank_of(b[i])) return true;
  return false;
}

}  // namespace

void Interpreter::choose_at_run_time(const script::Statement& statement, Value* condition, Frame& frame) {
  Branch yes = follow(statement.body, frame), no = follow(statement.otherwise, frame);
  if (yes.has_raised && no.has_raised) throw Raised{yes.message};
  if (yes.has_raised || no.has_raised) {
    t_.notes.add("checks of inputs that depend on the run are left out: '" +
                 (yes.has_raised ? yes.message : no.message) + "'");
    return run(yes.has_raised ? statement.otherwise : statement.body, frame);
  }
  if (yes.frame.returned || no.frame.returned)
    refuse("the code returns inside a branch that is chosen when the model runs");

  Merger merger(t_, *yes.graph, *no.graph);
  const std::vector<Meeting> met = meetings(yes.changes, yes.after, no.changes, no.after);
  const Graph* of_yes = yes.graph.get();  // the If owns them before the second pass
  const Graph* of_no = no.graph.get();
  const auto is_inner = [&](const Value* v) { return !v || &v->graph() == of_yes || &v->graph() == of_no; };
  const auto merge_all = [&](bool is_final) {
    for (auto& [name, item] : yes.frame.variables) {
      const auto other = no.frame.variables.find(name);
      if (other == no.frame.variables.end()) continue;
      Item merged = merger.merge(item, other->second);
      if (is_final) frame.variables.insert_or_assign(name, std::move(merged));
    }
    for (const Meeting& m : met) {
      Contents merged;
      if (std::holds_alternative<TensorRef>(m.place.owner)) {
        if (is_inner(contents_of(m.place).tensor)) continue;  // made inside: nobody outside has it
        merged.tensor = merger.merge_values(m.yes.tensor, m.no.tensor);
      }
      merged.items = merger.merge_all(m.yes.items, m.no.items);
      merged.attribute = merger.merge(m.yes.attribute, m.no.attribute);
      if (m.yes.entries.size() == m.no.entries.size())
        for (std::size_t i = 0; i < m.yes.entries.size(); ++i)
          merged.entries.emplace_back(m.yes.entries[i].first,
                                      merger.merge(m.yes.entries[i].second, m.no.entries[i].second));
      if (!is_final) continue;
      t_.journal.changing(m.place);
      restore(m.place, merged);
    }
  };
  merge_all(false);
  if (have_other_ranks(merger.of_yes(), merger.of_no()) && asks_for_any(condition)) {
    // Code that leaves out a reshape where there is nothing: what follows is made for something.
    t_.notes.add(fmt::format("'{}' is followed as if there always were something to work on", t_.scope()));
    return run(statement.body, frame);
  }
  add_results(*yes.graph, merger.of_yes());
  add_results(*no.graph, merger.of_no());
  const std::size_t count = merger.of_yes().size();
  Values outputs;
  if (count) {
    Node* node = t_.g().node("If", "", {condition}, {}, count);
    node->attributes.append(Attribute("then_branch", AttrValue(std::move(yes.graph))));
    node->attributes.append(Attribute("else_branch", AttrValue(std::move(no.graph))));
    ops::InferSession session;
    ops::infer_node(*node, session);
    outputs = node->outputs();
  }
  merger.take_outputs(outputs);
  merge_all(true);
}

}  // namespace ingot::frontends::torch
