// The official backend tests as TFLite files, run by the real TFLite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/backends/native_tflite.h"
#include "tests/passes/backend_cases.h"

namespace ingot {
namespace {

/// Within 1e-4 of the output's scale, NaN and infinities in the same places; integers exactly.
std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype()) return "another type";
  if (got.dims() != expected.dims()) return "another shape";
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  double scale = 0;
  for (const double x : b)
    if (std::isfinite(x)) scale = std::max(scale, std::abs(x));
  const double allowed = expected.dtype() == DType::f32 ? 1e-4 * scale : 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] != b[i] && !(std::abs(a[i] - b[i]) <= allowed)) return "element " + std::to_string(i);
  }
  return "";
}

bool is_float_tensor(const onnx::Data& d) {
  return d.kind == onnx::Data::Kind::tensor && d.tensor.dtype() == DType::f32;
}

TEST(TfliteNative, SingleInputFloatTestsOfTheTableAgree) {
  const auto native = test::NativeTflite::find();
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  std::map<std::string, bool> in_table;
  for (const auto& s : backends::tflite::supported_operators()) in_table[s.op] = s.is_native && s.domain.empty();
  std::size_t total = 0, converted = 0, agreed = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    if (!c.name.starts_with("test_") || c.inputs.size() != 1 || !is_float_tensor(c.inputs[0])) return;
    if (c.outputs.empty() || c.model.graph->node_count() == 0) return;
    for (const Node& n : c.model.graph->nodes())
      if (!n.domain.empty() || (!in_table[n.op] && n.op != "Constant")) return;
    for (const onnx::Data& d : c.outputs)
      if (d.kind != onnx::Data::Kind::tensor) return;
    ++total;
    std::string file;
    try {
      file = formats::tflite::to_bytes(backends::tflite::to_tflite(c.model).model);
    } catch (const Error& e) {
      std::printf("  %s: %s\n", c.name.c_str(), e.message().c_str());
      return;
    }
    ++converted;
    const auto result = native->run(file, {c.inputs[0].tensor});
    std::string why = result.failure;
    if (why.empty() && result.outputs.size() != c.outputs.size()) why = "another number of outputs";
    for (std::size_t i = 0; why.empty() && i < c.outputs.size(); ++i)
      why = difference(result.outputs[i], c.outputs[i].tensor);
    agreed += why.empty();
    if (!why.empty()) std::printf("  %s: %s\n", c.name.c_str(), why.c_str());
  });
  if (!total) GTEST_SKIP() << "no backend tests";
  std::printf("single-input float tests of operators in the table: %zu, converted %zu, agree in TFLite %zu (%.1f %%)\n",
              total, converted, agreed, 100.0 * static_cast<double>(agreed) / static_cast<double>(total));
  EXPECT_GE(static_cast<double>(agreed), 0.8 * static_cast<double>(total));
}

}  // namespace
}  // namespace ingot
