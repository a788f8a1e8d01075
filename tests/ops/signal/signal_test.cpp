// DFT and STFT.
#include <gmock/gmock.h>

#include <cmath>

#include "ingot/ops/signal/fourier.h"
#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Dft, GivesHalfASpectrumOfRealSignals) {
  OpCase c;
  Value* axis = c.constant(Tensor::scalar<std::int64_t>(1));
  EXPECT_EQ(c.op("DFT", {c.in("float[B,N,1]"), nullptr, axis}, {{"onesided", 1}})->type.str(),
            "float[B,floor(N/2) + 1,2]");
  EXPECT_EQ(c.op("DFT", {c.in("float[B,N,1]")})->type.str(), "float[B,N,2]");
  EXPECT_EQ(c.op("DFT", {c.in("float[B,9,2]")}, {{"onesided", 1}, {"inverse", 1}})->type.str(), "float[B,16,1]");
  EXPECT_EQ(c.op("DFT", {c.in("float[B,N,1]"), c.known("K")})->type.str(), "float[B,K,2]");
  EXPECT_EQ(c.op("DFT", {c.in("float[B,N,1]"), nullptr, c.in("int64")}, {{"onesided", 1}})->type.str(), "float[?,?,2]");
}

TEST(Dft, RefusesWhatCannotBe) {
  OpCase c;
  const auto axis = [&](std::int64_t a) { return c.constant(Tensor::scalar<std::int64_t>(a)); };
  EXPECT_REFUSED(Code::inference_failed, c.op("DFT", {c.in("float[B,N,1]"), nullptr, axis(2)}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DFT", {c.in("float[B,N,1]"), nullptr, axis(-1)}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("DFT", {c.in("float[B,N,1]"), nullptr, axis(7)}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DFT", {c.in("float[B,N,2]")}, {{"onesided", 1}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DFT", {c.in("float[B,N,3]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DFT", {c.in("float[1]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DFT", {c.in("float[B,N,1]"), c.ints({0})}));
}

TEST(Dft, HadItsAxisAsAttribute) {
  OpCase c(17);
  c.op("DFT", {c.in("float[B,N,M,1]")});
  c.convert(20);
  ASSERT_TRUE(c.node("DFT").input(2));
  EXPECT_THAT(c.node("DFT").input(2)->initializer->to_ints(), testing::ElementsAre(1));
  OpCase back;
  back.op("DFT", {back.in("float[B,N,M,1]")});
  back.convert(17);
  EXPECT_EQ(back.node("DFT").attributes.int_or("axis", 0), 2);
}

TEST(Dft, IsAProductOfMatrices) {
  for (const int parts : {1, 2})
    for (const bool onesided : {false, true})
      for (const bool inverse : {false, true}) {
        if (onesided && inverse != (parts == 2)) continue;
        OpCase c;
        c.op("DFT",
             {c.in("float16[B,8,3," + std::to_string(parts) + "]"), nullptr,
              c.constant(Tensor::scalar<std::int64_t>(1))},
             {{"onesided", onesided}, {"inverse", inverse}});
        const std::string type = c.type();
        c.convert(13);
        EXPECT_THAT(c.nodes(), HasSubstr("MatMul"));
        EXPECT_THAT(c.nodes(), Not(HasSubstr("DFT")));
        EXPECT_EQ(c.type(), type);
      }
}

TEST(Dft, WithAnAxisKnownWhileRunningIsExpanded) {
  for (const int opset : {19, 13}) {
    OpCase c;
    c.op("DFT", {c.in("float[B,8,1]"), nullptr, c.in("int64")}, {{"onesided", 1}});
    c.convert(opset);
    EXPECT_THAT(c.nodes(), HasSubstr("MatMul"));
    EXPECT_THAT(c.nodes(), Not(HasSubstr("DFT")));
  }
}

TEST(Fourier, HalfASpectrumGivesTheSignalBack) {
  const std::vector<double> signal = {1, 2, -1, 4, 0.5};
  const auto n = static_cast<std::int64_t>(signal.size());
  const auto forth = ops::fourier_matrices(n, n / 2 + 1, n, false, false);
  const auto back = ops::fourier_matrices(n / 2 + 1, n, n, true, true);
  std::vector<double> real(3), imaginary(3);
  for (std::int64_t k = 0; k < 3; ++k)
    for (std::int64_t i = 0; i < n; ++i) {
      real[static_cast<std::size_t>(k)] += signal[static_cast<std::size_t>(i)] * forth.cos.at<double>(i * 3 + k);
      imaginary[static_cast<std::size_t>(k)] += signal[static_cast<std::size_t>(i)] * forth.sin.at<double>(i * 3 + k);
    }
  for (std::int64_t i = 0; i < n; ++i) {
    double x = 0;
    for (std::int64_t k = 0; k < 3; ++k)
      x += real[static_cast<std::size_t>(k)] * back.cos.at<double>(k * n + i) -
           imaginary[static_cast<std::size_t>(k)] * back.sin.at<double>(k * n + i);
    EXPECT_NEAR(x, signal[static_cast<std::size_t>(i)], 1e-12);
  }
}

TEST(Stft, CountsItsFrames) {
  OpCase c;
  Value* step = c.constant(Tensor::scalar<std::int64_t>(8));
  c.op("STFT", {c.in("float[1,128,1]"), step, c.in("float[16]")});
  EXPECT_EQ(c.type(), "float[1,15,9,2]");
  c.convert(13);
  EXPECT_THAT(c.nodes(), Not(HasSubstr("STFT")));
  EXPECT_EQ(c.type(), "float[1,15,9,2]");
  OpCase open;
  EXPECT_EQ(
      open.op("STFT", {open.in("float[B,N,1]"), open.ints({4}), open.in("float[16]")}, {{"onesided", 0}})->type.str(),
      "float[B,floor(N/4) - 3,16,2]");
  EXPECT_REFUSED(Code::inference_failed,
                 open.op("STFT", {open.in("float[1,8,1]"), open.ints({4}), open.in("float[16]")}));
  EXPECT_REFUSED(Code::inference_failed,
                 open.op("STFT", {open.in("float[1,8,1]"), open.ints({0}), open.in("float[4]")}));
}

}  // namespace
}  // namespace ingot::test
