// Gradients of recurrent layers, which are loops, leave Ingot as plain ONNX: ONNX Runtime finds the same numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "ingot/onnx/writer.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/train/gradient_model.h"
#include "ingot/verify/peer.h"
#include "tests/support/files.h"
#include "tests/train/operator_cases.h"
#include "tests/verify/peers.h"

namespace ingot {
namespace {

TEST(LoopGradients, RunInOnnxRuntime) {
  const verify::Peers peers = test::peers();
  if (const auto missing = verify::why_missing(peers, verify::Runtime::ort)) GTEST_SKIP() << *missing;
  verify::Peer ort(verify::Runtime::ort, peers);
  const test::TempDir directory;
  std::size_t compared = 0;
  for (const test::OperatorCase& one : test::operator_cases(4)) {
    // Its kernels of recurrent layers are of single precision; their gradients are loops of double precision.
    if (one.op != "RNN" && one.op != "GRU" && one.op != "LSTM" && one.op != "Loop" && one.op != "Scan") continue;
    Model gradient = train::gradient_model(one.model, {.of = "y", .wrt = {}, .keeps_forward = false});
    const auto ours = engine::Session(gradient).run(one.inputs);
    passes::convert_version(gradient, {{"", 21, {}}});
    passes::fit_ir_version(gradient, 10);
    const std::string path = directory / "gradient.onnx";
    onnx::write(gradient, path);
    const auto theirs = ort.run({.model = path, .inputs = one.inputs});
    if (theirs.error.starts_with("Could not find an implementation")) {  // it has some activations in float only
      std::cout << "not in ONNX Runtime: " << one.text << "\n  " << theirs.error << "\n";
      continue;
    }
    EXPECT_EQ(theirs.error, "") << one.text;
    if (!theirs.error.empty()) continue;
    ASSERT_EQ(theirs.outputs.size(), ours.size());
    for (std::size_t k = 0; k < ours.size(); ++k) {
      const Array &a = *ours[k].value.array(), &b = *theirs.outputs[k].value.array();
      ASSERT_EQ(a.dims(), b.dims()) << one.text;
      for (std::size_t i = 0; i < a.data<double>().size(); ++i)
        EXPECT_NEAR(a.data<double>()[i], b.data<double>()[i], 1e-9 * std::max(1.0, std::abs(b.data<double>()[i])))
            << one.text << " output " << k;
    }
    ++compared;
  }
  EXPECT_GE(compared, 8u);
}

}  // namespace
}  // namespace ingot
