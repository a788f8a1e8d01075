// The training loop, evaluation, and the way of trained weights back into the model.
#include "ingot/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/convert_version.h"
#include "ingot/train/checkpoint.h"

namespace ingot::train {

double scheduled_rate(const LoopOptions& options, double lr, std::uint64_t step, std::uint64_t step_count) {
  if (step < options.warmup) return lr * static_cast<double>(step + 1) / static_cast<double>(options.warmup);
  const double part =
      static_cast<double>(step - options.warmup) /
      static_cast<double>(std::max<std::uint64_t>(step_count - std::min(options.warmup, step_count), 1));
  if (options.schedule == "constant") return lr;
  if (options.schedule == "linear") return lr * (1 - part);
  if (options.schedule == "cosine") return lr * (1 + std::cos(std::numbers::pi * part)) / 2;
  if (options.schedule == "step") return lr * std::pow(0.1, std::floor(part * 3));
  throw Error(Code::bad_usage, "there is no schedule '" + options.schedule + "'")
      .hint("known schedules: constant, linear, cosine, step");
}

LoopReport run_loop(StepRunner& runner, const TrainingGraph& training, const Dataset& data, double lr,
                    const LoopOptions& options, const std::function<bool(const Progress&)>& on_step) {
  if (options.batch == 0 || data.count == 0) throw Error(Code::bad_training_data, "there is nothing to train on");
  const auto count = static_cast<std::uint64_t>(data.count);
  const std::uint64_t batch = std::min(options.batch, count);
  const std::uint64_t per_epoch = (count + batch - 1) / batch;
  const std::uint64_t step_count = options.steps ? options.steps : options.epochs * per_epoch;
  LoopReport report;
  std::uint64_t step = 0;
  if (options.resumes) {
    if (const auto found = load_checkpoint(options.checkpoints, runner, report.notes))
      step = report.resumed_at = *found;
  }
  std::vector<std::int64_t> order;
  std::uint64_t ordered_epoch = ~std::uint64_t{0};
  bool goes_on = true;
  Progress progress;
  progress.step_count = step_count;
  for (; step < step_count && goes_on; ++step) {
    const std::uint64_t epoch = step / per_epoch, at = step % per_epoch * batch;
    if (epoch != ordered_epoch) {
      order = options.shuffles ? shuffled(data.count, options.seed, epoch) : std::vector<std::int64_t>();
      for (std::int64_t i = 0; !options.shuffles && i < data.count; ++i) order.push_back(i);
      ordered_epoch = epoch;
    }
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(std::min(at + batch, count));
    const double rate = scheduled_rate(options, lr, step, step_count);
    if (runner.has_learning_rate() && lr > 0) runner.set_learning_rate(rate);
    runner.step(batch_of(data, training.model, training.target, {first, last}));
    if (!std::isfinite(runner.loss()))
      throw Error(Code::diverged,
                  "the loss is " + std::to_string(runner.loss()) + " after step " + std::to_string(step + 1))
          .hint("a smaller --lr, or --clip-norm 1");
    if (report.steps == 0) report.first_loss = runner.loss();
    report.last_loss = runner.loss();
    ++report.steps;
    progress.step = step + 1;
    progress.epoch = epoch;
    progress.loss = runner.loss();
    progress.norm = runner.norm();
    progress.lr = rate;
    progress.examples += static_cast<std::uint64_t>(last - first);
    goes_on = on_step(progress);
    const bool is_due =
        (step + 1) % std::max<std::uint64_t>(options.every, 1) == 0 || step + 1 == step_count || !goes_on;
    if (!options.checkpoints.empty() && is_due) save_checkpoint(options.checkpoints, step + 1, runner, options.keep);
  }
  report.was_stopped = !goes_on;
  return report;
}

void export_weights(const StepRunner& runner, Model& model) {
  separate_statistics(*model.graph);
  for (const std::string& name : runner.state_names()) {
    Value* v = model.graph->find(name);
    if (v && v->initializer) v->initializer = runner.state(name).to_tensor();
  }
}

Evaluation evaluate(const Model& model, const Dataset& data, const LossOptions& loss, std::uint64_t batch,
                    const std::string& prediction) {
  Model judged = model.clone();
  judged.training.clear();
  passes::canonicalize(judged);
  Graph& graph = *judged.graph;
  Value* y = nullptr;
  for (Value* v : graph.outputs())
    if (!y && (prediction.empty() || v->name() == prediction)) y = v;
  if (!y) throw Error(Code::bad_usage, "the model has no output '" + prediction + "'");
  Value* scores = y;
  if (loss.name == "cross_entropy" && y->producer() && y->producer()->is("Softmax")) scores = y->producer()->input(0);
  Value* target = graph.add_input(graph.fresh_name("target"), target_type(loss, scores->type));
  const bool has_classes = target->type.elem == DType::i64;
  Value* cost = add_loss(loss, scores, target);
  GraphBuilder g(graph);
  Values outputs = {cost};
  if (has_classes) {
    Value* best = g.op("ArgMax", {scores}, {{"axis", 1}, {"keepdims", 0}});
    Value* hits = g.cast(g.op("Equal", {best, target}), DType::f32);
    outputs.push_back(g.op("ReduceMean", {hits}, {{"keepdims", 0}}));
  } else {
    Value* error = g.sub(scores, target);
    outputs.push_back(g.op("ReduceMean", {g.op("Abs", {error})}, {{"keepdims", 0}}));
    outputs.push_back(g.op("ReduceMean", {g.mul(error, error)}, {{"keepdims", 0}}));
  }
  graph.resize_outputs(0);
  for (Value* v : outputs) graph.add_output(v);
  const engine::Session session(judged);
  Evaluation result;
  std::vector<double> sums(outputs.size());
  const std::string target_name = target->name();
  for (std::int64_t at = 0; at < data.count; at += static_cast<std::int64_t>(batch)) {
    std::vector<std::int64_t> examples;
    for (std::int64_t i = at; i < std::min(data.count, at + static_cast<std::int64_t>(batch)); ++i)
      examples.push_back(i);
    const auto results = session.run(batch_of(data, judged, target_name, examples));
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += results[i].value.array()->to_doubles().front() * static_cast<double>(examples.size());
  }
  result.examples = data.count;
  const auto count = static_cast<double>(std::max<std::int64_t>(data.count, 1));
  result.loss = sums[0] / count;
  if (has_classes) {
    result.accuracy = sums[1] / count;
  } else {
    result.mean_absolute_error = sums[1] / count;
    result.root_mean_square_error = std::sqrt(sums[2] / count);
  }
  return result;
}

}  // namespace ingot::train
