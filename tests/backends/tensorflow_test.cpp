// The official backend tests as TensorFlow's graphs: run by the real TF.js, or read again by Ingot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "ingot/base/error.h"
#include "tests/backends/agreement.h"
#include "tests/backends/tensorflow_runs.h"
#include "tests/passes/backend_cases.h"

namespace ingot {
namespace {

using backends::tensorflow::Dialect;
using backends::tensorflow::Exported;
using backends::tensorflow::ExportOptions;

bool is_tensor(const onnx::Data& d) { return d.kind == onnx::Data::Kind::tensor; }

std::vector<Tensor> tensors(const std::vector<onnx::Data>& data) {
  std::vector<Tensor> all;
  for (const onnx::Data& d : data) all.push_back(d.tensor);
  return all;
}

/// Cases whose inputs and outputs are all there, and tensors.
bool can_be_compared(const test::BackendCase& c) {
  if (c.outputs.size() != c.model.graph->output_count() || c.model.graph->node_count() == 0) return false;
  std::size_t inputs = 0;
  for (const Value* v : c.model.graph->inputs()) inputs += !v->initializer;
  return c.inputs.size() == inputs && std::ranges::all_of(c.inputs, is_tensor) &&
         std::ranges::all_of(c.outputs, is_tensor);
}

/// Results that draws of random numbers decide.
bool draws_numbers(const test::BackendCase& c) {
  return c.name.find("bernoulli") != std::string::npos || c.name.find("dropout") != std::string::npos;
}

/// One case in sixteen, or all (script/acceptance).
bool is_chosen(const std::string& name) { return test::is_sampled(name) && test::is_sampled(name + " again"); }

struct Made {
  std::string refusal{};
  Exported model{};
};

Made made_for(const Model& model, Dialect dialect) {
  ExportOptions options;
  options.dialect = dialect;
  options.auto_cast = passes::CastRule::all;
  try {
    return {{}, to_tensorflow(model, options)};
  } catch (const Error& e) {
    return {e.message(), {}};
  }
}

TEST(TensorflowExport, MostOfTheOfficialTestsConvertAndAgree) {
  const auto tfjs = test::Tfjs::find();
  if (!tfjs) GTEST_SKIP() << "build/peers has no TF.js: script/bootstrap installs it";
  std::size_t total = 0, converted = 0, in_tfjs = 0, again = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    if (!can_be_compared(c) || draws_numbers(c) || !is_chosen(c.name)) return;
    ++total;
    const std::vector<Tensor> inputs = tensors(c.inputs), expected = tensors(c.outputs);
    std::string why_not_tfjs, why_not_again;
    if (Made made = made_for(c.model, Dialect::tfjs); made.refusal.empty()) {
      const test::TensorflowResult result = tfjs->run(made.model, inputs);
      why_not_tfjs = result.failure.empty() ? test::difference_in_value(result.outputs, expected) : result.failure;
      if (why_not_tfjs.empty()) {
        ++in_tfjs;
        ++converted;
        return;
      }
    } else {
      why_not_tfjs = made.refusal;
    }
    Made made = made_for(c.model, Dialect::tensorflow);
    if (!made.refusal.empty()) {
      std::printf("  refused %s: %s\n", c.name.c_str(), made.refusal.c_str());
      return;
    }
    ++converted;
    const test::TensorflowResult result = test::run_read_again(made.model, inputs);
    why_not_again = result.failure.empty() ? test::difference_in_value(result.outputs, expected) : result.failure;
    again += why_not_again.empty();
    std::printf("  %s %s: TF.js: %s%s%s\n", why_not_again.empty() ? "by Ingot" : "differs", c.name.c_str(),
                why_not_tfjs.substr(0, 300).c_str(),
                why_not_again.empty() ? "" : "; Ingot: ", why_not_again.substr(0, 400).c_str());
  });
  if (!total) GTEST_SKIP() << "no backend tests";
  const auto share = static_cast<double>(in_tfjs + again) / static_cast<double>(total);
  std::printf("backend tests with tensors: %zu, converted %zu, agree in TF.js %zu, read again by Ingot %zu (%.1f %%)\n",
              total, converted, in_tfjs, again, 100 * share);
  EXPECT_GE(share, 0.95);
}

}  // namespace
}  // namespace ingot
