// Walks the statements of a program over a data frame.
#include "ingot/frontends/pandas/translator.h"

#include <algorithm>

#include "ingot/base/error.h"

namespace ingot::frontends::pandas {
namespace {

constexpr std::size_t kMostProblems = 200;
constexpr int kMostRounds = 10'000;

DType elem_of(ColumnType type) {
  switch (type) {
    case ColumnType::real:
      return DType::f64;
    case ColumnType::integer:
      return DType::i64;
    case ColumnType::boolean:
      return DType::boolean;
    case ColumnType::text:
      return DType::string;
  }
  return DType::f64;
}

}  // namespace

const Thing* Arguments::find(std::string_view name, std::size_t at) const {
  std::size_t position = 0;
  for (const auto& [own, thing] : all) {
    if (!own.empty() && own == name) return &thing;
    if (own.empty() && position++ == at) return &thing;
  }
  return nullptr;
}

std::string Arguments::unknown(std::initializer_list<std::string_view> known) const {
  for (const auto& [own, thing] : all)
    if (!own.empty() && std::ranges::find(known, own) == known.end()) return own;
  return {};
}

Translator::Translator(Model& model, const ImportOptions& options)
    : g(*model.graph), model_(model), options_(options) {}

Thing Translator::problem(const Place& place, const std::string& what) {
  const auto is_same = [&](const auto& p) {
    return p.first.line == place.line && p.first.column == place.column && p.second == what;
  };
  if (problems_.size() < kMostProblems && std::ranges::none_of(problems_, is_same)) problems_.emplace_back(place, what);
  return {};
}

Thing Translator::no_column(const Frame& frame, const std::string& name, const Place& place) {
  return frame.is_guess ? Thing{} : problem(place, "there is no column '" + name + "'");
}

Frame Translator::input_frame() {
  Frame frame;
  frame.rows = ++rows_;
  for (const auto& [name, type] : options_.schema) {
    Value* input = model_.graph->find(name);
    if (!input) input = model_.graph->add_input(name, Type::tensor(elem_of(type), Shape{Dim::symbol("N"), Dim(1)}));
    frame.set(name, {.value = input, .rows = frame.rows});
  }
  return frame;
}

/// df.loc[rows, 'column'] = value
void Translator::assign_rows(const Expr& target, const Thing& value) {
  const Expr& of = target->parts[0]->parts[0];
  const Expr& at = target->parts[1];
  const auto found = of->is(Expression::Kind::name) ? names_.find(of->text) : names_.end();
  if (found == names_.end() || !found->second.is(Thing::Kind::frame) || !at->is(Expression::Kind::tuple) ||
      at->parts.size() != 2) {
    not_translated(target->place, "an assignment to this");
    return;
  }
  Frame& frame = found->second.frame;
  const Thing name = value_of(at->parts[1]);
  const bool is_whole = at->parts[0]->is(Expression::Kind::slice);
  const Thing rows = is_whole ? Thing{} : value_of(at->parts[0]);
  if (!name.constant.is(Constant::Kind::text) || frame.columns.empty()) return;
  const auto column = column_of(value, frame.columns[0], target->place);
  if (!column) return;
  if (is_whole) return frame.set(name.constant.text, *column);
  if (!rows.is(Thing::Kind::column) || rows.column.value->type.elem != DType::boolean) {
    problem(target->place, "rows are chosen by something that is not true or false for each");
    return;
  }
  const Column* own = frame.find(name.constant.text);
  Column old{};
  if (own) {
    old = *own;
  } else {
    const Constant nothing = column->value->type.elem == DType::string ? text("") : Constant{};
    old = column_of(Thing::of(nothing), frame.columns[0], target->place).value_or(*column);
  }
  frame.set(name.constant.text, chosen(rows.column.value, *column, old));
}

void Translator::assign(const Expr& target, const Thing& value) {
  using Kind = Expression::Kind;
  if (target->is(Kind::name)) {
    names_[target->text] = value;
    last_name_ = target->text;
    return;
  }
  const bool is_rows =
      target->is(Kind::item) && target->parts[0]->is(Kind::attribute) && target->parts[0]->text == "loc";
  if (is_rows && !value.is(Thing::Kind::unknown)) return assign_rows(target, value);
  const Expr* of = target->is(Kind::item) || target->is(Kind::attribute) ? &target->parts[0] : nullptr;
  const auto found = of && (*of)->is(Kind::name) ? names_.find((*of)->text) : names_.end();
  if (value.is(Thing::Kind::unknown)) {
    if (found != names_.end()) found->second.frame.is_guess = true;  // of whose columns one is not known
    return;
  }
  if (found == names_.end() || !found->second.is(Thing::Kind::frame)) {
    not_translated(target->place, "an assignment to this");
    return;
  }
  Frame& frame = found->second.frame;
  last_name_ = found->first;
  if (target->is(Kind::attribute) && target->text == "columns" && value.constant.is(Constant::Kind::list)) {
    if (value.constant.items.size() != frame.names.size()) {
      problem(target->place, "there must be a name for each column");
      return;
    }
    for (std::size_t i = 0; i < frame.names.size(); ++i) frame.names[i] = value.constant.items[i].text;
    return;
  }
  const Thing name = target->is(Kind::item) ? value_of(target->parts[1]) : Thing::of(text(target->text));
  if (name.constant.is(Constant::Kind::list) && value.is(Thing::Kind::frame) &&
      name.constant.items.size() == value.frame.columns.size()) {
    for (std::size_t i = 0; i < name.constant.items.size(); ++i)
      frame.set(name.constant.items[i].text, value.frame.columns[i]);
    return;
  }
  if (!name.constant.is(Constant::Kind::text) || frame.columns.empty()) {
    not_translated(target->place, "an assignment to this");
    return;
  }
  if (target->is(Kind::attribute) && !frame.find(target->text)) {
    problem(target->place, "an attribute makes no new column: write df['" + target->text + "'] = ...");
    return;
  }
  Thing flat = value;
  if (value.is(Thing::Kind::frame) && value.frame.columns.size() == 1) flat = Thing::of(value.frame.columns[0]);
  if (const auto column = column_of(flat, frame.columns[0], target->place)) frame.set(name.constant.text, *column);
}

namespace {

/// The call without inplace=True; null: it does not change in place.
Expr in_place(const Expr& e) {
  if (!e->is(Expression::Kind::call) || !e->parts[0]->is(Expression::Kind::attribute)) return nullptr;
  auto call = std::make_shared<Expression>(*e);
  call->parts.resize(1);
  call->names.clear();
  bool changes = false;
  for (std::size_t i = 1; i < e->parts.size(); ++i) {
    const Expr& value = e->parts[i];
    if (e->names[i - 1] == "inplace" && value->is(Expression::Kind::constant)) {
      changes = value->text == "True";
      continue;
    }
    call->parts.push_back(value);
    call->names.push_back(e->names[i - 1]);
  }
  return changes ? call : nullptr;
}

}  // namespace

/// Names of one and the same frame see what was changed by another of them.
void Translator::share(Expr target) {
  while ((target->is(Expression::Kind::item) || target->is(Expression::Kind::attribute)) && !target->parts.empty())
    target = target->parts[0];
  const auto own = identities_.find(target->text);
  if (!target->is(Expression::Kind::name) || own == identities_.end()) return;
  for (const auto& [name, identity] : identities_)
    if (identity == own->second && name != own->first) names_[name] = names_[own->first];
}

void Translator::statement(const Statement& s) {
  using Kind = Statement::Kind;
  switch (s.kind) {
    case Kind::nothing:
      return;
    case Kind::import: {
      const std::string root = s.text.substr(0, s.text.find('.'));
      if (root == "__future__" || root == "typing" || root == "warnings") return;
      if (root != "pandas" && root != "numpy") {
        not_translated(s.place, "the module '" + s.text + "'");
        return;
      }
      for (std::size_t i = 0; i < s.names.size(); ++i)
        modules_[s.names[i]] = s.targets.empty() ? s.text : s.text + "." + s.targets[i]->text;
      return;
    }
    case Kind::expression:
      if (const auto changed = in_place(s.value)) {
        assign(s.value->parts[0]->parts[0], value_of(changed));
        share(s.value->parts[0]->parts[0]);
      } else if (!s.value->is(Expression::Kind::text)) {  // what documents it
        const Thing thing = value_of(s.value);
        if (!thing.is(Thing::Kind::unknown)) not_translated(s.place, "a statement whose value is lost");
      }
      return;
    case Kind::assignment: {
      Thing value = value_of(s.value);
      if (!s.text.empty()) value = arithmetic(s.text, value_of(s.targets[0]), value, s.place);
      const bool is_second_name = s.value->is(Expression::Kind::name) && s.text.empty();
      const int identity =
          is_second_name && identities_.contains(s.value->text) ? identities_[s.value->text] : ++objects_;
      for (const Expr& target : s.targets) {
        assign(target, value);
        if (target->is(Expression::Kind::name))
          identities_[target->text] = identity;
        else
          share(target);
      }
      return;
    }
    case Kind::result:
      if (!s.value)
        problem(s.place, "nothing is returned");
      else if (!result_)
        result_ = value_of(s.value);
      return;
    case Kind::loop:
      loop(s);
      return;
    case Kind::function:
      problem(s.place, "a function within another, or a second one");
      return;
    case Kind::other:
      not_translated(s.place, s.text);
      return;
  }
}

/// Over a list of constants: the body once for each, one behind the other.
void Translator::loop(const Statement& s) {
  const Thing over = value_of(s.value);
  if (over.is(Thing::Kind::unknown)) return;
  const bool is_dict = over.constant.is(Constant::Kind::dict);
  if (!over.is(Thing::Kind::constant) || (!is_dict && !over.constant.is(Constant::Kind::list))) {
    not_translated(s.place, "a loop over something else than constants");
    return;
  }
  for (std::size_t i = 0; i < over.constant.items.size(); i += is_dict ? 2 : 1) {
    const Constant& item = over.constant.items[i];
    if (++rounds_ > kMostRounds) {
      problem(s.place, "the loops have more than 10,000 rounds");
      return;
    }
    if (s.names.size() > 1 && item.items.size() != s.names.size()) {
      problem(s.place, "there is not one value for each name");
      return;
    }
    for (std::size_t k = 0; k < s.names.size(); ++k)
      names_[s.names[k]] = Thing::of(s.names.size() > 1 ? item.items[k] : item);
    for (const Statement& inner : s.body) statement(inner);
  }
}

void Translator::body_of(const Statement& function) {
  if (function.names.size() != 1) {
    problem(function.place, "the function must have one parameter, the frame");
    return;
  }
  names_[function.names[0]] = Thing::of(input_frame());
  identities_[function.names[0]] = ++objects_;
  for (const Statement& s : function.body) statement(s);
  if (!result_ && problems_.empty()) problem(function.place, "the function returns nothing");
}

void Translator::run(const std::vector<Statement>& program) {
  const Statement* function = nullptr;
  for (const Statement& s : program) {
    if (s.kind != Statement::Kind::function) {
      if (!function || s.kind == Statement::Kind::other) statement(s);
      continue;
    }
    if (function)
      problem(s.place, "a second function");
    else
      function = &s;
  }
  if (function)
    body_of(*function);
  else if (const auto last = names_.find(last_name_); last != names_.end())
    result_ = last->second;
}

void Translator::finish() {
  std::ranges::stable_sort(problems_, [](const auto& a, const auto& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  std::string all;
  for (const auto& [place, what] : problems_)
    all += (all.empty() ? "" : "\n  ") +
           ("line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": " + what);
  if (!all.empty())
    throw Error(Code::unsupported_operator, all).hint("docs/dataframes.md lists what of pandas is translated");
  Frame frame;
  if (result_ && result_->is(Thing::Kind::frame)) frame = result_->frame;
  if (result_ && result_->is(Thing::Kind::column)) frame.set("result", result_->column);
  if (frame.columns.empty()) throw Error(Code::bad_source_graph, "the program makes no frame and no column");
  Graph& graph = *model_.graph;
  for (std::size_t i = 0; i < frame.names.size(); ++i) {
    Value* out = g.op("Identity", {frame.columns[i].value});
    const std::string name = frame.names[i].empty() ? "column" : frame.names[i];
    graph.rename(out, graph.fresh_name(graph.find(name) ? name + "_out" : name));
    out->is_declared = true;
    graph.add_output(out);
  }
  if (couples_rows_) model_.metadata.push_back({"ingot.rows", "coupled"});
}

}  // namespace ingot::frontends::pandas
