// Training.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <thread>

#include "bind.h"
#include "dataset.h"
#include "held_model.h"
#include "options.h"
#include "unlocked.h"
#include "values.h"

namespace ingot::python {
namespace {

void refuse_unknown(const py::dict& options, std::initializer_list<std::string_view> known, const std::string& what) {
  for (const auto& [key, value] : options)
    if (const auto name = key.cast<std::string>(); std::ranges::find(known, name) == known.end())
      throw py::type_error(what + " has no option '" + name + "'");
}

TrainingOptions to_training(const py::dict& o) {
  refuse_unknown(o, {"loss",        "label_smoothing", "ignore_index", "delta",    "optimizer",  "lr",
                     "momentum",    "weight_decay",    "beta1",        "beta2",    "epsilon",    "rho",
                     "no_decay",    "trainable",       "frozen",       "last",     "prediction", "clip_norm",
                     "clip_tensor", "clip_value",      "accumulate",   "recompute"},
                 "Trainer");
  TrainingOptions t;
  take(o, "loss", t.loss.name);
  take(o, "label_smoothing", t.loss.label_smoothing);
  take(o, "ignore_index", t.loss.ignore_index);
  take(o, "delta", t.loss.delta);
  take(o, "optimizer", t.optimizer.name);
  take(o, "lr", t.optimizer.lr);
  take(o, "momentum", t.optimizer.momentum);
  take(o, "weight_decay", t.optimizer.weight_decay);
  take(o, "beta1", t.optimizer.beta1);
  take(o, "beta2", t.optimizer.beta2);
  take(o, "epsilon", t.optimizer.epsilon);
  take(o, "rho", t.optimizer.rho);
  take(o, "no_decay", t.optimizer.no_decay);
  take(o, "trainable", t.parameters.trainable);
  take(o, "frozen", t.parameters.frozen);
  take(o, "last", t.parameters.last);
  take(o, "prediction", t.prediction);
  take(o, "clip_norm", t.clip_norm);
  take(o, "clip_tensor", t.clip_tensor);
  take(o, "clip_value", t.clip_value);
  take(o, "accumulate", t.accumulate);
  take(o, "recompute", t.recomputes);
  return t;
}

LoopOptions to_loop(const py::dict& o) {
  refuse_unknown(o,
                 {"batch", "epochs", "steps", "seed", "shuffle", "lr", "schedule", "warmup", "checkpoints", "every",
                  "keep", "resume", "patience", "min_delta", "restore_best"},
                 "fit()");
  LoopOptions loop;
  take(o, "batch", loop.batch);
  take(o, "epochs", loop.epochs);
  take(o, "steps", loop.steps);
  take(o, "seed", loop.seed);
  take(o, "shuffle", loop.shuffles);
  take(o, "lr", loop.lr);
  take(o, "schedule", loop.schedule);
  take(o, "warmup", loop.warmup);
  take(o, "checkpoints", loop.checkpoints);
  take(o, "every", loop.every);
  take(o, "keep", loop.keep);
  take(o, "resume", loop.resumes);
  take(o, "patience", loop.patience);
  take(o, "min_delta", loop.min_delta);
  take(o, "restore_best", loop.restores_best);
  return loop;
}

class HeldTrainer {
 public:
  HeldTrainer(const HeldModel& held, bool is_stored, const py::dict& options) : model_(held.model.clone()) {
    const TrainingOptions how = to_training(options);
    unlocked([&](Budget&) {
      if (is_stored)
        trainer_.emplace(Trainer::stored(model_));
      else
        trainer_.emplace(model_, how);
      return 0;
    });
  }

  double step(const py::dict& batch) {
    const std::vector<NamedDatum> values = to_inputs(batch, inputs_of(model_));
    const Work work(*this);
    return unlocked([&](Budget&) { return trainer_->step(values); });
  }

  py::dict fit(const py::object& data, const std::string& target, const py::object& on_step, const py::object& on_epoch,
               const py::dict& options) {
    const Dataset dataset = to_dataset(data, target, model_);
    const LoopOptions loop = to_loop(options);
    const Work work(*this);
    LoopEvents events;
    std::optional<py::error_already_set> raised;  // by on_step: the run ends in good order first
    events.on_step = [&](const train::Progress& p) {
      const WithLock lock;
      if (PyErr_CheckSignals() != 0) return raised.emplace(), false;
      if (on_step.is_none()) return true;
      try {
        const py::object answer = on_step(p.step, p.step_count, p.loss, p.lr);
        return answer.is_none() || py::bool_(answer);
      } catch (py::error_already_set& error) {
        return raised.emplace(error), false;
      }
    };
    if (!on_epoch.is_none())
      events.on_epoch = [&](const train::EpochEnd& e) {
        const WithLock lock;  // what it raises ends the run at once
        const py::object answer = on_epoch(e.epoch, e.mean_loss);
        return answer.is_none() ? e.mean_loss : static_cast<double>(py::float_(answer));
      };
    LoopReport report;
    {
      const WithoutLock others;
      report = trainer_->fit(dataset, loop, events);
    }
    if (raised) throw *raised;
    py::dict result;
    result["steps"] = report.steps;
    result["first_loss"] = report.first_loss;
    result["last_loss"] = report.last_loss;
    result["resumed_at"] = report.resumed_at;
    result["stopped"] = report.was_stopped;
    result["ended_early"] = report.ended_early;
    result["notes"] = report.notes;
    return result;
  }

  /// A callback may ask for it too.
  HeldModel trained(bool with_training) const {
    if (worker_ != std::thread::id() && worker_ != std::this_thread::get_id()) refuse();
    return {trainer_->trained(with_training)};
  }
  std::string target_name() const { return trainer_->target_name(); }
  std::vector<std::string> notes() const { return trainer_->notes(); }

 private:
  /// One thread at a time changes the weights. Made and ended with the interpreter's lock held.
  class Work {
   public:
    explicit Work(HeldTrainer& trainer) : trainer_(trainer) {
      if (trainer.worker_ != std::thread::id()) refuse();
      trainer.worker_ = std::this_thread::get_id();
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work() { trainer_.worker_ = {}; }

   private:
    HeldTrainer& trainer_;
  };

  [[noreturn]] static void refuse() {
    throw Error(Code::bad_usage, "the trainer is at work already")
        .hint("it is for one thread; of its methods, callbacks may call trained()");
  }

  Model model_;
  std::optional<Trainer> trainer_;
  std::thread::id worker_{};
};

py::dict evaluate_model(const HeldModel& held, const py::object& data, const std::string& target,
                        const std::string& loss, std::uint64_t batch, const std::string& prediction) {
  const Dataset dataset = to_dataset(data, target, held.model);
  EvaluationOptions options;
  options.loss.name = loss;
  options.batch = batch;
  options.prediction = prediction;
  const Evaluation e = unlocked([&](Budget& budget) {
    options.budget = &budget;
    return evaluate(held.model, dataset, options);
  });
  py::dict result;
  result["loss"] = e.loss;
  result["examples"] = e.examples;
  if (e.accuracy) result["accuracy"] = *e.accuracy;
  if (e.top5) result["top5"] = *e.top5;
  if (e.macro_f1) result["macro_f1"] = *e.macro_f1;
  if (e.area_under_curve) result["area_under_curve"] = *e.area_under_curve;
  if (!e.confusion.empty()) result["confusion"] = e.confusion;
  if (e.mean_absolute_error) result["mean_absolute_error"] = *e.mean_absolute_error;
  if (e.root_mean_square_error) result["root_mean_square_error"] = *e.root_mean_square_error;
  if (e.explained) result["explained"] = *e.explained;
  return result;
}

}  // namespace

void bind_trainer(py::module_& m) {
  py::class_<HeldTrainer>(m, "Trainer")
      .def(py::init<const HeldModel&, bool, const py::dict&>())
      .def("step", &HeldTrainer::step, Inside::guard())
      .def("fit", &HeldTrainer::fit, Inside::guard())
      .def("trained", &HeldTrainer::trained, Inside::guard())
      .def_property_readonly("target_name", &HeldTrainer::target_name)
      .def_property_readonly("notes", &HeldTrainer::notes);
  m.def("evaluate", &evaluate_model, Inside::guard());
}

}  // namespace ingot::python
