// What a model makes of data it may not have seen.
#include "ingot/train/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/train/new_head.h"

namespace ingot::train {
namespace {

constexpr std::size_t kMostClasses = 1000;  // of a confusion matrix

/// The chance that a random example of class 1 scores higher than one of class 0.
std::optional<double> area_under_curve(const std::vector<std::pair<double, bool>>& scored) {
  std::vector<std::pair<double, bool>> sorted = scored;
  std::ranges::sort(sorted);
  double ranks = 0, positive = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end].first == sorted[i].first) ++end;
    const double rank = static_cast<double>(i + end + 1) / 2;  // ties share the mean of their ranks
    for (; i < end; ++i) {
      if (!sorted[i].second) continue;
      ranks += rank;
      ++positive;
    }
  }
  const double negative = static_cast<double>(sorted.size()) - positive;
  if (positive == 0 || negative == 0) return std::nullopt;
  return (ranks - positive * (positive + 1) / 2) / (positive * negative);
}

double macro_f1(const std::vector<std::vector<std::int64_t>>& confusion) {
  double sum = 0;
  std::size_t seen = 0;
  for (std::size_t c = 0; c < confusion.size(); ++c) {
    std::int64_t is = 0, said = 0;
    for (std::size_t other = 0; other < confusion.size(); ++other) {
      is += confusion[c][other];
      said += confusion[other][c];
    }
    if (is == 0 && said == 0) continue;
    sum += 2 * static_cast<double>(confusion[c][c]) / static_cast<double>(is + said);
    ++seen;
  }
  return seen ? sum / static_cast<double>(seen) : 0;
}

/// Counts what a model said of classes.
class Classes {
 public:
  void add(const Array& scores, const std::vector<std::int64_t>& targets) {
    const std::vector<double> values = scores.to_doubles();
    const auto classes = static_cast<std::size_t>(scores.dims()[1]);
    std::size_t inner = 1;
    for (std::size_t i = 2; i < scores.dims().size(); ++i) inner *= static_cast<std::size_t>(scores.dims()[i]);
    if (confusion_.empty() && classes <= kMostClasses) confusion_.assign(classes, std::vector<std::int64_t>(classes));
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const std::size_t first = t / inner * classes * inner + t % inner;
      const auto score = [&](std::size_t c) { return values[first + c * inner]; };
      if (targets[t] < 0 || static_cast<std::size_t>(targets[t]) >= classes) continue;  // such do not count
      const auto target = static_cast<std::size_t>(targets[t]);
      std::size_t best = 0, above = 0;
      for (std::size_t c = 0; c < classes; ++c) {
        if (score(c) > score(best)) best = c;
        if (score(c) > score(target) || (score(c) == score(target) && c < target)) ++above;
      }
      ++count_;
      hits_ += best == target;
      near_hits_ += above < 5;
      if (!confusion_.empty()) ++confusion_[target][best];
      if (classes == 2) scored_.emplace_back(score(1) - score(0), target == 1);
      most_ = std::max(most_, classes);
    }
  }
  void put(Evaluation& result) const {
    const auto count = static_cast<double>(std::max<std::int64_t>(count_, 1));
    result.accuracy = static_cast<double>(hits_) / count;
    if (most_ > 5) result.top5 = static_cast<double>(near_hits_) / count;
    if (!confusion_.empty()) result.macro_f1 = macro_f1(confusion_);
    result.confusion = confusion_;
    result.area_under_curve = area_under_curve(scored_);
  }

 private:
  std::vector<std::vector<std::int64_t>> confusion_;
  std::vector<std::pair<double, bool>> scored_;
  std::int64_t count_ = 0, hits_ = 0, near_hits_ = 0;
  std::size_t most_ = 0;
};

/// Sums over what a model said of numbers.
struct Numbers {
  double absolute = 0, squares = 0, sum = 0, sum_squares = 0;
  std::int64_t count = 0;

  void add(const Array& scores, const Array& targets) {
    const std::vector<double> ours = scores.to_doubles(), theirs = targets.to_doubles();
    for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
      const double error = ours[i] - theirs[i];
      absolute += std::abs(error);
      squares += error * error;
      sum += theirs[i];
      sum_squares += theirs[i] * theirs[i];
      ++count;
    }
  }
  void put(Evaluation& result) const {
    const auto n = static_cast<double>(std::max<std::int64_t>(count, 1));
    result.mean_absolute_error = absolute / n;
    result.root_mean_square_error = std::sqrt(squares / n);
    const double spread = sum_squares - sum * sum / n;
    if (spread > 0) result.explained = 1 - squares / spread;
  }
};

/// Exporters may leave a model in training mode; it is judged as it answers.
void leave_training_mode(Graph& root) {
  for_each_graph(root, [](Graph& graph) {
    for (Node& node : graph.nodes()) {
      if (node.is("Dropout") && node.input(2)) node.set_input(2, nullptr);
      if (!node.is("BatchNormalization") || node.attributes.int_or("training_mode", 0) == 0) continue;
      const bool is_read =
          (node.output(1) && !node.output(1)->uses().empty()) || (node.output(2) && !node.output(2)->uses().empty());
      if (is_read) continue;  // its statistics are the model's answer
      node.attributes.set({"training_mode", 0});
      node.resize_outputs(1);
    }
  });
}

}  // namespace

std::string require_classes(const Model& model, const Dataset& data, const std::string& prediction, bool allows_fewer) {
  const auto count = class_count(model, prediction);
  const auto words = std::ssize(data.preparation.classes);
  if (words == 0 || !count || words == *count || data.target.empty()) return {};
  const std::string what =
      "the data has " + std::to_string(words) + " classes, the model tells " + std::to_string(*count) + " apart";
  if (words > *count)
    throw Error(Code::bad_training_data, what)
        .hint("'ingot train --classes " + std::to_string(words) + "' gives it a new head");
  if (preparation_of(model).classes == data.preparation.classes) return {};
  if (allows_fewer) return what + "; they are numbered in the order of the alphabet";
  throw Error(Code::bad_training_data, what + ", and nothing says which of its classes they are")
      .hint("--labels a,b,c names all of them in the order of their numbers");
}

Evaluation evaluate(const Model& model, const Dataset& data, const EvaluationOptions& options) {
  require_examples(data);
  Model judged = model.clone();
  judged.training.clear();
  passes::canonicalize(judged);
  Graph& graph = *judged.graph;
  leave_training_mode(graph);
  Value* y = nullptr;
  for (Value* v : graph.outputs())
    if (!y && (options.prediction.empty() || v->name() == options.prediction)) y = v;
  if (!y) throw Error(Code::bad_usage, "the model has no output '" + options.prediction + "'");
  Value* scores = y;
  if (options.loss.name == "cross_entropy" && y->producer() && y->producer()->is("Softmax"))
    scores = y->producer()->input(0);
  Value* target = graph.add_input(graph.fresh_name("target"), target_type(options.loss, scores->type));
  const std::string target_name = target->name();
  const bool has_classes = target->type.elem == DType::i64;
  Value* cost = add_loss(options.loss, scores, target);
  graph.resize_outputs(0);
  graph.add_output(cost);
  graph.add_output(scores);
  engine::SessionOptions session_options;
  session_options.budget = options.budget ? options.budget : &current_budget();
  const engine::Session session(judged, session_options);
  Evaluation result;
  Classes classes;
  Numbers numbers;
  double loss = 0;
  const auto fixed = fixed_batch(judged);
  const auto step = static_cast<std::int64_t>(std::max<std::uint64_t>(fixed.value_or(options.batch), 1));
  const std::int64_t count = fixed ? data.count / step * step : data.count;  // the rest would not fit
  for (std::int64_t at = 0; at < count; at += step) {
    std::vector<std::int64_t> examples(static_cast<std::size_t>(std::min(count - at, step)));
    std::iota(examples.begin(), examples.end(), at);
    const std::vector<engine::NamedDatum> batch = batch_of(data, judged, target_name, examples);
    const auto results = session.run(batch);
    loss += results[0].value.array()->to_doubles().front() * static_cast<double>(examples.size());
    const auto given = std::ranges::find(batch, target_name, &engine::NamedDatum::name);
    if (has_classes)
      classes.add(*results[1].value.array(), given->value.array()->to_ints());
    else
      numbers.add(*results[1].value.array(), *given->value.array());
  }
  result.examples = count;
  result.loss = loss / static_cast<double>(std::max<std::int64_t>(count, 1));
  if (has_classes)
    classes.put(result);
  else
    numbers.put(result);
  return result;
}

}  // namespace ingot::train
