// The training loop, and the way of trained weights back into the model.
#include "ingot/train/trainer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/train/distributed/exchange.h"
#include "ingot/train/distributed/shards.h"
#include "ingot/train/schedule.h"
#include "ingot/train/training_info.h"

namespace ingot::train {
namespace {

using Clock = std::chrono::steady_clock;

/// When checkpoints are due.
class Rhythm {
 public:
  Rhythm(const std::string& text, std::uint64_t per_epoch) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const bool is_epochs = unit == "epoch" || unit == "epochs", is_steps = unit.empty() || unit.starts_with("step");
    if (error != std::errc() || number == 0 || (!is_epochs && !is_steps && unit != "min"))
      throw Error(Code::bad_usage, "'" + text + "' is no distance between checkpoints")
          .hint("such as 500, 1epoch or 10min");
    if (unit == "min")
      time_ = std::chrono::minutes(number);
    else
      steps_ = number * (is_epochs ? per_epoch : 1);
  }
  bool is_due(std::uint64_t step) {
    if (steps_) return step % steps_ == 0;
    if (Clock::now() - last_ < time_) return false;
    last_ = Clock::now();
    return true;
  }

 private:
  std::uint64_t steps_ = 0;
  Clock::duration time_{};
  Clock::time_point last_ = Clock::now();
};

/// The examples of each step.
class Order {
 public:
  Order(std::int64_t count, std::uint64_t batch, bool drops_rest, const LoopOptions& options)
      : count_(count),
        batch_(batch),
        per_epoch_((static_cast<std::uint64_t>(count) + (drops_rest ? 0 : batch - 1)) / batch),
        options_(options) {}

  std::uint64_t per_epoch() const { return per_epoch_; }
  std::vector<std::int64_t> examples(std::uint64_t step) {
    const std::uint64_t epoch = step / per_epoch_;
    if (order_.empty() || epoch != epoch_) {
      if (options_.shuffles) {
        order_ = shuffled(count_, options_.seed, epoch);
      } else {
        order_.resize(static_cast<std::size_t>(count_));
        std::iota(order_.begin(), order_.end(), 0);
      }
      epoch_ = epoch;
    }
    const std::uint64_t at = step % per_epoch_ * batch_;
    const auto first = order_.begin() + static_cast<std::ptrdiff_t>(at);
    return {first, order_.begin() + static_cast<std::ptrdiff_t>(std::min(at + batch_, order_.size()))};
  }

 private:
  std::int64_t count_;
  std::uint64_t batch_, per_epoch_, epoch_ = 0;
  const LoopOptions& options_;
  std::vector<std::int64_t> order_;
};

/// What all algorithms need of a batch.
std::vector<engine::NamedDatum> batch_for(const std::vector<TrainingGraph>& trainings, const Dataset& data,
                                          const std::vector<std::int64_t>& examples, std::uint64_t draw) {
  std::vector<engine::NamedDatum> batch;
  for (const TrainingGraph& training : trainings)
    for (engine::NamedDatum& datum : batch_of(data, training.model, training.target, examples, draw))
      if (std::ranges::find(batch, datum.name, &engine::NamedDatum::name) == batch.end())
        batch.push_back(std::move(datum));
  return batch;
}

/// One loop while it runs.
class Loop {
 public:
  Loop(StepRunner& runner, const std::vector<TrainingGraph>& trainings, const Dataset& data, const LoopOptions& options,
       const LoopEvents& events)
      : runner_(runner),
        trainings_(trainings),
        data_(data),
        options_(options),
        events_(events),
        schedule_(options.schedule, options.warmup),
        order_(data.count, std::min(options.batch, static_cast<std::uint64_t>(data.count)),
               fixed_batch(trainings.front().model).has_value(), options),
        rhythm_(options.every, order_.per_epoch()) {
    progress_.step_count = options.steps ? options.steps : options.epochs * order_.per_epoch();
    if (options.ranks) shards_.emplace(runner, *options.ranks, trainings.back());
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// The runner may live longer.
  ~Loop() {
    runner_.set_watch(nullptr);
    runner_.set_exchange(nullptr);
    runner_.set_after(nullptr);
  }

  LoopReport run() {
    if (options_.resumes) resume();
    while (at_.step < progress_.step_count && !report_.was_stopped && !report_.ended_early) {
      const std::uint64_t epoch = at_.step / order_.per_epoch();
      one_step(epoch);
      const bool is_last = at_.step == progress_.step_count;
      if (at_.step % order_.per_epoch() == 0) end_epoch(epoch);
      const bool is_due = rhythm_.is_due(at_.step);
      if (is_decided(is_due || is_last || report_.was_stopped || report_.ended_early))
        save([&](const Fetch& fetch) {
          save_checkpoint(options_.checkpoints, at_, runner_, options_.settings, options_.keep, fetch);
        });
    }
    if (options_.restores_best && !best_.empty() && !report_.was_stopped) {
      for (std::size_t i = 0; i < best_.size(); ++i)
        if (best_[i]) runner_.set_state(runner_.state_names()[i], best_[i]);
      report_.restored = at_.best;
    }
    return std::move(report_);
  }

 private:
  bool is_divided() const { return shards_ && shards_->are_divided(); }

  /// What the first rank decides, where the others must take part.
  bool is_decided(bool own) const { return is_divided() ? agreed(own ? 1 : 0) > 0 : own; }

  /// One rank writes a file; if the ranks divide the state among them, it asks the others for theirs.
  void save(const std::function<void(const Fetch&)>& write) {
    if (options_.checkpoints.empty()) return;
    const auto fetch = [this](const std::string& name) { return shards_->fetch(name); };
    if (!options_.ranks || options_.ranks->is_first())
      write(is_divided() ? Fetch(fetch) : Fetch());
    else if (is_divided())
      for (const std::string& name : runner_.state_names()) fetch(name);
  }

  /// A number that the first rank decides.
  double agreed(double own) const {
    if (!options_.ranks) return own;
    double number = options_.ranks->is_first() ? own : 0;
    options_.ranks->add(std::span(&number, 1));
    return number;
  }

  /// What this process takes of a batch; where there are fewer examples than ranks, one that does not count.
  std::vector<std::int64_t> own_examples(const std::vector<std::int64_t>& examples) {
    if (!options_.ranks || options_.ranks->count() == 1) return examples;
    std::vector<std::int64_t> own = share_of(examples, *options_.ranks);
    if (own.empty()) own.push_back(examples.front());
    exchange_with(weights_of(examples.size(), *options_.ranks));
    return own;
  }

  /// Has the next step's gradients, statistics and loss made those of the whole batch.
  void exchange_with(const std::vector<double>& weights) {
    // The last layers' gradients are known first.
    std::vector<std::string> names;
    for (const TrainingGraph::State& state : trainings_.front().state) names.push_back(state.name);
    std::ranges::reverse(names);
    exchange_ = std::make_unique<Exchange>(*options_.ranks, names, weights);
    runner_.set_watch([this](const std::string& name, const Array& next) { exchange_->give(name, next); });
    runner_.set_exchange([this, names, weights] {
      for (const std::string& name : names)
        if (!exchange_->has(name)) exchange_->give(name, runner_.state(name));
      for (const auto& [name, mean] : exchange_->finish()) runner_.set_state(name, mean);
      double loss = runner_.loss();
      options_.ranks->add(std::span(&loss, 1), weights);
      runner_.set_loss(loss);
    });
    if (is_divided()) runner_.set_after([this] { shards_->share_parameters(); });
  }

  void resume() {
    std::vector<std::string> notes;
    const auto found =
        load_checkpoint(options_.checkpoints, runner_, options_.settings, options_.resumes_by_force, notes);
    if (found && options_.restores_best)
      if (auto best = load_best(options_.checkpoints, runner_, notes)) best_ = std::move(*best);
    for (const std::string& text : notes) {
      if (events_.on_note)
        events_.on_note(text);
      else
        report_.notes.push_back(text);
    }
    if (events_.on_resume) events_.on_resume(found ? found->step : 0);
    if (!found) return;
    at_ = *found;
    report_.resumed_at = at_.step;
    report_.was_complete = at_.step >= progress_.step_count;
    report_.ended_early = options_.patience && at_.since_best >= options_.patience;
  }

  void one_step(std::uint64_t epoch) {
    const std::vector<std::int64_t> examples = order_.examples(at_.step);
    const std::vector<engine::NamedDatum> batch =
        batch_for(trainings_, data_, own_examples(examples), options_.seed << 32 | (epoch + 1));
    if (options_.lr && runner_.has_learning_rate()) {
      progress_.lr = schedule_.rate(*options_.lr, at_.step, progress_.step_count) * at_.plateau;
      runner_.set_learning_rate(progress_.lr);
    }
    const auto rank = static_cast<std::uint64_t>(options_.ranks ? options_.ranks->rank() : 0);
    runner_.set_draw((options_.seed << 32 | ((at_.step + 1) & 0xffffffff)) ^ rank << 56);
    constexpr std::uint64_t kProfiled = 10;
    runner_.set_profile(report_.steps > 0 && report_.steps <= kProfiled ? options_.profile : nullptr);
    runner_.step(batch);
    runner_.set_profile(nullptr);
    if (!runner_.is_finite()) diverged(batch);
    if (report_.steps++ == 0) report_.first_loss = runner_.loss();
    report_.last_loss = runner_.loss();
    at_.epoch_loss += runner_.loss();
    progress_.step = ++at_.step;
    progress_.epoch = epoch;
    progress_.loss = runner_.loss();
    progress_.norm = runner_.norm();
    progress_.examples += examples.size();
    if (events_.on_step && !events_.on_step(progress_)) report_.was_stopped = true;
    if (options_.ranks) {
      // A signal may reach one of them first.
      double stops = report_.was_stopped ? 1 : 0;
      options_.ranks->add(std::span(&stops, 1));
      report_.was_stopped = stops > 0;
    }
  }

  [[noreturn]] void diverged(const std::vector<engine::NamedDatum>& batch) {
    const std::string node = runner_.first_not_finite(batch);
    throw Error(Code::diverged, "numbers are no longer finite in step " + std::to_string(at_.step + 1) + " (loss " +
                                    std::to_string(runner_.loss()) + ")" +
                                    (node.empty() ? "" : "; the first comes from " + node))
        .hint("a smaller --lr, or --clip-norm 1");
  }

  void end_epoch(std::uint64_t epoch) {
    EpochEnd end{epoch, at_.step, at_.epoch_loss / static_cast<double>(order_.per_epoch())};
    at_.epoch_loss = 0;
    const double judged = agreed(events_.on_epoch ? events_.on_epoch(end) : end.mean_loss);
    const bool is_better = at_.judgements == 0 || judged < at_.best - options_.min_delta;
    ++at_.judgements;
    ++at_.since_best;
    ++at_.since_drop;
    if (is_better) {
      at_.best = judged;
      at_.since_best = at_.since_drop = 0;
      if (options_.restores_best) {
        best_.clear();
        for (const std::string& name : runner_.state_names())
          best_.push_back(runner_.has_state(name) ? runner_.state(name) : Array());
        save([&](const Fetch& fetch) { save_best(options_.checkpoints, at_, runner_, options_.settings, fetch); });
      }
    }
    if (schedule_.waits_for_plateaus() && at_.since_drop >= schedule_.plateau_epochs()) {
      at_.plateau *= schedule_.plateau_factor();
      at_.since_drop = 0;
    }
    report_.ended_early = options_.patience && at_.since_best >= options_.patience;
  }

  StepRunner& runner_;
  const std::vector<TrainingGraph>& trainings_;
  const Dataset& data_;
  const LoopOptions& options_;
  const LoopEvents& events_;
  Schedule schedule_;
  Order order_;
  Rhythm rhythm_;
  LoopState at_;
  Progress progress_;
  LoopReport report_;
  std::vector<Array> best_;
  std::optional<Shards> shards_;
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace

LoopReport run_loop(StepRunner& runner, const std::vector<TrainingGraph>& trainings, const Dataset& data,
                    const LoopOptions& options, const LoopEvents& events) {
  require_examples(data);
  if (options.batch == 0) throw Error(Code::bad_usage, "a batch has at least one example");
  if (options.resumes && options.checkpoints.empty())
    throw Error(Code::bad_usage, "there is no directory of checkpoints to resume from").hint("name it: --checkpoint");
  auto fixed = fixed_batch(trainings.front().model);
  if (fixed && options.ranks) *fixed *= static_cast<std::uint64_t>(options.ranks->count());
  if (fixed && *fixed != std::min(options.batch, static_cast<std::uint64_t>(data.count)))
    throw Error(Code::bad_usage, "the model takes " + std::to_string(*fixed) + " examples at a time, not " +
                                     std::to_string(options.batch))
        .hint("--batch " + std::to_string(*fixed) +
              " --accumulate K, or leave the dimension open: ingot convert MODEL -o OUT --input-shape NAME:N,...");
  return Loop(runner, trainings, data, options, events).run();
}

void export_weights(const StepRunner& runner, Model& model, bool with_training) {
  separate_statistics(*model.graph);
  separate_copies(*model.graph, [&](const std::string& name) { return runner.has_state(name); });
  for (const std::string& name : runner.state_names()) {
    Value* v = model.graph->find(name);
    if (v && v->initializer) v->initializer = runner.state(name).to_tensor();
  }
  if (!with_training) return;
  for (std::size_t i = 0; i < model.training.size(); ++i) {
    if (!model.training[i].algorithm) continue;
    const Graph& algorithm = *model.training[i].algorithm;
    for (Value* v : Values(algorithm.initializers().begin(), algorithm.initializers().end())) {
      const std::string name = own_variable(model, i, v->name());
      if (runner.has_state(name)) v->initializer = runner.state(name).to_tensor();
    }
  }
}

Trainer::Trainer(const Model& model, std::vector<TrainingGraph> graphs, const engine::SessionOptions& session)
    : model_(model.clone()), graphs_(std::move(graphs)), runner_(graphs_, session) {}

Trainer::Trainer(const Model& model, const TrainingOptions& options, const engine::SessionOptions& session)
    : Trainer(
          model,
          [&] {
            std::vector<TrainingGraph> graphs;
            graphs.push_back(make_training_graph(model, options));
            return graphs;
          }(),
          session) {
  lr_ = learning_rate(options.optimizer);
}

Trainer Trainer::shared(const Model& model, const TrainingOptions& options, const engine::SessionOptions& session,
                        const Division& division) {
  Trainer made(model, make_separate_graphs(model, options, division), session);
  made.lr_ = learning_rate(options.optimizer);
  return made;
}

Trainer Trainer::stored(const Model& model, const std::vector<std::size_t>& algorithms,
                        const engine::SessionOptions& session) {
  std::vector<std::size_t> which = algorithms;
  for (std::size_t i = 0; algorithms.empty() && i < model.training.size(); ++i)
    if (model.training[i].algorithm) which.push_back(i);
  if (which.empty()) throw Error(Code::bad_training_info, "the model has no algorithm");
  std::vector<TrainingGraph> graphs;
  for (const std::size_t i : which) graphs.push_back(read_training_info(model, i));
  return {model, std::move(graphs), session};
}

double Trainer::step(const std::vector<engine::NamedDatum>& batch) {
  runner_.step(batch);
  return runner_.loss();
}

LoopReport Trainer::fit(const Dataset& data, const LoopOptions& options, const LoopEvents& events) {
  LoopOptions own = options;
  if (!own.lr) own.lr = lr_;
  return run_loop(runner_, graphs_, data, own, events);
}

Model Trainer::trained(bool with_training) const {
  Model made = model_.clone();
  export_weights(runner_, made, with_training);
  return made;
}

}  // namespace ingot::train
