// ingot train: makes a model fit its data.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/train/trainer.h"
#include "ingot/train/training_info.h"
#include "terminal.h"
#include "train_options.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string model, from, data, log, output;
  train::DatasetOptions dataset;
  train::TrainingOptions training;
  train::LoopOptions loop;
  bool is_dry = false, keeps_order = false;
  double validation = 0;
};

volatile std::sig_atomic_t stop_signal = 0;
extern "C" void on_stop(int signal) {
  if (stop_signal) std::_Exit(128 + signal);
  stop_signal = signal;
}

/// The last part of the data is kept for judging.
train::Dataset split_off(train::Dataset& data, double share) {
  train::Dataset rest = data;
  const auto kept = static_cast<std::int64_t>(static_cast<double>(data.count) * (1 - share));
  for (std::size_t c = 0; c < data.columns.size(); ++c) {
    const Array all = data.columns[c].second;
    const std::size_t each = data.count ? all.byte_size() / static_cast<std::size_t>(data.count) : 0;
    const auto part = [&](std::int64_t first, std::int64_t count) {
      Dims dims = all.dims();
      dims[0] = count;
      return Array::view(all.dtype(), dims,
                         const_cast<std::byte*>(all.bytes()) + static_cast<std::size_t>(first) * each,
                         std::make_shared<Array>(all));
    };
    data.columns[c].second = part(0, kept);
    rest.columns[c].second = part(kept, rest.count - kept);
  }
  rest.count -= kept;
  data.count = kept;
  return rest;
}

void print_evaluation(const char* what, const train::Evaluation& e) {
  std::printf("%s: loss %.6g", what, e.loss);
  if (e.accuracy) std::printf(", accuracy %.4f", *e.accuracy);
  if (e.mean_absolute_error)
    std::printf(", mean absolute error %.6g, root mean square error %.6g", *e.mean_absolute_error,
                *e.root_mean_square_error);
  std::printf(" over %lld examples\n", static_cast<long long>(e.examples));
}

int run_train(const Options& given, bool has_loss, const Global& global) {
  Options options = given;
  options.loop.shuffles = !options.keeps_order;
  driver::Loaded loaded = driver::load(options.model, global.load_options(options.from));
  const bool is_stored = !loaded.model.training.empty() && !has_loss;
  const train::TrainingGraph training =
      is_stored ? train::read_training_info(loaded.model) : train::make_training_graph(loaded.model, options.training);
  if (!global.quiet)
    for (const std::string& note : training.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  if (options.is_dry) {
    print_parameters(training);
    return 0;
  }
  if (options.loop.resumes && options.loop.checkpoints.empty())
    throw Error(Code::bad_usage, "--resume needs --checkpoint, the directory to resume from");
  train::Dataset data = train::load_dataset(options.data, options.dataset);
  const train::Dataset judged = options.validation > 0 ? split_off(data, options.validation) : train::Dataset();
  std::ofstream log;
  if (!options.log.empty()) {
    log.open(options.log);
    if (!log) throw Error(Code::cannot_write, "the log cannot be written").in_file(options.log);
  }
  engine::SessionOptions session;
  session.budget = global.budget;
  train::StepRunner runner(training, session);
  const double lr = is_stored && !options.training.optimizer.lr ? 0 : train::learning_rate(options.training.optimizer);
  const auto begin = std::chrono::steady_clock::now();
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
  double shown = -1;
  const train::LoopReport report =
      train::run_loop(runner, training, data, lr, options.loop, [&](const train::Progress& p) {
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (log)
          log << Json{{"step", p.step}, {"epoch", p.epoch}, {"loss", p.loss}, {"gradient_norm", p.norm}, {"lr", p.lr}}
                     .dump()
              << "\n";
        const bool is_last = p.step == p.step_count;
        if (!global.quiet && (is_last || seconds - shown > 1)) {
          shown = seconds;
          const double rate = static_cast<double>(p.examples) / std::max(seconds, 1e-9);
          std::fprintf(stderr, "step %llu/%llu  epoch %llu  loss %.6g  %.0f examples/s\n",
                       static_cast<unsigned long long>(p.step), static_cast<unsigned long long>(p.step_count),
                       static_cast<unsigned long long>(p.epoch + 1), p.loss, rate);
        }
        return stop_signal == 0;
      });
  for (const std::string& note : report.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  if (report.resumed_at) std::printf("resumed after step %llu\n", static_cast<unsigned long long>(report.resumed_at));
  if (report.steps)
    std::printf("%llu steps: loss %.6g -> %.6g\n", static_cast<unsigned long long>(report.steps), report.first_loss,
                report.last_loss);
  train::export_weights(runner, loaded.model);
  if (judged.count > 0 && !is_stored)
    print_evaluation("held back",
                     train::evaluate(loaded.model, judged, options.training.loss, 256, options.training.prediction));
  if (!options.output.empty()) {
    driver::save(loaded.model, options.output);
    std::printf("%s written\n", options.output.c_str());
  }
  return report.was_stopped ? 128 + static_cast<int>(stop_signal) : 0;
}

}  // namespace

Command add_train(CLI::App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("train", "Train a model, or run the training that it carries");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  add_step_options(*app, options->training);
  app->add_option("--data", options->data, "Examples: .npz, .npy, .csv or idx (also .gz)");
  app->add_option("--target", options->dataset.target, "Targets: another file, or the name of a column or array");
  app->add_option("--scale", options->dataset.scale, "Divide whole numbers by this, such as 255 for pixels");
  app->add_option("--epochs", options->loop.epochs, "How often all examples are seen");
  app->add_option("--steps", options->loop.steps, "So many steps, whatever the epochs");
  app->add_option("--batch", options->loop.batch, "Examples per step");
  app->add_option("--seed", options->loop.seed, "Decides the order of examples");
  app->add_flag("--keep-order", options->keeps_order, "Take the examples in the order of the file");
  app->add_option("--schedule", options->loop.schedule, "Of the learning rate: constant, linear, cosine, step");
  app->add_option("--warmup", options->loop.warmup, "Steps in which the learning rate grows from zero");
  app->add_option("--val-split", options->validation, "Part of the data held back, to judge the result");
  app->add_option("--export,-o", options->output, "Write the trained model");
  app->add_option("--log", options->log, "Write a line of JSON per step");
  app->add_option("--checkpoint", options->loop.checkpoints, "Directory for checkpoints");
  app->add_option("--every", options->loop.every, "Steps between checkpoints");
  app->add_option("--keep", options->loop.keep, "Checkpoints to keep");
  app->add_flag("--resume", options->loop.resumes, "Go on from the newest checkpoint");
  app->add_flag("--dry-run", options->is_dry, "Only show which parameters would be trained, and why");
  return {app, [app, options, &global] {
            if (options->data.empty() && !options->is_dry) throw Error(Code::bad_usage, "--data is required");
            return run_train(*options, app->count("--loss") > 0, global);
          }};
}

namespace {

struct EvalOptions {
  std::string model, from, data;
  train::DatasetOptions dataset;
  train::TrainingOptions training;
  std::uint64_t batch = 256;
};

}  // namespace

Command add_eval(CLI::App& program, const Global& global) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* app = program.add_subcommand("eval", "Judge a model by data: loss, accuracy, errors");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  app->add_option("--loss", options->training.loss.name, "The loss");
  app->add_option("--output", options->training.prediction, "The output that is judged; default: the first");
  app->add_option("--batch", options->batch, "Examples at a time");
  add_data_options(*app, options->data, options->dataset);
  return {app, [options, &global] {
            const driver::Loaded loaded = driver::load(options->model, global.load_options(options->from));
            const train::Dataset data = train::load_dataset(options->data, options->dataset);
            print_evaluation(options->model.c_str(), train::evaluate(loaded.model, data, options->training.loss,
                                                                     options->batch, options->training.prediction));
            return 0;
          }};
}

}  // namespace ingot::cli
