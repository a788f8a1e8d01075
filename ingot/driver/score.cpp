// A model run on all rows of a file, some at a time.
#include "ingot/driver/score.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include "ingot/base/atomic_file.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/answers.h"
#include "ingot/driver/batch.h"
#include "ingot/driver/dataset.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/predictions.h"
#include "ingot/driver/row_reader.h"
#include "ingot/driver/run.h"
#include "ingot/engine/session.h"
#include "ingot/ir/lean_copy.h"
#include "ingot/passes/infer.h"

namespace ingot::driver {
namespace {

/// The model without the inputs that are the same for all rows, to see what rows must bring.
Model fed_by_rows(const Model& model, const std::vector<NamedDatum>& constant) {
  Model rest = lean_copy(model);
  for (Value* v : rest.graph->inputs())
    if (std::ranges::find(constant, v->name(), &NamedDatum::name) != constant.end()) v->initializer = Tensor::ints({0});
  return rest;
}

/// Whether what a row gives depends on the rows beside it: such a model must see all of them at once.
bool couples_rows(const Model& model) {
  return std::ranges::find(model.metadata, std::pair<std::string, std::string>("ingot.rows", "coupled")) !=
         model.metadata.end();
}

/// As many rows as keep the widest value of the model small, so that a forest is not fetched anew for every few rows. Of
/// a model that does not tell how wide it is, the usual few.
std::uint64_t rows_at_a_time(const Model& fed) {
  constexpr std::uint64_t kFew = 64, kMany = 4096, kNumbers = std::uint64_t{1} << 22;
  Model known = lean_copy(fed);
  passes::InferOptions options;
  options.tolerate_errors = true;
  passes::infer(known, options);
  std::uint64_t widest = 1;
  const auto fits = [&](const Value& value) {
    if (!value.type.is_tensor() || !value.type.shape) return false;
    std::uint64_t width = 1;
    for (std::size_t i = 0; i < value.type.shape->size(); ++i) {
      const Dim& dim = (*value.type.shape)[i];
      if (!dim.is_known() && i > 0) return false;
      if (dim.is_known()) width *= std::clamp<std::uint64_t>(static_cast<std::uint64_t>(dim.value()), 1, kNumbers);
      if (width > kNumbers) return false;
    }
    widest = std::max(widest, width);
    return true;
  };
  for (const Value* input : known.graph->inputs())
    if (!fits(*input)) return kFew;
  for (const GraphPlace& place : all_graphs(known))
    for (const Node& node : place.graph->nodes())
      for (const Value* output : node.outputs())
        if (output && !fits(*output)) return kFew;
  return std::clamp(kNumbers / widest, kFew, kMany);
}

class Scoring {
 public:
  explicit Scoring(const ScoreRequest& request) : request_(request) {
    refuse_overwriting(request.model, request.out);
    if (std::filesystem::is_regular_file(request.data)) refuse_overwriting(request.data, request.out);
    model_ = load(request.model, request.load).model;
    set_input_shapes(model_, request.input_shapes);
    constant_ = load_inputs(model_, request.inputs, request.load).values;
    fed_ = fed_by_rows(model_, constant_);
    options_ = known_to(fed_, request.dataset);
    const std::string scratch = split_path(request.out).directory;
    rows_ = open_rows(request.data, options_, fed_, request.load, scratch);
    engine::SessionOptions session;
    session.budget = request.load.budget;
    session.threads = request.threads;
    session.is_fast = request.is_fast;
    const std::optional<Model> form = runnable_form(model_);
    session_.emplace(form ? *form : model_, session);
    is_coupled_ = couples_rows(model_);
    const auto fixed = train::fixed_batch(fed_);
    report_.batch = fixed           ? static_cast<std::uint64_t>(*fixed)
                    : is_coupled_   ? std::numeric_limits<std::int64_t>::max()
                    : request.batch ? *request.batch
                                    : rows_at_a_time(fed_);
  }

  ScoreReport run() {
    const Answers answers(model_, options_.preparation(), request_.is_raw);
    const std::unique_ptr<Predictions> out = open_predictions(request_.out);
    for (;;) {
      const int part = part_at(rows_->done());
      if (part > request_.part) break;
      const train::Dataset data = next_rows();
      if (data.count == 0) break;
      if (part < request_.part) continue;
      if (is_coupled_ && report_.batches > 0)
        throw Error(Code::bad_input, "what a row gives depends on the others, and the model takes only " +
                                         std::to_string(report_.batch) + " rows at a time")
            .hint("a model whose number of rows is not fixed takes them all");
      const std::vector<NamedDatum> outputs = run_batch(data, data.count - 1);
      require_own_rows(data, outputs);
      out->add(kept(), answers.of(outputs, data.count, padded(data.count)));
      report_.rows += static_cast<std::uint64_t>(data.count);
      ++report_.batches;
      if (request_.on_progress) request_.on_progress(rows_->done(), rows_->total());
    }
    if (report_.rows == 0 && request_.part == 0)
      throw Error(Code::bad_input, "there are no rows").in_file(request_.data);
    if (report_.rows > 0) out->commit();
    if (is_coupled_) report_.batch = report_.rows;
    add_notes();
    return report_;
  }

 private:
  /// The part of the data that begins so far into it; what cannot be divided is one.
  int part_at(std::uint64_t done) const {
    const double total = static_cast<double>(rows_->total());
    if (is_coupled_ || total == 0) return 0;
    return std::min(request_.parts - 1,
                    static_cast<int>(static_cast<double>(done) / total * static_cast<double>(request_.parts)));
  }

  train::Dataset next_rows() try { return rows_->next(report_.batch); } catch (Error& error) {
    error.in_file(request_.data);
    throw;
  }

  std::int64_t padded(std::int64_t rows) const {
    return train::fixed_batch(fed_) ? static_cast<std::int64_t>(report_.batch) : rows;
  }

  /// What stands in for missing rows must not change what those at hand give: the first one instead of the last.
  void require_own_rows(const train::Dataset& data, const std::vector<NamedDatum>& outputs) {
    const std::int64_t rows = padded(data.count);
    if (rows == data.count) return;
    const std::vector<NamedDatum> others = run_batch(data, 0);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Array *one = outputs[i].value.array(), *other = others[i].value.array();
      if (!one || !other || one->dims().empty() || one->dims()[0] != rows || are_alike(*one, *other, data.count)) continue;
      throw Error(Code::unsupported_setting,
                  "output '" + outputs[i].name + "' gives a row what depends on the others, and the model takes " +
                      std::to_string(rows) + " rows at a time, of which the last " + std::to_string(rows - data.count) +
                      " are missing")
          .hint("give as many rows as are a multiple of " + std::to_string(rows));
    }
  }

  std::vector<NamedDatum> run_batch(const train::Dataset& data, std::int64_t stand_in) {
    // Where the model takes so many at a time, a row stands in for those that are missing.
    std::vector<std::int64_t> examples(static_cast<std::size_t>(padded(data.count)));
    for (std::size_t i = 0; i < examples.size(); ++i)
      examples[i] = static_cast<std::int64_t>(i) < data.count ? static_cast<std::int64_t>(i) : stand_in;
    std::vector<NamedDatum> batch;
    try {
      batch = train::batch_of(data, fed_, {}, examples);
    } catch (Error& error) {
      error.in_file(request_.data);
      throw;
    }
    std::uint64_t bytes = 0;
    for (const NamedDatum& datum : batch) bytes += datum.value.array()->byte_size();
    std::optional<Budget::MemoryGuard> guard;
    if (request_.load.budget) guard.emplace(*request_.load.budget, bytes);
    batch.insert(batch.end(), constant_.begin(), constant_.end());
    return session_->run(batch);
  }

  Predictions::Kept kept() const {
    Predictions::Kept kept;
    for (const std::string& name : rows_->own_columns()) kept.emplace_back(name, rows_->column(name));
    for (const std::string& name : request_.keep) kept.emplace_back(name, rows_->column(name));
    return kept;
  }

  void add_notes() {
    report_.notes = rows_->notes();
    if (is_coupled_) report_.notes.push_back("rows depend on one another, so all of them went in at once");
    const auto fixed = train::fixed_batch(fed_);
    if (fixed && std::cmp_not_equal(*fixed, request_.batch.value_or(0)) && *fixed > 1)
      report_.notes.push_back("the model takes " + std::to_string(*fixed) + " rows at a time");
  }

  const ScoreRequest& request_;
  Model model_, fed_;
  std::vector<NamedDatum> constant_;
  train::DatasetOptions options_;
  std::unique_ptr<RowReader> rows_;
  std::optional<engine::Session> session_;
  ScoreReport report_;
  bool is_coupled_ = false;
};

}  // namespace

ScoreReport score(const ScoreRequest& request) try { return Scoring(request).run(); } catch (Error& error) {
  error.in_file(request.model);
  throw;
}

}  // namespace ingot::driver
