#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ingot/ir/model.h"
#include "ingot/lower/program.h"

namespace ingot::lower {

/// A tensor while it is lowered: either a buffer, or how each element is computed when it is read.
struct View {
  DType type = DType::undefined;
  Exprs dims;
  int tensor = -1;                            // the buffer that holds it, densely and in this shape; -1: computed
  std::function<Expr(const Exprs& at)> read;  // of a computed one
  int cost = 0;                               // operations per element of a computed one; 0: only moves
  int depth = 0;                              // computed views that it is read through

  std::size_t rank() const { return dims.size(); }
  Expr at(const Exprs& place) const;
};

/// A tensor of strings: all bytes one after the other, and where each string ends in them, in the tensor's shape.
struct Strings {
  View bytes, ends;
};

/// A sequence of tensors of one rank: their elements one after the other, [total], and their dimensions, [count, rank].
struct List {
  DType type = DType::undefined;
  std::int64_t rank = -1;  // -1: it is empty, and any may follow
  View data, table;
  Expr count;
};

/// What ZipMap makes: each row of `values` is a map, and its numbers belong to these keys.
struct Maps {
  View values;                   // [rows, keys]
  std::optional<Strings> words;  // the keys, else
  View numbers;
};

/// One graph on its way into a program: what lowerings of operators are written with.
class Lowering {
 public:
  Lowering(Program& program, const Kernels& kernels) : program_(program), kernels_(kernels) {}

  // What the node at hand reads and makes.
  const Node& node() const { return *node_; }
  bool has(std::size_t i) const { return node_->input(i) != nullptr; }
  View in(std::size_t i);
  std::size_t input_count() const { return node_->input_count(); }
  void out(std::size_t i, View view);
  Strings strings_in(std::size_t i);
  void strings_out(std::size_t i, Strings strings);
  List list_in(std::size_t i) { return list_of(node_->input(i)); }
  void list_out(std::size_t i, List list);
  bool wants(std::size_t i) const;
  std::int64_t attr(std::string_view name, std::int64_t fallback) const;
  /// An axis attribute or value, counted from the beginning.
  std::int64_t axis(std::int64_t axis, std::size_t rank) const;
  [[noreturn]] void refuse(const std::string& why) const;
  /// The sizes that inference knows of an output replace equal ones that are only known at run time.
  void settle(std::size_t i, Exprs& dims) const;

  /// Elements of an integer input of rank 0 or 1, numbers where they are known. Refuses an unknown count.
  Exprs ints(std::size_t i);
  /// The same where so many are needed; refuses another count that is known.
  Exprs ints(std::size_t i, std::size_t count);
  /// The sizes of output 0 that an input lists: as many as its rank says, where their count is not known.
  Exprs sizes(std::size_t i);
  /// The same where the list may be shorter: it is that of the last axes, and those before are 1.
  Exprs sizes_from_the_end(std::size_t i);
  /// The rank of an output that inference or the model states; refuses an unknown one.
  std::size_t stated_rank(std::size_t i) const;
  Expr single_int(std::size_t i) { return ints(i, 1)[0]; }
  std::optional<std::vector<std::int64_t>> known_ints(std::size_t i) const;

  // Making tensors.
  View computed(DType type, Exprs dims, std::function<Expr(const Exprs&)> read, int cost = 0) const;
  /// The view as a buffer of its own.
  View stored(const View& view);
  /// A buffer of its own in any case.
  View copied(const View& view);
  /// A buffer to fill.
  View fresh(DType type, Exprs dims);
  View reduced(DType type, Exprs dims, const Exprs& over, Combine combine,
               const std::function<Expr(const Exprs& at, const Exprs& over)>& value);
  void reduce_into(const View& out, const Exprs& over, Combine combine,
                   const std::function<Expr(const Exprs& at, const Exprs& over)>& value);
  /// to[place(at)] = value(at) for all `at` over the extents; the places differ.
  void map(const View& to, const Exprs& over, const std::function<Exprs(const Exprs& at)>& place,
           const std::function<Expr(const Exprs& at)>& value);
  View weight(Tensor value);
  Strings constant_strings(const Tensor& value);
  /// The same elements in another shape of the same size.
  View reshaped(const View& view, Exprs dims);
  /// The same of a shape that may be of another size.
  View reshaped_exactly(const View& view, const Exprs& dims);

  // What only the run tells, and must hold for it to go on.
  void require(const Expr& holds);
  void require_same(const Expr& a, const Expr& b) { require(same(a, b) ? equal(0, 0) : equal(a, b)); }
  void require_natural(const Expr& size);
  /// As many sizes, each the same.
  void require_same(const Exprs& a, const Exprs& b);
  /// That an operand can be broadcast to this shape.
  void require_spread(const Exprs& dims, const Exprs& to);
  /// That there is a place where so many indices lead.
  void require_place(const Expr& size, const Expr& indices) { require(either(less(0, size), less(indices, 1))); }
  /// The shape that two broadcast to.
  Exprs broadcast(const Exprs& a, const Exprs& b);

  // Statements.
  void emit(Statement statement) { body_->push_back(std::move(statement)); }
  /// Calls `fill` while statements go to a body of their own, which is returned.
  Body body_of(const std::function<void()>& fill);
  Axis axis_of(const Expr& extent);
  Expr var(const Axis& axis) const;
  /// A new variable of this value; changed later by set() if `is_changed`.
  Expr let(const Expr& value, bool is_changed = false);
  void set(const Expr& variable, const Expr& value);
  void loop(const Expr& extent, const std::function<void(Expr i)>& body, const Expr& go_on = {});
  void branch(const Expr& condition, const std::function<void()>& yes, const std::function<void()>& no = {});
  void store(const View& to, const Exprs& at, const Expr& value);
  void loops(const Exprs& extents, const std::function<void(const Exprs& at)>& body);

  // Graphs.
  /// What cannot be lowered is listed in problems(), all of it.
  void lower_graph(const Graph& graph);
  /// A graph that may not be run: what contradicts itself in it ends the run, and is no problem.
  void lower_branch(const Graph& graph);
  void set_contradictions(std::unordered_set<const Node*> nodes) { contradictions_ = std::move(nodes); }
  bool is_unknown(const Value* value) const { return unknown_.contains(value); }
  void set_unknown(const Node& node);
  /// The view of a value; lowers what it needs.
  View view_of(const Value* value);
  void set_view(const Value* value, View view) { views_[value] = std::move(view); }
  void drop_view(const Value* value) { views_.erase(value); }
  Strings strings_of(const Value* value);
  void set_strings(const Value* value, Strings strings) { strings_[value] = std::move(strings); }
  List list_of(const Value* value);
  void set_list(const Value* value, List list) { lists_[value] = std::move(list); }
  const Maps& maps_of(const Value* value) const;
  void maps_out(std::size_t i, Maps maps);
  /// Whether an optional holds something; what is no optional does.
  Expr is_present(const Value* value) const;
  void set_presence(const Value* value, Expr has) { presence_[value] = std::move(has); }
  /// What is known of one value, whatever it is, is known of another.
  void hand_on(const Value* from, const Value* to);
  Program& program() { return program_; }
  const Kernels& kernels() const { return kernels_; }
  const std::vector<std::string>& problems() const { return problems_; }
  int add_buffer(Buffer buffer);

 private:
  bool has_unknown_count(std::size_t i);
  void lower_node(const Node& node);
  bool depends_on_unknown(const Node& node) const;
  void add_groups(const Node& node, Body body);

  Program& program_;
  Kernels kernels_;
  Body* body_ = &program_.body;
  const Node* node_ = nullptr;
  std::unordered_map<const Value*, View> views_;
  std::unordered_map<const Value*, Strings> strings_;
  std::unordered_map<const Value*, List> lists_;
  std::unordered_map<const Value*, Maps> maps_;
  std::unordered_map<const Value*, Expr> presence_;
  std::unordered_set<const Value*> unknown_;  // what nodes with a problem would have made
  std::vector<std::string> problems_;
  std::unordered_set<const Node*> contradictions_;
  int branches_ = 0;    // around the node at hand
  bool ended_ = false;  // the branch at hand, by a contradiction
};

/// How one operator is lowered: reads in(), calls out().
using Lower = void (*)(Lowering&);
/// Null: there is none for this operator.
Lower lowering_of(const Node& node);
/// Of an operator that moves strings: how it moves numbers.
Lower lowering_of_numbers(const Node& node);
/// The type of an input or output that no lowering knows, such as a sequence; empty: there is none.
std::string unknown_type(const Node& node);

/// The number of an element, as flat_place of walk.h, and whether two bytes are the same.
Expr flat_index(const Exprs& at, const Exprs& dims);
Expr equal_bytes(const Expr& a, const Expr& b);

/// Where the element at `at` of a result of shape `out` is in an operand that is broadcast to it.
Exprs broadcast_place(const Exprs& at, const Exprs& out, const Exprs& dims);
}  // namespace ingot::lower
