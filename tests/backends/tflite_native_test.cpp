// The official backend tests as TFLite files, run by the real TFLite.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/error.h"
#include "ingot/base/float_types.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/backends/agreement.h"
#include "tests/backends/other_runtime.h"
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

template <class T> Tensor converted(const Tensor& x) {
  std::vector<T> values;
  for (const double v : x.to_doubles()) values.push_back(T(static_cast<float>(v)));
  return Tensor::of<T>(x.dims(), values);
}

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

/// With --auto-cast the file computes in float what the model computes in half precision: inputs are widened as its
/// users would, and results are rounded to what the model promises.
std::vector<Tensor> widened(std::vector<Tensor> all) {
  for (Tensor& x : all)
    if (is_half(x.dtype())) x = converted<float>(x);
  return all;
}

std::vector<Tensor> rounded(std::vector<Tensor> got, const std::vector<Tensor>& expected) {
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    if (got[i].dtype() != DType::f32 || !is_half(expected[i].dtype())) continue;
    got[i] = expected[i].dtype() == DType::f16 ? converted<Float16>(got[i]) : converted<BFloat16>(got[i]);
  }
  return got;
}

Outcome outcome_of(const test::BackendCase& c, test::OtherRuntime& native,
                   const backends::tflite::ExportOptions& options = {}) {
  std::string file;
  try {
    file = formats::tflite::to_bytes(backends::tflite::to_tflite(c.model, options).model);
  } catch (const Error& e) {
    return {e.message(), {}};
  }
  const bool casts = options.auto_cast != backends::tflite::AutoCast::none;
  const auto result = native.run(file, casts ? widened(tensors(c.inputs)) : tensors(c.inputs));
  if (!result.failure.empty()) return {{}, result.failure};
  const std::vector<Tensor> expected = tensors(c.outputs);
  return {{}, test::difference(casts ? rounded(result.outputs, expected) : result.outputs, expected)};
}

/// Cases whose inputs and outputs are all there, and tensors.
bool can_be_compared(const test::BackendCase& c) {
  if (c.outputs.size() != c.model.graph->output_count() || c.model.graph->node_count() == 0) return false;
  std::size_t inputs = 0;
  for (const Value* v : c.model.graph->inputs()) inputs += !v->initializer;
  return c.inputs.size() == inputs && std::ranges::all_of(c.inputs, is_tensor) &&
         std::ranges::all_of(c.outputs, is_tensor);
}

/// Types that a TFLite file has no word for, such as float8 and int2.
bool has_foreign_types(const test::BackendCase& c) {
  const auto is_foreign = [](const onnx::Data& d) {
    switch (d.tensor.dtype()) {
      case DType::f32:
      case DType::f16:
      case DType::f64:
      case DType::i8:
      case DType::u8:
      case DType::i16:
      case DType::u16:
      case DType::i32:
      case DType::u32:
      case DType::i64:
      case DType::u64:
      case DType::boolean:
      case DType::string:
        return false;
      default:
        return true;
    }
  };
  return std::ranges::any_of(c.inputs, is_foreign) || std::ranges::any_of(c.outputs, is_foreign);
}

struct Count {
  std::size_t total = 0, converted = 0, agreed = 0;

  void add(const Outcome& outcome) {
    ++total;
    converted += outcome.refusal.empty();
    agreed += outcome.refusal.empty() && outcome.difference.empty();
  }
  double share() const { return static_cast<double>(agreed) / static_cast<double>(total); }
  void print(const char* what) const {
    std::printf("%s: %zu, converted %zu, agree in TFLite %zu (%.1f %%)\n", what, total, converted, agreed,
                100 * share());
  }
};

TEST(TfliteNative, TestsOfTheTableAgree) {
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  std::map<std::string, bool> in_table;
  for (const auto& s : backends::tflite::supported_operators()) in_table[s.op] = s.is_native && s.domain.empty();
  Count single, floats;
  std::size_t foreign = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    if (!can_be_compared(c) || c.inputs.empty() || c.inputs[0].tensor.dtype() != DType::f32) return;
    for (const Node& n : c.model.graph->nodes())
      if (!n.domain.empty() || (!in_table[n.op] && n.op != "Constant")) return;
    if (has_foreign_types(c)) {
      ++foreign;
      return;
    }
    const Outcome outcome = outcome_of(c, *native);
    floats.add(outcome);
    if (c.inputs.size() == 1) single.add(outcome);
    if (!outcome.refusal.empty()) std::printf("  %s: %s\n", c.name.c_str(), outcome.refusal.c_str());
  });
  if (!single.total) GTEST_SKIP() << "no backend tests";
  std::printf("tests that cast to types without a word in TFLite, not counted: %zu\n", foreign);
  single.print("single-input float tests of operators in the table");
  floats.print("float tests of operators in the table with any number of inputs");
  EXPECT_GE(single.share(), 0.95);
  EXPECT_GE(floats.share(), 0.9);
}

/// Every case, whatever its types and number of inputs: what converts, agrees.
void check_all(const backends::tflite::ExportOptions& options, const char* known_file) {
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
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
