#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/ir/model.h"
#include "ingot/verify/verify.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot {

using verify::Runtime;
using verify::Verdict;
using verify::VerifyRequest;

/// "{-0.5, 0.2, ...}": weights in the text syntax, which each step draws otherwise.
std::string numbers(int count, int step);
/// Two convolutions, a pool and a product.
Model network();
/// One element of a constant is no longer what it was.
void damage(Model& model, const std::string& initializer, float by = 0.5f);

/// Two files side by side, in a folder of their own.
class Verify : public testing::Test {
 protected:
  /// Skips the test where a runtime is not installed.
  bool has(Runtime runtime) {
    const auto missing = verify::why_missing(peers_, runtime);
    if (missing) skip_ = *missing;
    return !missing;
  }

  Verdict verify(const std::string& a, const std::string& b, std::vector<Runtime> a_runtimes = {},
                 std::vector<Runtime> b_runtimes = {}) {
    VerifyRequest request;
    request.a = {directory_ / a, std::move(a_runtimes), {}};
    request.b = {directory_ / b, std::move(b_runtimes), {}};
    request.peers = peers_;
    return verify::verify(request);
  }

  void write_tflite(const Model& model, const std::string& name) { driver::save(model, directory_ / name); }

  test::TempDir directory_;
  verify::Peers peers_ = test::peers();
  std::string skip_;
};

}  // namespace ingot
