// The same network in several formats gives the same numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

struct File {
  const char* path;         // below the corpus
  const char* output = "";  // where to cut; empty: at the model's own outputs
};

struct Family {
  const char* name;
  std::vector<File> files;
  std::vector<Dims> inputs;
  std::size_t outputs =
      1;  // how many of the first file are compared, each with the other's of its place, or of its size
  double tolerance = 1e-4;  // of the scale of the first file's output
  bool has_rate = false;    // the last input is the number 16000
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

std::vector<Array> inputs_of(const Family& family) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> one(-1, 1);
  std::vector<Array> inputs;
  for (const Dims& dims : family.inputs) {
    std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
    for (float& v : values) v = one(random);
    inputs.push_back(Array::from(Tensor::of<float>(dims, values)));
  }
  if (family.has_rate) inputs.push_back(Array::from(Tensor::scalar(std::int64_t{16000})));
  return inputs;
}

std::vector<std::vector<double>> run(const std::string& path, const File& file, const std::vector<Array>& inputs) {
  driver::LoadOptions options;
  if (*file.output) options.import.outputs = {file.output};
  const driver::Loaded loaded = driver::load(path, options);
  const engine::Session session(loaded.model);
  std::vector<engine::NamedDatum> named;
  for (const Value* input : loaded.model.graph->inputs())
    if (!input->initializer && named.size() < inputs.size()) named.push_back({input->name(), inputs[named.size()]});
  std::vector<std::vector<double>> outputs;
  for (const engine::NamedDatum& datum : session.run(named))
    outputs.push_back(datum.value.array()->to_tensor().to_doubles());
  return outputs;
}

class FamilyTest : public testing::TestWithParam<Family> {};

TEST_P(FamilyTest, GivesTheSameNumbersInEveryFormat) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "no shared test data";
  const Family& family = GetParam();
  const std::vector<Array> inputs = inputs_of(family);
  const auto run_file = [&](const File& f) { return run((*shared / "corpus" / f.path).string(), f, inputs); };
  const auto first = run_file(family.files.front());
  for (std::size_t f = 1; f < family.files.size(); ++f) {
    const char* path = family.files[f].path;
    const auto all = run_file(family.files[f]);
    for (std::size_t k = 0; k < family.outputs; ++k) {
      const auto fits = [&](const std::vector<double>& v) { return v.size() == first[k].size(); };
      const auto own = all.begin() + static_cast<std::ptrdiff_t>(std::min(k, all.size()));
      const auto other = own != all.end() && fits(*own) ? own : std::ranges::find_if(all, fits);
      ASSERT_NE(other, all.end()) << path << ", output " << k;
      double scale = 0, worst = 0;
      for (std::size_t i = 0; i < first[k].size(); ++i) {
        scale = std::max(scale, std::abs(first[k][i]));
        worst = std::max(worst, std::abs(first[k][i] - (*other)[i]));
      }
      EXPECT_LE(worst, family.tolerance * scale) << path << ", output " << k << ", scale " << scale;
      EXPECT_GT(scale, 0) << "nothing to compare";
    }
  }
}

const Family kFamilies[] = {
    {"dtln1", {{"tflite/dtln/model_1.tflite"}, {"onnx/dtln/model_1.onnx"}}, {{1, 1, 257}, {1, 2, 128, 2}}, 2},
    {"dtln2", {{"tflite/dtln/model_2.tflite"}, {"onnx/dtln/model_2.onnx"}}, {{1, 1, 512}, {1, 2, 128, 2}}, 2},
    {"embedding",
     {{"tflite/openwakeword/embedding_model.tflite"}, {"onnx/openwakeword/embedding_model.onnx"}},
     {{1, 76, 32, 1}}},
    {"melspectrogram",
     {{"tflite/openwakeword/melspectrogram.tflite"}, {"onnx/openwakeword/melspectrogram.onnx"}},
     {{1, 1280}}},
    {"hey_jarvis",
     {{"tflite/openwakeword/hey_jarvis_v0.1.tflite"}, {"onnx/openwakeword/hey_jarvis_v0.1.onnx"}},
     {{1, 16, 96}}},
    {"hey_mycroft",
     {{"tflite/openwakeword/hey_mycroft_v0.1.tflite"}, {"onnx/openwakeword/hey_mycroft_v0.1.onnx"}},
     {{1, 16, 96}}},
    {"alexa", {{"tflite/openwakeword/alexa_v0.1.tflite"}, {"onnx/openwakeword/alexa_v0.1.onnx"}}, {{1, 16, 96}}},
    {"face_landmark",
     {{"tflite/mediapipe_face_mesh/face_landmark.tflite"}, {"tfjs/human/facemesh/facemesh.json"}},
     {{1, 192, 192, 3}}},
    {"regression",
     {{"savedmodel/tf2onnx/regression/saved_model"},
      {"savedmodel/checkpoint_tf2onnx/checkpoint/model.meta", "pred"},
      {"frozen_pb/tf2onnx/regression/graphdef/frozen.pb"},
      {"tflite/tf2onnx_regression/model.tflite"}},
     {{}}},
    {"silero_vad",
     {{"onnx/silero_vad/silero_vad.onnx"}, {"onnx/silero_vad/silero_vad_16k_op15.onnx"}},
     {{1, 576}, {2, 1, 128}},
     2,
     1e-4,
     true},
};

INSTANTIATE_TEST_SUITE_P(Corpus, FamilyTest, testing::ValuesIn(kFamilies),
                         [](const auto& family) { return std::string(family.param.name); });

}  // namespace
}  // namespace ingot
