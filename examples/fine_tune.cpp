// Fine-tunes the last layer of a model: ingot_example_fine_tune [model.onnx data.csv target out.onnx]
//
// Without arguments it makes a small model and data of its own, trains, and checks that the model has learnt.
#include <cmath>
#include <cstdio>
#include <string>

#include "ingot/ingot.h"

namespace {

/// Three kinds of points on a plane: a file such as a user has.
void write_table(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) throw ingot::Error(ingot::Code::cannot_write, "the table cannot be written").in_file(path);
  std::fputs("x,y,kind\n", file);
  for (int i = 0; i < 90; ++i) {
    const double angle = i % 3 * 2.0944, turn = i * 0.7;
    std::fprintf(file, "%g,%g,%s\n", std::cos(angle) + 0.2 * std::cos(turn), std::sin(angle) + 0.2 * std::sin(turn),
                 i % 3 == 0   ? "east"
                 : i % 3 == 1 ? "north"
                              : "south");
  }
  std::fclose(file);
}

constexpr const char* kModel = R"(<ir_version: 10, opset_import: ["" : 21]>
net (float[N, 2] x) => (float[N, 3] y)
<float[2, 4] w1 = {1, 0, -1, 0.5, 0, 1, 0.5, -1}, float[4, 3] w2 = {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0}>
{
  h = MatMul(x, w1)
  a = Tanh(h)
  y = MatMul(a, w2)
}
)";

void write_model(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) throw ingot::Error(ingot::Code::cannot_write, "the model cannot be written").in_file(path);
  std::fputs(kModel, file);
  std::fclose(file);
}

int fine_tune(const std::string& model_path, const std::string& data_path, const std::string& target,
              const std::string& out_path) {
  const ingot::Model model = ingot::load(model_path).model;
  ingot::DatasetOptions from;
  from.target = target;
  const ingot::Dataset data = ingot::load_dataset(data_path, from, model);

  ingot::TrainingOptions how;
  how.loss.name = "cross_entropy";
  how.optimizer.name = "adam";
  how.optimizer.lr = 0.05;
  how.parameters.last = 1;  // only the last layer
  ingot::Trainer trainer(model, how);
  ingot::LoopOptions loop;
  loop.batch = 30;
  loop.epochs = 40;
  const auto report = trainer.fit(data, loop);
  std::printf("loss %.4f -> %.4f\n", report.first_loss, report.last_loss);

  const ingot::Model trained = trainer.trained();
  const ingot::Evaluation judged = ingot::evaluate(trained, data);
  std::printf("accuracy %.3f\n", judged.accuracy.value_or(0));
  ingot::save(trained, out_path);
  return judged.accuracy.value_or(0) > 0.9 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 5) return fine_tune(argv[1], argv[2], argv[3], argv[4]);
    write_table("fine_tune.csv");
    write_model("fine_tune.onnxtxt");
    return fine_tune("fine_tune.onnxtxt", "fine_tune.csv", "kind", "fine_tune.onnx");
  } catch (const ingot::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
