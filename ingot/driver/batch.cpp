// Another batch, and the proof that examples do not mix.
#include "ingot/driver/batch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/run.h"
#include "ingot/passes/change_batch.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::driver {
namespace {

using Rows = std::vector<std::int64_t>;

constexpr std::int64_t kOpenBatch = 3;  // what a batch that is left open is tried with, for each example of the old one

/// The examples at `rows` of an array that has them along `axis`.
Array picked(const Array& all, const Rows& rows, std::size_t axis = 0) {
  Dims dims = all.dims();
  const std::int64_t count = dims[axis];
  dims[axis] = static_cast<std::int64_t>(rows.size());
  Array some(all.dtype(), dims);
  if (all.size() == 0 || some.size() == 0) return some;
  const std::int64_t row = tensor_size(Dims(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end()));
  const std::int64_t outer = all.size() / count / row;
  dispatch(all.dtype(), Any{}, [&]<class T>() {
    const auto from = all.data<T>();
    auto to = some.mutable_data<T>().begin();
    for (std::int64_t i = 0; i < outer; ++i)
      for (const std::int64_t r : rows) to = std::copy_n(from.begin() + (i * count + r) * row, row, to);
  });
  return some;
}

/// Where an output has the examples: the only axis that grew with them. Each may have several rows there.
std::optional<std::size_t> batch_axis(const Dims& few, const Dims& all, std::int64_t old, std::int64_t now) {
  std::optional<std::size_t> axis;
  if (few.size() != all.size()) return axis;
  for (std::size_t i = 0; i < few.size(); ++i) {
    if (few[i] == all[i]) continue;
    if (axis || few[i] % old != 0 || all[i] != few[i] / old * now) return std::nullopt;
    axis = i;
  }
  return axis;
}

/// Whether they are the same but for rounding, which may fall another way where more is computed at once.
bool are_alike(const Array& a, const Array& b) {
  if (a.dims() != b.dims() || a.dtype() != b.dtype()) return false;
  if (a.dtype() == DType::string || is_complex(a.dtype())) return true;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double scale = 0;
  for (const double v : x)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  const bool is_short = a.dtype() == DType::f16 || a.dtype() == DType::bf16;
  const double allowed = is_float(a.dtype()) ? scale * (is_short ? 1e-2 : 1e-4) : 0;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    differ += !(std::abs(x[i] - y[i]) <= allowed) && !(x[i] == y[i]) && !(std::isnan(x[i]) && std::isnan(y[i]));
  return differ * 100 <= (is_float(a.dtype()) ? 0 : x.size());
}

struct Pair {
  const Model& before;
  Model after;  // with a batch that is a number
  std::int64_t old, now;
  std::vector<std::string> batched{};  // inputs
};

Pair pair_of(const Model& before, const Model& model, std::int64_t old) {
  Pair pair{before, model.clone(), old, old * kOpenBatch};
  for (const Value* v : model.graph->inputs()) {
    const Value* was = before.graph->find(v->name());
    if (!was || !was->type.shape || was->type == v->type) continue;
    pair.batched.push_back(v->name());
    if (const auto n = v->type.shape->front().as_int()) pair.now = *n;
  }
  for (const std::string& name : pair.batched) pair.after.graph->find(name)->type.shape->front() = pair.now;
  return pair;
}

std::vector<NamedDatum> run_once(const Model& model, const std::vector<NamedDatum>& inputs, Budget* budget) {
  const std::optional<Model> form = runnable_form(model);
  return engine::Session(form ? *form : model, {.budget = budget}).run(inputs);
}

/// Runs the first and the last examples of the new batch in the old one; returns what differs, or nothing.
std::string difference(const Pair& pair, Budget* budget) {
  const std::vector<NamedDatum> inputs = random_inputs(pair.after, 1);
  const std::vector<NamedDatum> all = run_once(pair.after, inputs, budget);
  for (const std::int64_t start : {std::int64_t{0}, pair.now - 1}) {
    Rows rows;
    for (std::int64_t i = 0; i < pair.old; ++i) rows.push_back((start + i) % pair.now);
    std::vector<NamedDatum> few = inputs;
    for (NamedDatum& input : few)
      if (const Array* array = input.value.array(); array && std::ranges::count(pair.batched, input.name))
        input.value = picked(*array, rows);
    const std::vector<NamedDatum> alone = run_once(pair.before, few, budget);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const Array *x = alone[i].value.array(), *y = all[i].value.array();
      const auto axis = x && y ? batch_axis(x->dims(), y->dims(), pair.old, pair.now) : std::nullopt;
      if (!axis) return "output '" + alone[i].name + "' has no batch";
      Rows of_output;
      const std::int64_t each = x->dims()[*axis] / pair.old;
      for (const std::int64_t row : rows)
        for (std::int64_t k = 0; k < each; ++k) of_output.push_back(row * each + k);
      if (!are_alike(*x, picked(*y, of_output, *axis))) return "output '" + alone[i].name + "' mixes examples";
    }
  }
  return {};
}

std::vector<std::string> changed(Model& model, const Dim& batch, passes::BatchGuess guess, Budget* budget) {
  const std::optional<std::int64_t> old = passes::fixed_batch(model);
  const Model before = model.clone();
  std::vector<std::string> notes = passes::change_batch(model, batch, guess);
  if (!old || *old == 0 || (batch.is_known() && batch.value() == *old)) return notes;
  std::string why;
  try {
    why = difference(pair_of(before, model, *old), budget);
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;  // limits, interrupts
    if (error.code() != Code::no_kernel) {
      why = error.node().empty() ? error.message()
                                 : "node '" + error.node() + "' (" + error.op() + "): " + error.message();
    } else {
      notes.push_back("batch: not tried, since Ingot does not run the model: " + error.message());
      return notes;
    }
  }
  if (!why.empty())
    throw Error(Code::unsupported_setting, "the batch cannot be changed: " + why)
        .hint("export the model with a batch that is open");
  notes.push_back("batch: each example gives what it gave before, as Ingot runs both");
  return notes;
}

}  // namespace

bool are_alike(const Array& a, const Array& b, std::int64_t rows) {
  Rows first(static_cast<std::size_t>(rows));
  std::iota(first.begin(), first.end(), 0);
  return a.dims() == b.dims() && are_alike(picked(a, first), picked(b, first));
}

std::vector<std::string> change_batch(Model& model, const Dim& batch, Budget* budget) {
  if (passes::fixed_batch(model)) passes::inline_functions(model, budget);  // what a body fixes is for one call
  const Model before = model.clone();
  try {
    return changed(model, batch, passes::BatchGuess::outer, budget);
  } catch (const Error& error) {
    if (error.code() != Code::unsupported_setting) throw;
    for (const passes::BatchGuess guess : {passes::BatchGuess::inner, passes::BatchGuess::earliest}) {
      Model other = before.clone();
      try {
        std::vector<std::string> notes = changed(other, batch, guess, budget);
        model = std::move(other);
        return notes;
      } catch (const Error& second) {
        if (second.exit_code() == 5) throw;
      }
    }
    throw;
  }
}

}  // namespace ingot::driver
