// A format that one row adds is recognised, loaded, saved and listed like those that Ingot brings.
#include "tests/driver/toy_format.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/driver/catalogue.h"
#include "ingot/driver/convert.h"
#include "tests/driver/sources.h"

namespace ingot {
namespace {

constexpr const char* kToy = "TOY1\nin x 3\nr = Relu x\ny = Add r x\nout y\n";

class ToyFormat : public testing::Test {
 protected:
  void SetUp() override {
    test::register_toy();
    test::write_text(directory_ / "a.toy", kToy);
  }

  driver::ConvertReport convert(const std::string& from, const std::string& to) {
    return driver::convert({.input = directory_ / from, .output = directory_ / to});
  }

  test::TempDir directory_;
};

TEST_F(ToyFormat, BecomesOnnxAndComesBack) {
  const driver::ConvertReport there = convert("a.toy", "b.onnx");
  EXPECT_EQ(there.from->name, "toy");
  EXPECT_EQ(there.to->name, "onnx");
  EXPECT_TRUE(there.is_translated);
  EXPECT_EQ(there.notes.at(0), "toys are small");
  EXPECT_EQ(driver::load(directory_ / "b.onnx").model.opsets.version(""), 21) << "the usual opset of translated models";
  const driver::ConvertReport back = convert("b.onnx", "c.toy");
  EXPECT_EQ(back.from->name, "onnx");
  EXPECT_EQ(back.to->name, "toy");
  EXPECT_EQ(back.notes.back(), "toys have no weights");
  EXPECT_EQ(test::read_text(directory_ / "c.toy"), kToy);
}

TEST_F(ToyFormat, IsKnownByItsContents) {
  test::write_text(directory_ / "misleading.onnx", kToy);
  EXPECT_EQ(driver::load(directory_ / "misleading.onnx").format->name, "toy");
  std::filesystem::create_directory(directory_ / "folder");
  test::write_text(directory_.path() / "folder" / "net.toy", kToy);
  EXPECT_EQ(driver::load(directory_ / "folder").format->name, "toy");
}

TEST_F(ToyFormat, RefusesWhatItsRowDoesNotTake) {
  driver::ConvertRequest request{.input = directory_ / "a.toy", .output = directory_ / "b.onnx", .tag = "any"};
  EXPECT_NO_THROW(driver::convert(request)) << "the row takes --tag";
  request.signature = "any";
  try {
    driver::convert(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_usage);
    EXPECT_EQ(error.message(), "a conversion from Toy to ONNX does not take --signature");
  }
}

TEST_F(ToyFormat, IsNotMovedToAnotherOpsetOnItsWayOut) {
  EXPECT_EQ(convert("a.toy", "b.toy").model.opsets.version(""), 24);
}

TEST_F(ToyFormat, IsNotVerifiedWhereNoRuntimeRunsIt) {
  driver::ConvertRequest request{.input = directory_ / "a.toy", .output = directory_ / "b.onnx"};
  request.verify = [](const driver::Comparison&) { return "asked"; };
  EXPECT_EQ(driver::convert(request).not_verified, "no runtime runs Toy models");
  request.input = directory_ / "b.onnx";
  request.output = directory_ / "c.toy";
  EXPECT_EQ(driver::convert(request).not_verified, "asked") << "Ingot reads it back";
}

TEST_F(ToyFormat, IsListedWithItsOperators) {
  EXPECT_EQ(driver::translated_operators(driver::format_by_name("toy")), (std::vector<std::string>{"Add", "Relu"}));
  EXPECT_EQ(driver::exported_operators(driver::format_by_name("toy")).size(), 2U);
  EXPECT_NE(driver::format_names(driver::has_exports).find("toy"), std::string::npos);
}

TEST_F(ToyFormat, IsAddedOnce) {
  try {
    driver::register_format(driver::format_by_name("toy"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "there is a format 'toy' already");
  }
}

}  // namespace
}  // namespace ingot
