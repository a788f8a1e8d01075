// ingot train: makes a model fit its data.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/peak_memory.h"
#include "ingot/base/threads.h"
#include "ingot/driver/dataset.h"
#include "ingot/driver/supervisor.h"
#include "ingot/train/distributed/mpi.h"
#include "ingot/train/initialization.h"
#include "ingot/train/new_head.h"
#include "ingot/train/preprocessing.h"
#include "ingot/train/trainer.h"
#include "operator_times.h"
#include "terminal.h"
#include "train_options.h"
#include "training_watch.h"

namespace ingot::cli {
namespace {

/// How Ingot makes a step and judges it: a model that carries its training decides all of this itself.
constexpr const char* kStepOptions[] = {"--label-smoothing", "--ignore-index",  "--delta",        "--optimizer",
                                        "--optimizer-graph", "--momentum",      "--weight-decay", "--no-decay",
                                        "--beta1",           "--beta2",         "--rho",          "--epsilon",
                                        "--dampening",       "--clip-norm",     "--clip-tensor",  "--clip-value",
                                        "--accumulate",      "--recompute",     "--output",       "--trainable",
                                        "--frozen",          "--stop-gradient", "--tie",          "--last",
                                        "--val-data",        "--val-target",    "--val-split"};

struct Options {
  std::string model, from, data, validation_data, log, plot, output, training_output, profile;
  bool shards_optimizer = false;
  train::DatasetOptions dataset;
  StepOptions step;
  train::LoopOptions loop;
  train::Augmentation augmentation;
  std::string augmentation_text;
  std::int64_t classes = 0;  // of a new head; 0: the model's own stays
  std::vector<std::size_t> algorithms;
  std::string step_options;  // that were given, and that the training which a model carries has no use for
  bool with_preprocessing = false;
  bool is_dry = false, keeps_order = false, initializes = false, has_loss = false, has_batch = false;
  double validation = 0;
  int threads = 0;
};

/// What must be the same when a run goes on.
train::RunSettings settings_of(const Options& options, const train::Dataset& data, bool is_stored) {
  const train::LoopOptions& loop = options.loop;
  const auto text = [](const std::optional<double>& v) {
    char number[32];
    std::snprintf(number, sizeof number, "%.17g", v.value_or(0));
    return v ? std::string(number) : std::string("default");
  };
  train::RunSettings settings = {
      {"data", train::fingerprint(data)},
      {"batch", std::to_string(loop.batch)},
      {train::kLength, loop.steps ? std::to_string(loop.steps) + " steps" : std::to_string(loop.epochs) + " epochs"},
      {"order", loop.shuffles ? "seed " + std::to_string(loop.seed) : "as in the file"},
      {"schedule", loop.schedule + ", warmup " + std::to_string(loop.warmup)},
      {"lr", text(loop.lr)},
  };
  if (!options.augmentation_text.empty()) settings.emplace_back("augmentation", options.augmentation_text);
  if (is_stored) return settings;
  const train::TrainingOptions& how = options.step.training;
  settings.emplace_back("loss", options.step.loss_graph.empty() ? how.loss.name : options.step.loss_graph);
  settings.emplace_back("optimizer",
                        options.step.optimizer_graph.empty() ? how.optimizer.name : options.step.optimizer_graph);
  settings.emplace_back("weight decay", text(how.optimizer.weight_decay));
  settings.emplace_back("momentum", text(how.optimizer.momentum));
  std::string stops;
  for (const std::string& name : how.stops) stops += (stops.empty() ? "" : ",") + name;
  settings.emplace_back("stopped gradients", stops);
  settings.emplace_back("moments", text(how.optimizer.beta1) + ", " + text(how.optimizer.beta2) + ", " +
                                       text(how.optimizer.rho) + ", " + text(how.optimizer.epsilon));
  settings.emplace_back("accumulate", std::to_string(how.accumulate));
  settings.emplace_back("clipping", std::to_string(how.clip_norm) + ", " + std::to_string(how.clip_tensor) + ", " +
                                        std::to_string(how.clip_value));
  return settings;
}

void note(const Global& global, const std::string& text) {
  if (!global.quiet) std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), text.c_str());
}

train::Trainer trainer_of(const Options& options, const Model& model, bool is_stored, const Global& global) {
  engine::SessionOptions session;
  session.budget = global.budget;
  session.threads = options.threads;
  const train::Ranks* ranks = options.loop.ranks;
  if (ranks && options.threads == 0) session.threads = std::max(1, hardware_threads() / train::ranks_on_this_machine());
  train::Division division;
  if (ranks && options.shards_optimizer) division = {ranks->rank(), ranks->count()};
  train::Trainer trainer = is_stored ? train::Trainer::stored(model, options.algorithms, session)
                           : ranks   ? train::Trainer::shared(model, options.step.load(global), session, division)
                                     : train::Trainer(model, options.step.load(global), session);
  if (is_stored && trainer.graphs().size() > 1)
    note(global, std::to_string(trainer.graphs().size()) + " algorithms take turns in each step");
  for (const train::TrainingGraph& graph : trainer.graphs())
    for (const std::string& text : graph.notes) note(global, text);
  return trainer;
}

void print_end(const train::LoopReport& report, const TrainingWatch& watch) {
  if (report.resumed_at) std::printf("resumed after step %llu\n", static_cast<unsigned long long>(report.resumed_at));
  if (report.steps) {
    std::printf("%llu steps: loss %.6g -> %.6g\n", static_cast<unsigned long long>(report.steps), report.first_loss,
                report.last_loss);
    std::printf("%s\n", watch.sparkline().c_str());
  }
  if (report.was_complete && report.steps == 0)
    std::printf("nothing is left to do: the checkpoint has all steps of this run behind it\n");
  if (report.ended_early) std::printf("ended early: no progress\n");
  if (report.restored) std::printf("the best state is back, judged %.6g\n", *report.restored);
  std::printf("peak memory %s\n", human_bytes(peak_memory()).c_str());
}

/// What the training is judged by, taken from a file of its own or from the data; nothing if it is not judged.
std::optional<train::Dataset> held_back(const Options& options, train::Dataset& data, const Model& model,
                                        const Global& global) {
  if (!options.validation_data.empty()) {
    train::DatasetOptions other = options.dataset;
    other.part = "test";
    other.labels = data.preparation.classes;
    other.columns = data.preparation.columns;
    if (!options.step.validation_target.empty()) other.target = options.step.validation_target;
    return driver::load_dataset(options.validation_data, other, model, global.load_options());
  }
  if (options.validation <= 0) return std::nullopt;
  return train::split_off(data, options.validation,
                          options.keeps_order ? std::nullopt : std::optional(options.loop.seed));
}

/// The model with what its users must know of the data it was trained on.
Model described(const Options& options, const Model& trained, const train::Dataset& data, bool is_stored) {
  Model model = trained.clone();
  train::Dataset told = data;
  if (!is_stored && options.step.training.loss.name == "cross_entropy" && options.step.loss_graph.empty() &&
      !told.preparation.classes.empty() && !train::ends_in_softmax(model, options.step.training.prediction))
    told.preparation.scores = "logits";
  if (options.with_preprocessing) train::add_preprocessing(model, told, options.step.training.prediction);
  train::store(told.preparation, model);
  return model;
}

void save(const Options& options, const train::Trainer& trainer, const Model& trained, const train::Dataset& data,
          bool is_stored) {
  if (!options.output.empty()) {
    driver::save(described(options, trained, data, is_stored), options.output);
    std::printf("%s written\n", options.output.c_str());
  }
  if (options.training_output.empty()) return;
  if (!is_stored)
    throw Error(Code::bad_usage, "--export-training needs a model that carries its training")
        .hint("make-trainable writes one");
  Model state = trainer.trained(true);
  train::store(data.preparation, state);
  driver::save(state, options.training_output);
  std::printf("%s written, with the state of its training\n", options.training_output.c_str());
}

/// A new last layer, and nothing known of classes yet.
void replace_head(const Options& options, Model& model, const Global& global) {
  if (options.classes == 0) return;
  note(global, train::replace_head(model, options.classes, options.loop.seed, options.step.training.prediction));
  train::Preparation known = train::preparation_of(model);
  known.classes.clear();
  train::store(known, model);
}

/// Nothing that is written may take the place of what is read; beside a folder's data it may stand.
void refuse_overwriting(const Options& options) {
  for (const std::string& output :
       {options.output, options.training_output, options.log, options.plot, options.profile}) {
    if (output.empty()) continue;
    driver::refuse_overwriting(options.model, output);
    for (const std::string& data : {options.data, options.validation_data})
      if (std::filesystem::is_regular_file(data)) driver::refuse_overwriting(data, output);
  }
}

/// Options of one way to train mean nothing in the other.
void refuse_what_does_not_fit(const Options& options, bool is_stored) {
  if (is_stored && options.loop.ranks && options.loop.ranks->count() > 1)
    throw Error(Code::bad_usage, "the training that a model carries runs in one process")
        .hint("--loss and --optimizer say how several train it");
  if (!is_stored && !options.algorithms.empty())
    throw Error(Code::bad_usage, "the model carries no algorithm that --algorithm could choose");
  if (is_stored && !options.step_options.empty())
    throw Error(Code::bad_usage, "the training that the model carries does not take " + options.step_options)
        .hint("--loss or --loss-graph has Ingot make the steps; what the model carries is left aside then");
  if (is_stored && options.classes)
    throw Error(Code::bad_usage, "--classes changes a model's last layer, which the training that it carries knows");
}

int run_train(const Options& given, const Global& global) {
  Options options = given;
  options.loop.shuffles = !options.keeps_order;
  refuse_overwriting(options);
  driver::Loaded loaded = driver::load(options.model, global.load_options(options.from));
  for (const std::string& text : loaded.notes) note(global, text);
  const bool has_algorithm =
      std::ranges::any_of(loaded.model.training, [](const auto& t) { return t.algorithm != nullptr; });
  const bool is_stored = has_algorithm && !options.has_loss;
  refuse_what_does_not_fit(options, is_stored);
  replace_head(options, loaded.model, global);
  if (options.initializes)
    note(global, std::to_string(train::initialize(loaded.model).size()) + " variables are initialized");
  if (options.is_dry) {
    if (is_stored)
      print_state(train::Trainer::stored(loaded.model, options.algorithms).graphs());
    else
      print_parameters(train::make_training_graph(loaded.model, options.step.load(global)));
    return 0;
  }
  train::Dataset data = driver::load_dataset(options.data, options.dataset, loaded.model, global.load_options());
  if (!is_stored)
    if (const std::string text = train::require_classes(loaded.model, data, options.step.training.prediction, true);
        !text.empty())
      note(global, text);
  const std::optional<train::Dataset> judged = held_back(options, data, loaded.model, global);
  data.augmentation = options.augmentation;
  if (!options.has_batch) options.loop.batch = train::fixed_batch(loaded.model).value_or(options.loop.batch);
  options.loop.lr = options.step.training.optimizer.lr;
  if (!is_stored) options.loop.lr = train::learning_rate(options.step.training.optimizer);
  options.loop.settings = settings_of(options, data, is_stored);

  train::Trainer trainer = trainer_of(options, loaded.model, is_stored, global);
  TrainingWatch watch({.log = options.log,
                       .plot = options.plot,
                       .title = options.model,
                       .resumes = options.loop.resumes,
                       .is_quiet = global.quiet});
  driver::Supervisor::leave_signals_to_the_work();
  train::EvaluationOptions evaluation;
  evaluation.loss = options.step.training.loss;
  evaluation.prediction = options.step.training.prediction;
  const bool can_judge = judged && !is_stored && options.step.loss_graph.empty();
  train::LoopEvents events;
  events.on_step = [&](const train::Progress& p) { return watch.on_step(p); };
  events.on_epoch = [&](const train::EpochEnd& end) {
    std::optional<train::Evaluation> found;
    if (can_judge) found = train::evaluate(trainer.trained(), *judged, evaluation);
    watch.on_epoch(end, found);
    return found ? found->loss : end.mean_loss;
  };
  events.on_resume = [&](std::uint64_t step) { watch.on_resume(step); };
  events.on_note = [&](const std::string& text) { note(global, text); };
  engine::Profile profile;
  if (!options.profile.empty()) options.loop.profile = &profile;
  train::LoopReport report;
  try {
    report = trainer.fit(data, options.loop, events);
  } catch (Error&) {
    watch.end();  // the curve up to here tells what happened
    throw;
  }
  watch.end();
  print_end(report, watch);
  if (!options.profile.empty()) {
    write_trace(profile, options.profile);
    const std::size_t steps = std::clamp<std::size_t>(report.steps, 2, 11) - 1;
    if (!global.quiet)
      print_profile(driver::node_times(profile), steps, "the mean of " + std::to_string(steps) + " steps");
  }
  const Model trained = trainer.trained();
  if (can_judge) print_evaluation("held back", train::evaluate(trained, *judged, evaluation));
  save(options, trainer, trained, data, is_stored);
  return report.was_stopped ? 128 + driver::Supervisor::caught_signal() : 0;
}

/// As one of several processes, if mpirun started them; all but the first keep silent.
int run_among_ranks(const Options& given, const Global& told) {
  Options options = given;
  Global global = told;
  const std::unique_ptr<train::Ranks> ranks = train::join_ranks();
  options.loop.ranks = ranks.get();
  if (ranks && !ranks->is_first()) {
    global.quiet = true;
    for (std::string* output :
         {&options.output, &options.training_output, &options.log, &options.plot, &options.profile})
      output->clear();
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0)
      throw Error(Code::cannot_write, "the output cannot be closed");
    ::close(nowhere);
  }
  try {
    return run_train(options, global);
  } catch (const Error& error) {
    // A rank that goes away because of an error ends all of them: nobody would say later what it was.
    if (ranks && ranks->count() > 1) std::fprintf(stderr, "error: rank %d: %s\n", ranks->rank(), error.what());
    throw;
  }
}

}  // namespace

Command add_train(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("train", "Train a model, or run the training that it carries");
  app->footer(
      "A model without training information gets loss, gradients and optimizer from Ingot (--loss, --optimizer); one "
      "with\nit is trained as it says. Results go to --export; docs/training.md explains all of it.\n\n"
      "  ingot train resnet.onnx --data photos --classes 5 --last 1 --augment flip,crop --scale 255 --export "
      "mine.onnx\n"
      "  ingot train net.onnx --data train.csv --target class --optimizer adam --epochs 20 --export trained.onnx\n"
      "  ingot train trainable.onnx --data train.npz --epochs 5 --checkpoint runs --export trained.onnx");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  add_step_options(*app, options->step);
  add_data_options(*app, options->data, options->dataset);
  app->add_option("--val-data", options->validation_data, "Data that judges each epoch, in the form of --data");
  app->add_option("--val-target", options->step.validation_target, "Its targets, where they are another file");
  app->add_option("--val-split", options->validation, "Part of the data held back, to judge each epoch")->between(0, 1);
  app->add_option("--epochs", options->loop.epochs, "How often all examples are seen");
  app->add_option("--steps", options->loop.steps, "So many steps, whatever the epochs");
  app->add_option("--batch", options->loop.batch, "Examples per step");
  app->add_option("--seed", options->loop.seed, "Decides the order of examples and what Dropout drops");
  app->add_flag("--keep-order,--no-shuffle", options->keeps_order, "Take the examples in the order of the file");
  app->add_option(
      "--schedule", options->loop.schedule,
      "Of the learning rate: constant, linear, cosine, step, multistep, exponential, polynomial, one-cycle, "
      "plateau; with numbers: cosine:3");
  app->add_option("--warmup", options->loop.warmup, "Steps in which the learning rate grows from zero");
  app->add_option("--patience", options->loop.patience, "End after so many epochs without progress");
  app->add_option("--min-delta", options->loop.min_delta, "What counts as progress");
  app->add_flag("--restore-best", options->loop.restores_best, "The result is the state of the best epoch");
  app->add_option("--algorithm", options->algorithms, "Which of the model's algorithms run, in this order: 0,1")
      ->delimiter(',');
  app->add_flag("--initialize", options->initializes, "Begin with the model's own initialization");
  app->add_flag("--shard-optimizer", options->shards_optimizer,
                "Processes of mpirun divide the optimizer's variables among them: each holds its part");
  app->add_option("--threads", options->threads, "Threads; default: as many as the machine runs at once")->positive();
  app->add_option("--classes", options->classes, "Give the model a new last layer for so many classes")->positive();
  app->add_option_function<std::string>(
      "--augment",
      [options](const std::string& text) {
        options->augmentation = train::parse_augmentation(text);
        options->augmentation_text = text;
      },
      "Change pictures a little each time: flip, vflip, crop:0.8, shift:0.1, rotate:15, brightness:0.2, contrast:0.2");
  app->add_option("--export,-o", options->output, "Write the trained model");
  app->add_flag("--with-preprocessing", options->with_preprocessing,
                "The exported model takes the data as it is and names the class: nodes prepare it");
  app->add_option("--export-training", options->training_output, "The same with the state of its training");
  app->add_option("--log", options->log, "Write a line of JSON per step and epoch");
  app->add_option("--profile", options->profile,
                  "Write a trace of the ten steps after the first for chrome://tracing and show the slowest operators");
  app->add_option("--plot", options->plot, "Draw the run as an SVG picture");
  app->add_option("--checkpoint", options->loop.checkpoints, "Directory for checkpoints");
  app->add_option("--every", options->loop.every, "Between checkpoints: steps, or as 1epoch or 10min");
  app->add_option("--keep", options->loop.keep, "Checkpoints to keep");
  app->add_flag("--resume", options->loop.resumes, "Go on from the newest checkpoint, also for more epochs");
  app->add_flag("--resume-force", options->loop.resumes_by_force, "The same, though data or settings have changed");
  app->add_flag("--dry-run", options->is_dry, "Only show which parameters would be trained, and why");
  return {app, [app, options, &global] {
            if (options->data.empty() && !options->is_dry) throw Error(Code::bad_usage, "--data is required");
            options->has_loss = app->count("--loss") > 0 || app->count("--loss-graph") > 0;
            options->has_batch = app->count("--batch") > 0;
            for (const char* name : kStepOptions)
              if (app->count(name) > 0)
                options->step_options += (options->step_options.empty() ? "" : ", ") + std::string(name);
            options->loop.resumes |= options->loop.resumes_by_force;
            return run_among_ranks(*options, global);
          }};
}

}  // namespace ingot::cli
