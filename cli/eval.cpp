// ingot eval: judges a model by data.
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/dataset.h"
#include "ingot/train/evaluation.h"
#include "terminal.h"
#include "train_options.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, from, data;
  train::DatasetOptions dataset;
  train::EvaluationOptions evaluation;
  bool shows_confusion = false, is_json = false;
};

std::string name_of(const train::Dataset& data, std::size_t i) {
  const auto& classes = data.preparation.classes;
  return i < classes.size() ? classes[i] : std::to_string(i);
}

void print_confusion(const train::Evaluation& e, const train::Dataset& data) {
  Table table(std::vector<bool>(e.confusion.size() + 1, true));
  std::vector<std::string> head = {"is \\ said"};
  for (std::size_t i = 0; i < e.confusion.size(); ++i) head.push_back(name_of(data, i));
  table.add(head);
  for (std::size_t i = 0; i < e.confusion.size(); ++i) {
    std::vector<std::string> row = {name_of(data, i)};
    for (const std::int64_t n : e.confusion[i]) row.push_back(std::to_string(n));
    table.add(row);
  }
  std::fputs(table.str().c_str(), stdout);
}

Json to_json(const train::Evaluation& e, const train::Dataset& data) {
  Json json{{"examples", e.examples}, {"loss", e.loss}};
  const auto add = [&](const char* name, const std::optional<double>& v) {
    if (v) json[name] = *v;
  };
  add("accuracy", e.accuracy);
  add("top5", e.top5);
  add("macro_f1", e.macro_f1);
  add("auc", e.area_under_curve);
  add("mae", e.mean_absolute_error);
  add("rmse", e.root_mean_square_error);
  add("r2", e.explained);
  if (!e.confusion.empty()) json["confusion"] = e.confusion;
  if (!data.preparation.classes.empty()) json["classes"] = data.preparation.classes;
  return json;
}

}  // namespace

void print_evaluation(const char* what, const train::Evaluation& e) {
  std::printf("%s: loss %.6g", what, e.loss);
  if (e.accuracy) std::printf(", accuracy %.4f", *e.accuracy);
  if (e.top5) std::printf(", top-5 accuracy %.4f", *e.top5);
  if (e.macro_f1) std::printf(", F1 %.4f", *e.macro_f1);
  if (e.area_under_curve) std::printf(", area under the curve %.4f", *e.area_under_curve);
  if (e.mean_absolute_error)
    std::printf(", mean absolute error %.6g, root mean square error %.6g", *e.mean_absolute_error,
                *e.root_mean_square_error);
  if (e.explained) std::printf(", R2 %.4f", *e.explained);
  std::printf(" over %lld examples\n", static_cast<long long>(e.examples));
}

Command add_eval(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  options->dataset.part = "test";
  App* app = program.add_subcommand("eval", "Judge a model by data: loss, accuracy, errors");
  app->footer(
      "Classes, columns and the preparation of inputs are those that the model was trained with, unless options say\n"
      "otherwise. Of a .npz with x_train and x_test, the test part is taken.\n\n"
      "  ingot eval trained.onnx --data test.csv --confusion\n"
      "  ingot eval model.onnx --data test.csv --target class --labels classes.txt --json");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  app->add_option("--loss", options->evaluation.loss.name, "The loss");
  app->add_option("--output", options->evaluation.prediction, "The output that is judged; default: the first");
  app->add_option("--batch", options->evaluation.batch, "Examples at a time");
  app->add_flag("--confusion", options->shows_confusion, "Show which classes are taken for which");
  app->add_flag("--json", options->is_json, "Print all figures as JSON");
  add_data_options(*app, options->data, options->dataset);
  app->get_option("--data")->required();
  return {app, [options, &global] {
            const driver::Loaded loaded = driver::load(options->model, global.load_options(options->from));
            const train::Dataset data =
                driver::load_dataset(options->data, options->dataset, loaded.model, global.load_options());
            if (data.target.empty())
              throw Error(Code::bad_usage, "the data has no targets to judge by").hint("--target names them");
            train::require_classes(loaded.model, data, options->evaluation.prediction, false);
            options->evaluation.budget = global.budget;
            const train::Evaluation e = train::evaluate(loaded.model, data, options->evaluation);
            if (options->is_json) {
              std::printf("%s\n", to_json(e, data).dump(2).c_str());
              return 0;
            }
            print_evaluation(options->model.c_str(), e);
            if (options->shows_confusion) print_confusion(e, data);
            return 0;
          }};
}

}  // namespace ingot::cli
