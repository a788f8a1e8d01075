// Values of a pipeline on their way: inputs, columns, constants.
#include "ingot/frontends/sklearn/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/table.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/known.h"

namespace ingot::frontends::sklearn {
namespace {

constexpr int kMostNested = 50;
constexpr std::size_t kMostEstimators = 100'000;

}  // namespace

void refuse(const std::string& why, const std::string& remedy) {
  Error error(Code::unsupported_setting, why);
  if (!remedy.empty()) error.hint(remedy);
  throw error;
}

std::int64_t width_of(const Columns& columns) {
  std::int64_t width = 0;
  for (const Part& part : columns) width += part.width;
  return width;
}

Context::Context(Graph& graph, const pickle::Document& doc, const Options& options)
    : g(graph), document(doc), elem(options.elem), wants_paths(options.wants_paths), graph_(graph) {}

Columns Context::add_input(const std::string& name, std::int64_t width) {
  const Type type = Type::tensor(elem, Shape{Dim::symbol("N"), width > 0 ? Dim(width) : Dim::symbol("features")});
  inputs_.push_back({graph_.add_input(graph_.fresh_name(name), type), false});
  return {{.value = nullptr, .input = inputs_.size() - 1, .width = width, .name = width == 1 ? name : ""}};
}

Value* Context::realise(const Part& part, DType wanted) {
  if (part.value) return part.value;
  Input& input = inputs_[part.input];
  if (!input.is_read) input.value->type.elem = wanted;
  input.is_read = true;
  return input.value;
}

void Context::finish_inputs() {
  std::string names;
  std::unordered_set<const Value*> unread;
  for (const Input& input : inputs_) {
    if (input.is_read) continue;
    unread.insert(input.value);
    names += (names.empty() ? "" : ", ") + input.value->name();
  }
  if (unread.empty()) return;
  notes.add("columns that the model does not read: " + names);
  graph_.erase_inputs_if([&](const Value& value) { return unread.contains(&value); });
}

Value* Context::any(const Columns& columns) {
  bool has_text = false;
  for (const Part& part : columns) has_text |= part.value && part.value->type.elem == DType::string;
  return has_text ? texts(columns) : numbers(columns);
}

Value* Context::numbers(const Columns& columns) {
  Values parts;
  for (const Part& part : columns) parts.push_back(g.cast(realise(part, elem), elem));
  if (parts.empty()) refuse("no columns are left");
  return parts.size() == 1 ? parts[0] : g.concat(parts, 1);
}

Value* Context::texts(const Columns& columns) {
  Values parts;
  for (const Part& part : columns) parts.push_back(g.cast(realise(part, DType::string), DType::string));
  if (parts.empty()) refuse("no columns are left");
  return parts.size() == 1 ? parts[0] : g.concat(parts, 1);
}

Columns Context::columns_of(Value* value) {
  const auto width = dim_of(value, 1);
  if (!width) refuse("the number of columns is not known");
  return {{.value = value, .input = 0, .width = *width}};
}

Columns Context::select(const Columns& columns, const std::vector<std::int64_t>& places) {
  Columns chosen;
  std::size_t i = 0;
  while (i < places.size()) {
    // Which part, and where in it.
    std::int64_t at = places[i];
    const Part* part = nullptr;
    std::int64_t begin = 0;
    for (const Part& p : columns) {
      if (at >= begin && at < begin + p.width) {
        part = &p;
        break;
      }
      begin += p.width;
    }
    if (!part) throw Error(Code::bad_source_graph, fmt::format("there is no column {}", at));
    std::vector<std::int64_t> inside;
    while (i < places.size() && places[i] >= begin && places[i] < begin + part->width)
      inside.push_back(places[i++] - begin);
    bool is_whole = std::ssize(inside) == part->width;
    for (std::size_t k = 0; k < inside.size() && is_whole; ++k) is_whole = inside[k] == static_cast<std::int64_t>(k);
    if (is_whole) {
      chosen.push_back(*part);
      continue;
    }
    Value* picked = g.op("Gather", {realise(*part, elem), g.ints(inside)}, {{"axis", 1}});
    chosen.push_back({.value = picked, .input = 0, .width = std::ssize(inside)});
  }
  return chosen;
}

Columns Context::by_names(const Columns& columns, const std::vector<std::string>& names) {
  Columns chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(columns, name, &Part::name);
    if (found == columns.end()) throw Error(Code::bad_source_graph, "there is no column '" + name + "'");
    chosen.push_back(*found);
  }
  return chosen;
}

Value* Context::number(double value) { return g.scalar(value, elem); }
Value* Context::row(const std::vector<double>& values) { return constant_of(g, {1, std::ssize(values)}, values, elem); }
Value* Context::matrix(const Matrix& m) { return constant_of(g, {m.rows, m.columns}, m.values, elem); }

Value* Context::constant(const Labels& labels) {
  const Dims dims = {static_cast<std::int64_t>(labels.size())};
  if (labels.is_text()) return g.constant(Tensor::of_strings(dims, labels.texts));
  if (labels.kind == 'f') return constant_of(g, dims, labels.numbers, elem);
  std::vector<std::int64_t> ints;
  for (const double v : labels.numbers) ints.push_back(static_cast<std::int64_t>(v));
  Value* made = g.constant(Tensor::ints(ints));
  return labels.kind == 'b' ? g.cast(made, DType::boolean) : made;
}

Value* Context::linear(Value* x, const Matrix& coefficients, const std::vector<double>& intercepts) {
  Value* product = g.op("MatMul", {x, matrix(coefficients.turned())});
  bool is_zero = true;
  for (const double b : intercepts) is_zero &= b == 0;
  return is_zero ? product : g.add(product, row(intercepts));
}

Value* Context::sum_rows(Value* x) { return g.reduce_sum(x, {1}); }
Value* Context::arg_max(Value* scores) { return g.op("ArgMax", {scores}, {{"axis", 1}, {"keepdims", 0}}); }
Value* Context::softmax(Value* scores) { return g.op("Softmax", {scores}, {{"axis", 1}}); }
Value* Context::sigmoid(Value* x) { return g.op("Sigmoid", {x}); }

Value* Context::normalised(Value* x) {
  const auto classes = dim_of(x, 1);
  Value* total = sum_rows(x);
  Value* is_zero = g.op("Equal", {total, g.scalar(0, x->type.elem)});
  Value* safe = g.where(is_zero, g.scalar(1, x->type.elem), total);
  Value* divided = g.div(x, safe);
  if (!classes) return divided;
  return g.where(is_zero, g.scalar(1.0 / static_cast<double>(*classes), x->type.elem), divided);
}

Value* Context::column(Value* x, std::int64_t i) { return g.op("Gather", {x, g.ints({i})}, {{"axis", 1}}); }
Value* Context::is_nan(Value* x) { return g.op("IsNaN", {x}); }

Value* Context::one_hot(Value* place, std::int64_t depth) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(depth));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  Value* all = g.constant(Tensor::ints(numbers).reshaped({1, depth}));
  return g.cast(g.op("Equal", {g.unsqueeze(place, {1}), all}), elem);
}

Value* Context::square_distances(Value* x, const Matrix& points) {
  Value* all = constant_of(g, {1, points.rows, points.columns}, points.values, elem);
  return g.op("ReduceSumSquare", {g.sub(g.unsqueeze(x, {1}), all), g.ints({2})}, {{"keepdims", 0}});
}

namespace {

/// Where an estimator's nodes come from, and an error's place.
template <class Function>
auto within(Context& c, int& depth, std::size_t& count, const Estimator& e, const char* stage, const Function& f) {
  if (depth >= kMostNested) throw Error(Code::depth_limit, "estimators are nested too deeply");
  if (++count > kMostEstimators) throw Error(Code::node_limit, "there are too many estimators");
  struct Level {
    explicit Level(int& d) : depth(d) { ++depth; }
    ~Level() { --depth; }
    int& depth;
  } level(depth);
  const std::string name(e.name());
  c.g.name_after(name);
  c.g.set_metadata({{std::string(kSourceOp), name}, {"ingot.stage", stage}});
  try {
    return f(row_of(e));
  } catch (Error& error) {
    error.in_node(name, "sklearn");
    throw;
  }
}

}  // namespace

Result Context::predict(const Estimator& e, const Columns& x) {
  return within(*this, depth_, count_, e, "model", [&](const Row& row) {
    if (!row.predict) refuse("it transforms and does not predict");
    return row.predict(*this, e, x);
  });
}

Columns Context::transform(const Estimator& e, const Columns& x) {
  return within(*this, depth_, count_, e, "preprocess", [&](const Row& row) {
    if (!row.transform) refuse("it predicts and does not transform");
    return row.transform(*this, e, x);
  });
}

Value* Context::label_of(const Result& result) {
  if (result.label) return result.label;
  if (!result.place) return nullptr;
  return g.op("Gather", {constant(result.classes), result.place}, {{"axis", 0}});
}

}  // namespace ingot::frontends::sklearn
