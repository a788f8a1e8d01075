#pragma once
#include <map>
#include <optional>
#include <span>

#include "ingot/formats/python/syntax.h"
#include "ingot/frontends/notes.h"
#include "ingot/frontends/pandas/import.h"
#include "ingot/frontends/pandas/thing.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::pandas {

using formats::python::Expr;
using formats::python::Expression;
using formats::python::Place;
using formats::python::Statement;

class Translator;

/// Mean, median, ... of numbers without those missing; nothing: it is not known.
std::optional<double> aggregated(std::vector<double> values, const std::string& what, double q);
/// As Python prints it.
std::string text_of(const Constant& c);

/// The arguments of a call, evaluated.
class Arguments {
 public:
  std::vector<std::pair<std::string, Thing>> all{};
  std::vector<Expr> expressions{};  // of the same numbers
  Place place{};

  /// By name, or by its place among those without one; null: it was not given.
  const Thing* find(std::string_view name, std::size_t at = SIZE_MAX) const;
  Expr expression(std::string_view name, std::size_t at) const;
  /// The first name that is none of these; empty: there is none.
  std::string unknown(std::initializer_list<std::string_view> known) const;
};

/// Walks a program and builds the graph. What is not translated is noted as a problem, and the walk goes on.
class Translator {
 public:
  Translator(Model& model, const ImportOptions& options);

  void run(const std::vector<Statement>& program);
  void finish();
  std::vector<std::string> take_notes() { return notes_.take(); }

  GraphBuilder g;

  // Problems. They return what is unknown.
  Thing problem(const Place& place, const std::string& what);
  Thing not_translated(const Place& place, const std::string& what) {
    return problem(place, what + " is not translated");
  }

  /// Nothing is said of a frame that is only guessed.
  Thing no_column(const Frame& frame, const std::string& name, const Place& place);

  // Columns.
  Value* as(DType type, Value* v) { return g.cast(v, type); }
  Value* real(const Column& c) { return as(DType::f64, c.value); }
  Value* constant(const Constant& c, DType type);
  /// A thing as a column of these rows; constants are spread. Nothing: it is no column, and the problem is told.
  std::optional<Column> column_of(const Thing& thing, const Column& like, const Place& place);
  Value* is_missing(const Column& c);
  Column filled(const Column& c, const Thing& with, const Place& place);
  Thing arithmetic(const std::string& sign, const Thing& a, const Thing& b, const Place& place);
  Thing compared(const std::string& sign, const Thing& a, const Thing& b, const Place& place);
  Thing logic(const std::string& sign, const Thing& a, const Thing& b, const Place& place);
  Column chosen(Value* condition, const Column& yes, const Column& no);
  Column cast_to(const Column& c, const std::string& type, const Place& place);
  Column looked_up(const Column& c, const Constant& dict, bool keeps_others, const Place& place);
  Column member_of(const Column& c, const Constant& list);
  Column length_of(const Column& c);
  /// The first part of each text that an expression matches, which never matches nothing.
  Column part_of(const Column& c, const std::string& expression);
  Thing sliced(const Column& c, const std::optional<double>& begin, const std::optional<double>& end,
               const Place& place);
  Column piece_of(const Column& c, const std::string& by, std::int64_t at);
  Thing unary_function(const std::string& name, const Thing& x, const Place& place);
  Thing shifted(const Column& c, std::int64_t by, const Place& place);
  Thing windowed(const Column& c, std::int64_t size, const std::string& what, const Place& place);
  /// Mean, median, ... of a column on the sample.
  Thing aggregate(const Column& c, const std::string& what, double q, const Place& place);
  /// Of the numbers [N, columns], without those missing.
  Thing row_aggregate(Value* numbers, const std::string& what, int rows, const Place& place);
  Sample on_sample(const Column& c, const Place& place);

  // Calls, by what they are of.
  Thing column_method(const Column& c, const std::string& name, const Arguments& arguments);
  Thing text_method(const Column& c, const std::string& name, const Arguments& arguments);
  Thing time_attribute(const Column& c, const std::string& name, const Place& place);
  Thing frame_method(const Thing& thing, const std::string& name, const Arguments& arguments);
  Thing pandas_function(const std::string& name, const Arguments& arguments);
  Thing numpy_function(const std::string& name, const Arguments& arguments);
  Thing cut(const Arguments& arguments);
  Thing quantile_cut(const Arguments& arguments);
  Thing dummies(const Arguments& arguments);
  Thing merged(const Frame& frame, const Arguments& arguments);
  Thing grouped(const Thing& groups, const Arguments& arguments);
  Thing selected(const Arguments& arguments);
  Thing side_by_side(const Arguments& arguments);
  Thing applied(const Expr& function, const Thing& to, const Place& place);

  Thing value_of(const Expr& e);

 private:
  Thing item_of(const Expr& e);
  Thing attribute_of(const Expr& e);
  Thing call_of(const Expr& e);
  Thing choice_of(const Expr& e);
  Thing list_of(const Expr& e);
  bool is_function(const Expr& e) const;
  void statement(const Statement& s);
  void loop(const Statement& s);
  void share(Expr target);
  void assign(const Expr& target, const Thing& value);
  void assign_rows(const Expr& target, const Thing& value);
  void body_of(const Statement& function);
  Frame input_frame();
  /// "pandas.cut" for pd.cut after `import pandas as pd`; empty: it is no function of a module.
  std::string module_path(const Expr& e) const;
  Column bins_of(const Column& x, const std::vector<double>& edges, bool is_right, bool has_lowest);
  Thing labelled(const Column& bins, std::size_t count, const Thing* labels, const std::vector<double>& edges,
                 bool is_right, const Place& place);

  Model& model_;
  const ImportOptions& options_;
  std::vector<std::pair<Place, std::string>> problems_;
  std::map<std::string, Thing> names_;
  std::map<std::string, std::string> modules_;
  std::map<std::string, int> identities_;  // of frames: names of the same number are names of the same frame
  int objects_ = 0;
  Notes notes_;
  std::optional<Thing> result_;
  std::string last_name_;
  int rows_ = 0, depth_ = 0, rounds_ = 0;
  bool couples_rows_ = false;
};

}  // namespace ingot::frontends::pandas
