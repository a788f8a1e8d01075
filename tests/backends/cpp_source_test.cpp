// What generated C++ looks like, and what names in a model can do to it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ingot/backends/cpp/emit.h"
#include "ingot/backends/cpp/names.h"
#include "ingot/backends/matlab/emit.h"
#include "ingot/base/error.h"
#include "ingot/lower/lower.h"
#include "ingot/onnx/text.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using backends::cpp::File;

std::vector<File> compiled(const std::string& text, const backends::cpp::Options& options = {}) {
  Model model = onnx::parse_text(text);
  lower::legalize(model);
  return backends::cpp::emit(lower::lower(model, "net"), options);
}

constexpr const char* kChain = R"(
<ir_version: 10, opset_import: ["" : 21]>
chain (float[2,3] x) => (float[2,3] y) {
  a = Relu(x)
  b = Exp(a)
  y = Add(b, b)
})";

TEST(CppSource, IsTheSameEachTime) {
  const auto a = compiled(kChain), b = compiled(kChain);
  ASSERT_EQ(a.size(), 2u);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].content, b[i].content);
}

TEST(CppSource, FusesAChainIntoOneLoop) {
  const std::string source = compiled(kChain)[1].content;
  EXPECT_NE(source.find("exp_f32(at_least_f32(x[i], 0.0f))"), std::string::npos) << source;
}

TEST(CppSource, TakesNoCodeFromNames) {
  for (const std::string name : {"a\");system(\"x", "*/ int evil; /*", "x\n#include <evil>", "back\\\nslash",
                                 "?"
                                 "?/\nx",
                                 "\xc3\xa4", "int", "", "9", "run", "a b"}) {
    backends::cpp::Names names;
    const std::string id = names.identifier(name);
    EXPECT_FALSE(id.empty());
    for (const char c : id) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '_') << id;
    const std::string words = backends::cpp::comment(name);
    for (const char* bad : {"\n", "\\", "*", "\"", "?"}) EXPECT_EQ(words.find(bad), std::string::npos) << words;
  }
}

TEST(CppSource, GivesEachNameOnce) {
  backends::cpp::Names names;
  EXPECT_EQ(names.identifier("a.b"), "a_b");
  EXPECT_EQ(names.identifier("a/b"), "a_b_2");
  EXPECT_EQ(names.identifier("for"), "for_");
}

TEST(CppSource, RefusesAllThatItCannotSayAtOnce) {
  try {
    (void)compiled(R"(
<ir_version: 10, opset_import: ["" : 21]>
strings (string[2] x, uint8[N] b) => (bool[2] z, float[H, W, 3] r) {
  z = RegexFullMatch <pattern = "a+"> (x)
  w = ImageDecoder(b)
  r = Cast <to = 1> (w)
})");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
    EXPECT_NE(error.message().find("RegexFullMatch"), std::string::npos);
    EXPECT_NE(error.message().find("ImageDecoder"), std::string::npos);
  }
}

TEST(CppSource, BelievesNoSizeThatOnlyTheRunTells) {
  const std::vector<File> files = compiled(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (int64 limit) => (float[10] y) <int64 zero = {0}, int64 one = {1}> {
      r = Range(zero, limit, one) f = Cast<to = 1>(r) y = Cos(f) })");
  for (const File& file : files) EXPECT_EQ(file.content.find("< 10"), std::string::npos) << file.content;
}

TEST(CppSource, AddsManySizesStepByStep) {
  std::string inputs, names;
  for (int i = 0; i < 500; ++i) {
    inputs += (i ? ", float[N" : "float[N") + std::to_string(i) + "] x" + std::to_string(i);
    names += (i ? ", x" : "x") + std::to_string(i);
  }
  const std::vector<File> files = compiled("<ir_version: 10, opset_import: [\"\" : 21]> g (" + inputs +
                                           ") => (float[M] y) { y = Concat<axis = 0>(" + names + ") }");
  for (const File& file : files) EXPECT_LT(file.content.size(), 500'000U);
}

TEST(CppSource, RefusesExpressionsThatAreTooDeep) {
  lower::Expr sum = lower::Expr::variable(0, DType::i64, true);
  EXPECT_REFUSED(Code::depth_limit, [&] {
    for (int i = 1; i < 100'000; ++i) sum = sum + lower::Expr::variable(i, DType::i64, true);
  }());
}

TEST(CppSource, RefusesLoopsWhoseStateChangesItsRank) {
  EXPECT_REFUSED(Code::not_expressible, compiled(R"(<ir_version: 4, opset_import: ["" : 9]>
    g (float[2] sums, float first, float[3,2] x) => (float[2] all, float[2] last) {
      all, last = Scan<num_scan_inputs = 1, body = b (float[2] s, float[2] p, float[2] e) => (float[2] t, float[2] q) {
        t = Add(s, e) q = Mul(p, e) }>(sums, first, x) })"));
}

TEST(MatlabSource, CutsWindowsOutAsWholes) {
  Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[1,8,9,9] x) => (float[4,4,8,1] y) {
      p = MaxPool<kernel_shape = [3, 3], strides = [2, 2]>(x) y = Transpose<perm = [2, 3, 1, 0]>(p) })");
  lower::legalize(model);
  const std::string code = backends::matlab::emit(lower::lower(model, "net"))[0].content;
  EXPECT_NE(code.find("greatest_(t1, slice_(x, "), std::string::npos) << code;
  EXPECT_NE(code.find("permute(slice_("), std::string::npos) << code;
  EXPECT_EQ(code.find("pick_("), std::string::npos) << code;
}

TEST(CppSource, RefusesOperandsOfAnotherRankThanTheOperatorAsksFor) {
  const char* head = R"(<ir_version: 10, opset_import: ["" : 21]> )";
  EXPECT_REFUSED(Code::not_expressible,
                 compiled(std::string(head) + R"(g (float[1,1,4,1] x, float roi, int64[2] s) => (float[1,1,3,3] y) {
    y = Resize<axes = [3, 2], coordinate_transformation_mode = "tf_crop_and_resize">(x, roi, , s) })"));
  EXPECT_REFUSED(Code::axis_out_of_range,
                 compiled(std::string(head) + "g (float[] x) => (float[] y) { y = Transpose<perm = [1, 7]>(x) }"));
}

}  // namespace
}  // namespace ingot::test
