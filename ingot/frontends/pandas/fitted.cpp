// What a program takes from the sample, and what couples rows.
#include <algorithm>
#include <cmath>
#include <map>

#include "ingot/frontends/pandas/translator.h"

namespace ingot::frontends::pandas {

std::string text_of(const Constant& c) {
  if (c.is(Constant::Kind::text)) return c.text;
  std::string made = std::to_string(c.number);
  made.erase(made.find_last_not_of('0') + 1);
  if (made.back() == '.') made += c.is(Constant::Kind::real) ? "0" : "";
  if (made.back() == '.') made.pop_back();
  return made;
}

std::optional<double> aggregated(std::vector<double> values, const std::string& what, double q) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  const auto n = static_cast<double>(values.size());
  if (what == "count") return n;
  double sum = 0;
  for (const double v : values) sum += v;
  if (what == "sum") return sum;
  if (values.empty()) return std::nan("");
  if (what == "mean") return sum / n;
  if (what == "min") return *std::ranges::min_element(values);
  if (what == "max") return *std::ranges::max_element(values);
  if (what == "var" || what == "std") {
    double squares = 0;
    for (const double v : values) squares += (v - sum / n) * (v - sum / n);
    const double variance = squares / (n - 1);
    return what == "var" ? variance : std::sqrt(variance);
  }
  std::ranges::sort(values);
  if (what == "median") q = 0.5;
  if (what == "median" || what == "quantile") {
    if (!(q >= 0 && q <= 1)) return std::nullopt;
    const double at = q * (n - 1);
    const auto low = static_cast<std::size_t>(at), high = std::min(low + 1, values.size() - 1);
    return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
  }
  if (what == "nunique") {
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return static_cast<double>(values.size());
  }
  return std::nullopt;
}

Sample Translator::on_sample(const Column& c, const Place& place) {
  if (!options_.on_sample) {
    problem(place, "this is fitted to a sample: give one with --data");
    return {};
  }
  Graph& graph = *model_.graph;
  Value* shown = g.op("Identity", {c.value});
  graph.add_output(shown);
  Sample sample = options_.on_sample(model_);
  graph.resize_outputs(0);
  return sample;
}

Thing Translator::aggregate(const Column& c, const std::string& what, double q, const Place& place) {
  const Sample sample = on_sample(c, place);
  if (sample.numbers.empty() && sample.texts.empty()) return {};
  notes_.add("'" + what + "' of a column is that of the sample");
  if (what == "mode") {
    std::map<double, int> numbers;
    std::map<std::string, int> texts;
    for (const double v : sample.numbers)
      if (!std::isnan(v)) ++numbers[v];
    for (const std::string& v : sample.texts)
      if (!v.empty()) ++texts[v];
    Constant list{.kind = Constant::Kind::list};
    const auto most = [](const auto& counts) {
      return std::ranges::max_element(counts, {}, [](const auto& e) { return e.second; });
    };
    if (!numbers.empty()) list.items.push_back(number(most(numbers)->first));
    if (!texts.empty()) list.items.push_back(text(most(texts)->first));
    return Thing::of(list);
  }
  if (sample.numbers.empty()) return not_translated(place, "'" + what + "' of texts");
  const auto found = aggregated(sample.numbers, what, q);
  if (!found) return not_translated(place, "'" + what + "'");
  const bool is_whole = c.value->type.elem == DType::i64 && (what == "min" || what == "max" || what == "sum");
  return Thing::of(is_whole || what == "nunique" || what == "count" ? integer(*found) : number(*found));
}

Thing Translator::row_aggregate(Value* numbers, const std::string& what, int rows, const Place& place) {
  const auto over_rows = [&](Value* v) { return g.op("ReduceSum", {v, g.ints({1})}, {{"keepdims", 1}}); };
  Value* gaps = g.op("IsNaN", {numbers});
  Value* count = over_rows(as(DType::f64, g.op("Not", {gaps})));
  const auto without = [&](double stands_in) { return g.where(gaps, g.scalar(stands_in, DType::f64), numbers); };
  Value* sum = over_rows(without(0));
  if (what == "sum") return Thing::of(Column{sum, rows});
  if (what == "mean") return Thing::of(Column{g.div(sum, count), rows});
  if (what != "min" && what != "max") return not_translated(place, "'" + what + "' of rows");
  Value* edge = what == "min" ? g.op("ReduceMin", {without(HUGE_VAL), g.ints({1})}, {{"keepdims", 1}})
                              : g.op("ReduceMax", {without(-HUGE_VAL), g.ints({1})}, {{"keepdims", 1}});
  Value* is_empty = g.op("Equal", {count, g.scalar(0, DType::f64)});
  return Thing::of(Column{g.where(is_empty, g.scalar(std::nan(""), DType::f64), edge), rows});
}

Thing Translator::shifted(const Column& c, std::int64_t by, const Place& place) {
  if (std::abs(by) > 1'000'000) return problem(place, "it is shifted too far");
  couples_rows_ = true;
  const bool is_text = c.value->type.elem == DType::string;
  if (is_text) return not_translated(place, "'shift' of texts");
  if (by == 0) return Thing::of(c);
  Value* v = real(c);
  const auto size = std::abs(by);
  // Rows from the other end give way to as many that are missing; of fewer rows all are.
  Value* gap = g.constant(Tensor::of<double>({1, 1}, {std::nan("")}));
  Value* gaps = g.op("Expand", {gap, g.constant(Tensor::ints({size, 1}))});
  Value* count = g.op("Slice", {g.shape(v), g.ints({0}), g.ints({1})});
  Value* all = by > 0 ? g.concat({gaps, v}, 0) : g.concat({v, gaps}, 0);
  Value* begin = by > 0 ? g.ints({0}) : g.ints({size});
  Value* end = g.add(begin, count);
  return Thing::of(Column{g.op("Slice", {all, begin, end, g.ints({0})}), c.rows});
}

Thing Translator::windowed(const Column& c, std::int64_t size, const std::string& what, const Place& place) {
  if (size < 1 || size > 1000) return problem(place, "a window has 1 to 1000 rows");
  couples_rows_ = true;
  Values parts;
  for (std::int64_t i = 0; i < size; ++i) {
    const Thing one = shifted(c, i, place);
    if (!one.is(Thing::Kind::column)) return {};
    parts.push_back(real(one.column));
  }
  Value* all = parts.size() == 1 ? parts[0] : g.concat(parts, 1);
  const Attrs keep = {{"keepdims", 1}};
  if (what == "sum") return Thing::of(Column{g.op("ReduceSum", {all, g.ints({1})}, keep), c.rows});
  if (what == "mean") return Thing::of(Column{g.op("ReduceMean", {all, g.ints({1})}, keep), c.rows});
  if (what != "min" && what != "max") return not_translated(place, "'" + what + "' of windows");
  // NaN wins, as a window with a gap has no extreme.
  Value* gap = g.op("IsNaN", {g.op("ReduceSum", {all, g.ints({1})}, keep)});
  Value* edge =
      what == "min" ? g.op("ReduceMin", {all, g.ints({1})}, keep) : g.op("ReduceMax", {all, g.ints({1})}, keep);
  return Thing::of(Column{g.where(gap, g.scalar(std::nan(""), DType::f64), edge), c.rows});
}

}  // namespace ingot::frontends::pandas
