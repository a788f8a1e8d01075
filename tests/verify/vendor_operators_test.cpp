// Random uses of the operators that ONNX does not define: ONNX Runtime, Ingot, and ONNX Runtime without the operator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/writer.h"
#include "ingot/ops/catalog.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/standardize.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/peer.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"
#include "tests/verify/vendor_case.h"

namespace ingot {
namespace {

using Outputs = std::vector<engine::NamedDatum>;

std::string compare(const Outputs& got, const Outputs& expected, const test::VendorCase& c) {
  for (const engine::NamedDatum& e : expected) {
    if (c.is_open(e.name)) continue;
    const auto it = std::ranges::find(got, e.name, &engine::NamedDatum::name);
    if (it == got.end()) return "output '" + e.name + "' is missing";
    verify::Tolerance tolerance{.rtol = 0, .atol = 1e-6, .scale = c.scale, .steps = 0};
    const Array* array = e.value.array();
    if (array && (array->dtype() == DType::u8 || array->dtype() == DType::i8)) tolerance.steps = c.steps;
    if (const auto d = verify::difference(it->value, e.value, tolerance)) return "output '" + e.name + "' " + *d;
  }
  return {};
}

/// What the peer says to the model in plain operators.
std::string compare_standard(const test::VendorCase& c, const Outputs& expected, verify::Peer& ort,
                             const std::string& file) {
  Model model = c.model();
  passes::standardize(model);
  OpsetImports targets;
  targets.set("", 23);
  passes::convert_version(model, targets);
  model.ir_version = 10;
  onnx::write(model, file);
  const auto answer = ort.run({.model = file, .inputs = c.inputs()});
  if (!answer.error.empty()) return "refused: " + answer.error;
  return compare(answer.outputs, expected, c);
}

class VendorOperators : public testing::TestWithParam<test::VendorOperator> {};

TEST_P(VendorOperators, GiveWhatOnnxRuntimeGives) {
  const verify::Peers peers = test::peers();
  if (const auto missing = verify::why_missing(peers, verify::Runtime::ort)) GTEST_SKIP() << *missing;
  static verify::Peer ort(verify::Runtime::ort, peers);
  const test::TempDir directory;
  constexpr unsigned kCases = 40;
  // INGOT_FIRST_SEED=1000 draws other cases.
  const char* first_text = std::getenv("INGOT_FIRST_SEED");
  const unsigned first = first_text ? static_cast<unsigned>(std::strtoul(first_text, nullptr, 10)) : 1;
  int refused = 0, wrong = 0;
  std::string why;
  for (unsigned seed = first; seed < first + kCases && wrong < 3; ++seed) {
    test::VendorCase c(GetParam().op, GetParam().domain, seed, GetParam().floats);
    GetParam().draw(c);
    constexpr double kHalf = 4e-3;  // of the scale: docs/verify.md
    if (GetParam().floats == DType::f16) c.scale = std::max(c.scale, kHalf);
    const Model model = c.model();
    const std::string file = directory / "case.onnx";
    onnx::write(model, file);
    const auto answer = ort.run({.model = file, .inputs = c.inputs(), .in_place = c.in_place()});
    if (!answer.error.empty()) {
      ++refused;
      why = answer.error;
      continue;
    }
    try {
      const engine::Session session(model, {.threads = 1, .is_fast = seed % 2 == 0});
      std::string difference = compare(session.run(c.inputs()), answer.outputs, c);
      const bool is_defined = ops::find(GetParam().domain, GetParam().op)->decompose != nullptr;
      if (difference.empty() && is_defined) difference = compare_standard(c, answer.outputs, ort, file);
      if (!difference.empty()) ADD_FAILURE() << "seed " << seed << ", " << c.text() << ": " << difference;
      wrong += !difference.empty();
    } catch (const Error& error) {
      ADD_FAILURE() << "seed " << seed << ", " << c.text() << ": " << error.what();
      ++wrong;
    }
  }
  if (refused) std::printf("%d of %u refused by ONNX Runtime: %s\n", refused, kCases, why.substr(0, 200).c_str());
  EXPECT_LE(refused, static_cast<int>(kCases) / 2) << why;
}

INSTANTIATE_TEST_SUITE_P(Microsoft, VendorOperators, testing::ValuesIn(test::vendor_operators()),
                         [](const auto& param) { return param.param.name(); });
INSTANTIATE_TEST_SUITE_P(MicrosoftBytes, VendorOperators, testing::ValuesIn(test::vendor_quantized_operators()),
                         [](const auto& param) { return param.param.name(); });
INSTANTIATE_TEST_SUITE_P(MicrosoftSequences, VendorOperators, testing::ValuesIn(test::vendor_sequence_operators()),
                         [](const auto& param) { return param.param.name(); });
INSTANTIATE_TEST_SUITE_P(MicrosoftStates, VendorOperators, testing::ValuesIn(test::vendor_state_operators()),
                         [](const auto& param) { return param.param.name(); });

}  // namespace
}  // namespace ingot
