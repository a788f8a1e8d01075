// TFLite -> ONNX -> TFLite: the corpus of real files comes back with the same numbers, quantisation and size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/backends/agreement.h"
#include "tests/backends/other_runtime.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
namespace tfl = formats::tflite;

std::size_t count_operators(const tfl::Model& model, std::optional<tfl::BuiltinOperator> only = {}) {
  std::size_t count = 0;
  for (const tfl::SubGraph& g : model.subgraphs)
    for (const tfl::Operator& op : g.operators) count += !only || op.code.builtin == *only;
  return count;
}

bool is_convolutional(const tfl::Model& model) {
  return count_operators(model, tfl::BuiltinOperator::CONV_2D) > 0 ||
         count_operators(model, tfl::BuiltinOperator::DEPTHWISE_CONV_2D) > 0;
}

/// Custom operators of the source: who has a runtime for them allows them.
std::vector<std::string> custom_operators(const tfl::Model& model) {
  std::vector<std::string> names;
  for (const tfl::SubGraph& g : model.subgraphs)
    for (const tfl::Operator& op : g.operators)
      if (op.code.builtin == tfl::BuiltinOperator::CUSTOM) names.push_back(op.code.custom);
  return names;
}

bool has_variables(const tfl::Model& model) {
  return count_operators(model, tfl::BuiltinOperator::VAR_HANDLE) > 0 ||
         std::ranges::any_of(model.subgraphs, [](const tfl::SubGraph& g) {
           return std::ranges::any_of(g.tensors, &tfl::Tensor::is_variable);
         });
}

/// Scales and zero points of all quantised tensors that operators read or write, each once.
struct Parameters {
  tfl::TensorType type;
  std::vector<float> scale;
  std::vector<std::int64_t> zero_point;
  auto operator<=>(const Parameters&) const = default;
};
std::set<Parameters> parameters_of(const tfl::Model& model) {
  std::set<Parameters> all;
  for (const tfl::SubGraph& g : model.subgraphs)
    for (const tfl::Operator& op : g.operators)
      for (const auto* list : {&op.inputs, &op.outputs})
        for (const std::int32_t i : *list) {
          if (i < 0) continue;
          const tfl::Tensor& t = g.tensors[static_cast<std::size_t>(i)];
          const bool is_small = t.type == tfl::TensorType::INT8 || t.type == tfl::TensorType::UINT8 ||
                                t.type == tfl::TensorType::INT16 || t.type == tfl::TensorType::INT4;
          if (!is_small || !t.quantization || t.quantization->scale.empty()) continue;
          std::vector<std::int64_t> zero = t.quantization->zero_point;
          zero.resize(t.quantization->scale.size(), zero.empty() ? 0 : zero[0]);
          all.insert({t.type, t.quantization->scale, zero});
        }
  return all;
}

Tensor drawn(const tfl::Tensor& t, std::uint32_t& state) {
  const auto next = [&] {
    state = state * 1664525U + 1013904223U;
    return state >> 8;
  };
  const Dims dims(t.shape.begin(), t.shape.end());
  const auto count = static_cast<std::size_t>(tensor_size(dims));
  const auto fill = [&]<class T>(auto draw) {
    std::vector<T> values(count);
    for (T& x : values) x = static_cast<T>(draw(next()));
    return Tensor::of<T>(dims, values);
  };
  const auto few = [](std::uint32_t u) { return u % 4; };
  switch (t.type) {
    case tfl::TensorType::FLOAT32:
      return fill.operator()<float>([](std::uint32_t u) { return static_cast<float>(u) / 8388608.0f - 1; });
    case tfl::TensorType::INT8:
      return fill.operator()<std::int8_t>([](std::uint32_t u) { return static_cast<int>(u % 256) - 128; });
    case tfl::TensorType::UINT8:
      return fill.operator()<std::uint8_t>([](std::uint32_t u) { return u % 256; });
    case tfl::TensorType::INT16:
      return fill.operator()<std::int16_t>([](std::uint32_t u) { return static_cast<int>(u % 6000) - 3000; });
    case tfl::TensorType::INT32:
      return fill.operator()<std::int32_t>(few);
    case tfl::TensorType::INT64:
      return fill.operator()<std::int64_t>(few);
    case tfl::TensorType::BOOL: {
      std::string bits(count, '\0');
      for (char& c : bits) c = static_cast<char>(next() % 2);
      return Tensor(DType::boolean, dims, Bytes::own(std::move(bits)));
    }
    default:
      return {};
  }
}

/// What came of one file, by the name of each kind of exception; empty: nothing to object.
struct RoundTrip {
  std::string refused, numbers, quantisation, operators, transposes;
  std::size_t operators_before = 0, operators_after = 0, transposes_before = 0, transposes_after = 0;
  bool is_compared = false, is_quantized = false;
};

std::string as_text(std::size_t before, std::size_t after) {
  return std::to_string(before) + " became " + std::to_string(after);
}

RoundTrip there_and_back(const fs::path& path, const tfl::Model& source, test::OtherRuntime& native) {
  RoundTrip trip;
  std::string file;
  tfl::Model made;
  try {
    const test::TempDir directory;
    Model model = driver::load(path.string()).model;
    driver::AdjustOptions options;
    options.opset = 21;
    driver::adjust(model, options);
    driver::save(model, directory / "between.onnx");
    const Model between = driver::load(directory / "between.onnx").model;
    backends::tflite::ExportOptions allowing;
    allowing.allow_custom = custom_operators(source);
    file = tfl::to_bytes(backends::tflite::to_tflite(between, allowing).model);
    made = tfl::read(Bytes::copy(bytes_of(file)));
    EXPECT_TRUE(file == tfl::to_bytes(backends::tflite::to_tflite(between, allowing).model))
        << path << " changes its bytes";
  } catch (const Error& error) {
    trip.refused = error.message();
    return trip;
  }
  trip.operators_before = count_operators(source);
  trip.operators_after = count_operators(made);
  trip.transposes_before = count_operators(source, tfl::BuiltinOperator::TRANSPOSE);
  trip.transposes_after = count_operators(made, tfl::BuiltinOperator::TRANSPOSE);
  if (10 * trip.operators_after > 11 * trip.operators_before)
    trip.operators = as_text(trip.operators_before, trip.operators_after);
  if (is_convolutional(source) && trip.transposes_after > trip.transposes_before)
    trip.transposes = as_text(trip.transposes_before, trip.transposes_after);
  const std::set<Parameters> before = parameters_of(source), after = parameters_of(made);
  trip.is_quantized = !before.empty();
  std::size_t lost = 0, gained = 0;
  for (const Parameters& p : before) lost += !after.contains(p);
  for (const Parameters& p : after) gained += !before.contains(p);
  if (lost || gained)
    trip.quantisation =
        std::to_string(lost) + " of " + std::to_string(before.size()) + " lost, " + std::to_string(gained) + " are new";
  std::vector<Tensor> inputs;
  std::uint32_t state = 11;
  for (const std::int32_t i : source.subgraphs[0].inputs) {
    inputs.push_back(drawn(source.subgraphs[0].tensors[static_cast<std::size_t>(i)], state));
    if (!inputs.back()) return trip;
  }
  const auto expected = native.run(test::read_text(path), inputs);
  if (!expected.failure.empty()) return trip;
  trip.is_compared = true;
  const auto got = native.run(file, inputs);
  trip.numbers = got.failure.empty() ? test::difference(got.outputs, expected.outputs) : got.failure;
  if (!trip.numbers.empty() || !has_variables(made)) return trip;
  constexpr int kRuns = 3;  // what variables hold in the last of them comes from the others
  const auto late = native.run(test::read_text(path), inputs, kRuns), own = native.run(file, inputs, kRuns);
  trip.numbers = own.failure + test::difference(own.outputs, late.outputs);
  return trip;
}

TEST(TfliteRoundTrip, ComesBackTheSame) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the models are not here: no shared directory";
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  test::KnownDifferences known("round_trip_differences.txt", true);
  const fs::path root = *shared / "corpus/tflite";
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file() && test::is_sampled(fs::relative(entry.path(), *shared).string()))
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::size_t files = 0, converted = 0, compared = 0, same = 0, quantized = 0, before = 0, after = 0, turned = 0,
              turned_after = 0, small = 0;
  for (const fs::path& path : paths) {
    tfl::Model source;
    try {
      const Bytes bytes = map_file(path.string());
      if (!tfl::looks_like_tflite(bytes)) continue;
      source = tfl::read(bytes);
      driver::load(path.string());
    } catch (const Error&) {
      continue;  // not read, or not translated: tests/frontends names them
    }
    const std::string name = fs::relative(path, root).string();
    ++files;
    const RoundTrip trip = there_and_back(path, source, *native);
    known.check("refused " + name, trip.refused);
    if (!trip.refused.empty()) continue;
    ++converted;
    compared += trip.is_compared;
    same += trip.is_compared && trip.numbers.empty();
    quantized += trip.is_quantized && trip.quantisation.empty();
    small += trip.operators.empty();
    before += trip.operators_before;
    after += trip.operators_after;
    turned += trip.transposes_before;
    turned_after += trip.transposes_after;
    if (trip.is_compared) known.check("numbers " + name, trip.numbers);
    known.check("quantisation " + name, trip.quantisation);
    known.check("operators " + name, trip.operators);
    known.check("transposes " + name, trip.transposes);
  }
  known.finish();
  std::printf("%zu TFLite files become ONNX, %zu of them TFLite again; %zu of %zu that TFLite runs give the same\n",
              files, converted, same, compared);
  std::printf("%zu have at most 10 %% more operators\n", small);
  std::printf("operators %zu -> %zu, transposes %zu -> %zu, the same quantisation in %zu quantised files\n", before,
              after, turned, turned_after, quantized);
}

/// docs/tflite.md says so, and that such files are compared with values worked out by hand only.
TEST(TfliteRoundTrip, LiteRtGivesZerosForProductsOf16And8Bits) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the models are not here: no shared directory";
  const auto runtime = test::OtherRuntime::find(verify::Runtime::litert);
  if (!runtime) GTEST_SKIP() << "build/peers has no @litertjs/core: script/bootstrap installs it";
  for (const char* name :
       {"static_w8_a16_quantized_attn_vec_einsum.tflite", "static_w8_a16_quantized_v_einsum.tflite"}) {
    const std::string path = (*shared / "corpus/tflite/litert_testdata/litert/test/testdata" / name).string();
    const tfl::Model source = tfl::read(map_file(path));
    std::uint32_t state = 5;
    const Tensor input =
        drawn(source.subgraphs[0].tensors.at(static_cast<std::size_t>(source.subgraphs[0].inputs[0])), state);
    const auto given = runtime->run(test::read_text(path), {input});
    ASSERT_EQ(given.failure, "") << name;
    const auto is_zero = [](double x) { return x == 0; };
    EXPECT_TRUE(std::ranges::all_of(given.outputs.at(0).to_doubles(), is_zero)) << name;
    const Model model = driver::load(path).model;
    const auto own = engine::Session(model).run({{model.graph->inputs()[0]->name(), Array::from(input)}});
    EXPECT_FALSE(std::ranges::all_of(own.at(0).value.array()->to_doubles(), is_zero)) << name;
  }
}

}  // namespace
}  // namespace ingot
