// The official backend tests as TFLite files, run by the real TFLite.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/backends/agreement.h"
#include "tests/backends/native_tflite.h"
#include "tests/passes/backend_cases.h"

namespace ingot {
namespace {

bool is_tensor(const onnx::Data& d) { return d.kind == onnx::Data::Kind::tensor; }

std::vector<Tensor> tensors(const std::vector<onnx::Data>& data) {
  std::vector<Tensor> all;
  for (const onnx::Data& d : data) all.push_back(d.tensor);
  return all;
}

/// One case as a TFLite file on the native library.
struct Outcome {
  std::string refusal;     // empty: it converts
  std::string difference;  // empty: it converts and agrees
};

Outcome outcome_of(const test::BackendCase& c, const test::NativeTflite& native,
                   const backends::tflite::ExportOptions& options = {}) {
  std::string file;
  try {
    file = formats::tflite::to_bytes(backends::tflite::to_tflite(c.model, options).model);
  } catch (const Error& e) {
    return {e.message(), {}};
  }
  const auto result = native.run(file, tensors(c.inputs));
  return {{}, result.failure.empty() ? test::difference(result.outputs, tensors(c.outputs)) : result.failure};
}

/// Cases whose inputs and outputs are all there, and tensors.
bool can_be_compared(const test::BackendCase& c) {
  if (c.outputs.size() != c.model.graph->output_count() || c.model.graph->node_count() == 0) return false;
  std::size_t inputs = 0;
  for (const Value* v : c.model.graph->inputs()) inputs += !v->initializer;
  return c.inputs.size() == inputs && std::ranges::all_of(c.inputs, is_tensor) &&
         std::ranges::all_of(c.outputs, is_tensor);
}

TEST(TfliteNative, SingleInputFloatTestsOfTheTableAgree) {
  const auto native = test::NativeTflite::find();
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  std::map<std::string, bool> in_table;
  for (const auto& s : backends::tflite::supported_operators()) in_table[s.op] = s.is_native && s.domain.empty();
  std::size_t total = 0, converted = 0, agreed = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    if (!can_be_compared(c) || c.inputs.size() != 1 || c.inputs[0].tensor.dtype() != DType::f32) return;
    for (const Node& n : c.model.graph->nodes())
      if (!n.domain.empty() || (!in_table[n.op] && n.op != "Constant")) return;
    ++total;
    const Outcome outcome = outcome_of(c, *native);
    converted += outcome.refusal.empty();
    agreed += outcome.refusal.empty() && outcome.difference.empty();
    if (!outcome.refusal.empty()) std::printf("  %s: %s\n", c.name.c_str(), outcome.refusal.c_str());
  });
  if (!total) GTEST_SKIP() << "no backend tests";
  std::printf("single-input float tests of operators in the table: %zu, converted %zu, agree in TFLite %zu (%.1f %%)\n",
              total, converted, agreed, 100.0 * static_cast<double>(agreed) / static_cast<double>(total));
  EXPECT_GE(static_cast<double>(agreed), 0.8 * static_cast<double>(total));
}

/// Every case, whatever its types and number of inputs: what converts, agrees.
void check_all(const backends::tflite::ExportOptions& options, const char* known_file) {
  const auto native = test::NativeTflite::find();
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  test::KnownDifferences known(known_file);
  std::size_t total = 0, converted = 0, agreed = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    if (!can_be_compared(c)) return;
    ++total;
    const Outcome outcome = outcome_of(c, *native, options);
    if (!outcome.refusal.empty()) return;
    ++converted;
    agreed += outcome.difference.empty();
    known.check(c.name, outcome.difference);
  });
  if (!total) GTEST_SKIP() << "no backend tests";
  known.finish();
  std::printf("backend tests with tensors: %zu, converted %zu, agree in TFLite %zu\n", total, converted, agreed);
}

TEST(TfliteNative, WhatConvertsAgrees) { check_all({}, "native_differences.txt"); }

TEST(TfliteNative, WhatConvertsInOtherTypesAgrees) {
  backends::tflite::ExportOptions options;
  options.auto_cast = backends::tflite::AutoCast::all;
  check_all(options, "native_differences_cast.txt");
}

}  // namespace
}  // namespace ingot
