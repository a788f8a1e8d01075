// Which format takes which option: every pair, with the exact words of the refusal.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ingot/base/error.h"
#include "ingot/driver/convert.h"
#include "tests/driver/sources.h"
#include "tests/driver/toy_format.h"

namespace ingot::driver {
namespace {

using Names = std::vector<std::string>;

/// The formats that take an option when they are read, and when they are written.
struct Takers {
  Names from, to;
};

const Names kForeign = {"tflite", "tensorflow", "savedmodel", "tfjs", "keras", "torch"},
            kTensorflow = {"tensorflow", "savedmodel", "tfjs"},
            kTrained = {"tensorflow", "savedmodel", "tfjs", "keras", "torch"},
            kClassic = {"sklearn", "xgboost", "lightgbm", "catboost", "libsvm", "liblinear"},
            kGraphs = {"onnx", "onnxtxt", "tflite", "tensorflow", "savedmodel", "tfjs"},
            kAll = {"onnx", "onnxtxt", "tflite", "tensorflow", "savedmodel", "tfjs", "keras"},
            kNetworks = {"onnx", "onnxtxt", "tflite", "tensorflow", "savedmodel", "tfjs", "keras", "torch"},
            kOnnx = {"onnx", "onnxtxt", "json"}, kWritten = {"tflite", "tensorflow", "savedmodel", "tfjs", "keras"},
            kCast = {"onnx", "onnxtxt", "tflite", "tensorflow", "savedmodel", "tfjs", "torch", "torch-source", "json"};

const std::map<std::string, Takers> kTakers = {
    {"--signature", {{"tflite", "tensorflow", "savedmodel", "torch"}, {}}},
    {"--tag", {{"tensorflow", "savedmodel", "toy"}, {}}},
    {"--inputs", {kGraphs, {}}},
    {"--outputs", {kAll, {}}},
    {"--functions", {kNetworks, {}}},
    {"--map-ops", {kAll, {}}},
    {"--mode", {kTrained, {}}},
    {"--keep-functions", {kTensorflow, {}}},
    {"--strings", {kTensorflow, {}}},
    {"--keep-nhwc", {{"tflite", "tensorflow", "savedmodel", "tfjs", "keras"}, {}}},
    {"--dequantize", {{"tflite"}, {}}},
    {"--weights-from", {{"keras", "torch"}, {}}},
    {"--keep-state", {{"torch"}, {}}},
    {"--loss", {{"torch"}, {}}},
    {"--optimizer", {{"torch"}, {}}},
    {"--optimizer-state", {{"torch"}, {}}},
    {"--precision", {kClassic, {}}},
    {"--raw-scores", {kClassic, {}}},
    {"--zipmap", {kClassic, {}}},
    {"--decision-path", {{"sklearn"}, {}}},
    {"--input-type", {{"torch"}, {}}},
    {"--input-value", {{"torch"}, {}}},
    {"--data", {{"pandas"}, {}}},
    {"--schema", {{"pandas"}, {}}},
    {"--allow-custom", {kForeign, {"tflite"}}},
    {"--inputs-as", {kAll, kWritten}},
    {"--outputs-as", {kAll, kWritten}},
    {"--opset", {{}, kOnnx}},
    {"--for", {{}, kOnnx}},
    {"--auto-cast", {{}, kCast}},
    {"--infer-types", {{}, kOnnx}},
    {"--weights", {{}, {"tflite", "toy"}}},
    {"--native-lstm", {{}, {"tflite"}}},
    {"--quantize", {{}, {"tfjs"}}},
    {"--variables", {{}, {"savedmodel"}}},
    {"--sequences", {{}, kTensorflow}},
    {"--external-data", {{}, {"onnx"}}},
    {"--external-threshold", {{}, {"onnx"}}},
    {"--float16", {{}, kOnnx}},
    {"--standard", {{}, kOnnx}},
};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool has(const Names& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

std::string hint_for(const std::string& flag) {
  const Takers& takers = kTakers.at(flag);
  std::string hint = flag + " is taken";
  if (!takers.from.empty()) hint += " from " + joined(takers.from);
  if (!takers.from.empty() && !takers.to.empty()) hint += " and";
  if (!takers.to.empty()) hint += " to " + joined(takers.to);
  return hint;
}

class Options : public testing::Test {
 protected:
  void SetUp() override { test::register_toy(); }

  /// What a conversion says to one option; empty: it takes it.
  static std::string refusal(OptionSet given, const Format* from, const Format* to) try {
    require_taken(given, from, to);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_usage);
    return error.message() + "\n" + error.hint_text();
  }
};

TEST_F(Options, AreTakenOrRefusedByEveryPairOfFormats) {
  for (const Format* from : all_formats())
    for (const Format* to : all_formats())
      for (std::size_t i = 0; i < kOptionCount; ++i) {
        const auto option = static_cast<Option>(i);
        const std::string flag(flag_of(option));
        const Takers& takers = kTakers.at(flag);
        const bool is_taken = has(takers.from, from->name) || has(takers.to, to->name);
        const std::string expected = is_taken ? ""
                                              : "a conversion from " + std::string(from->title) + " to " +
                                                    std::string(to->title) + " does not take " + flag + "\n" +
                                                    hint_for(flag);
        EXPECT_EQ(refusal({option}, from, to), expected);
      }
}

TEST_F(Options, AreTakenOrRefusedByReadingAndWritingAlone) {
  for (const Format* format : all_formats())
    for (const auto& [flag, takers] : kTakers) {
      int i = 0;
      while (flag_of(static_cast<Option>(i)) != flag) ++i;
      const OptionSet one{static_cast<Option>(i)};
      const std::string title(format->title);
      EXPECT_EQ(
          refusal(one, format, nullptr),
          has(takers.from, format->name) ? "" : "reading " + title + " does not take " + flag + "\n" + hint_for(flag));
      EXPECT_EQ(
          refusal(one, nullptr, format),
          has(takers.to, format->name) ? "" : "writing " + title + " does not take " + flag + "\n" + hint_for(flag));
    }
}

TEST_F(Options, AreRefusedAllAtOnce) {
  EXPECT_EQ(
      refusal({Option::tag, Option::dequantize, Option::weights}, &format_by_name("onnx"), &format_by_name("json")),
      "a conversion from ONNX to JSON description does not take --tag, --dequantize, --weights\n" + hint_for("--tag") +
          "; " + hint_for("--dequantize") + "; " + hint_for("--weights"));
}

/// Each option by itself in a request.
ConvertRequest with(Option option, ConvertRequest request) {
  switch (option) {
    case Option::signature:
      request.signature = "s";
      break;
    case Option::tag:
      request.tag = "t";
      break;
    case Option::inputs:
      request.inputs = {"x"};
      break;
    case Option::outputs:
      request.outputs = {"y"};
      break;
    case Option::functions:
      request.functions = "f.onnx";
      break;
    case Option::map_ops:
      request.map_ops = "m.json";
      break;
    case Option::mode:
      request.mode = Mode::inference;
      break;
    case Option::keep_functions:
      request.keep_functions = true;
      break;
    case Option::strings:
      request.strings = "contrib";
      break;
    case Option::keep_nhwc:
      request.keep_nhwc = true;
      break;
    case Option::dequantize:
      request.dequantize = true;
      break;
    case Option::weights_from:
      request.weights_from = "w.h5";
      break;
    case Option::keep_state:
      request.keep_state = true;
      break;
    case Option::loss:
      request.loss = "mse";
      break;
    case Option::optimizer:
      request.optimizer = "adam";
      break;
    case Option::optimizer_state:
      request.optimizer_state = "o.pt";
      break;
    case Option::precision:
      request.precision = Precision::float32;
      break;
    case Option::raw_scores:
      request.raw_scores = true;
      break;
    case Option::zipmap:
      request.zipmap = true;
      break;
    case Option::decision_path:
      request.decision_path = true;
      break;
    case Option::input_values:
      request.input_values = {{"x", 1}};
      break;
    case Option::input_types:
      request.input_types = {{"x", DType::f32}};
      break;
    case Option::data:
      request.data = "sample.csv";
      break;
    case Option::schema:
      request.schema = "x:float";
      break;
    case Option::allow_custom:
      request.allow_custom = {"Op"};
      break;
    case Option::inputs_as:
      request.layout.inputs_as = Layout::channels_first;
      break;
    case Option::outputs_as:
      request.layout.outputs_as = Layout::channels_first;
      break;
    case Option::opset:
      request.opset = 21;
      break;
    case Option::target:
      request.target = "ort-1.15";
      break;
    case Option::auto_cast:
      request.auto_cast = AutoCast::none;
      break;
    case Option::infer_types:
      request.infer_types = true;
      break;
    case Option::weights:
      request.weights = WeightForm::as_is;
      break;
    case Option::native_lstm:
      request.native_lstm = true;
      break;
    case Option::quantize:
      request.quantize = Quantize::uint8;
      break;
    case Option::variables:
      request.variables = true;
      break;
    case Option::sequences:
      request.sequences = Sequences::ragged;
      break;
    case Option::external_data:
      request.external_data = true;
      break;
    case Option::external_threshold:
      request.external_threshold = 16;
      break;
    case Option::half:
      request.half = passes::HalfOptions{};
      break;
    case Option::standard:
      request.standard = true;
      break;
  }
  return request;
}

TEST_F(Options, OfARequestAreNoticedEvenIfTheySayTheDefault) {
  const test::TempDir directory;
  for (const char* source : {"onnx", "onnxtxt", "tflite", "tensorflow", "savedmodel", "tfjs"})
    for (const char* result : {"onnx", "onnxtxt", "tflite", "json"})
      for (std::size_t i = 0; i < kOptionCount; ++i) {
        const auto option = static_cast<Option>(i);
        const Takers& takers = kTakers.at(std::string(flag_of(option)));
        const bool is_taken = has(takers.from, source) || has(takers.to, result);
        const Format& to = format_by_name(result);
        const ConvertRequest request =
            with(option, {.input = test::write_source(directory, source), .output = directory / "out", .to = &to});
        std::string refused;
        try {
          convert(request);
        } catch (const Error& error) {
          refused = error.message();
        }
        const std::string expected = "a conversion from " + std::string(format_by_name(source).title) + " to " +
                                     std::string(to.title) + " does not take " + std::string(flag_of(option));
        EXPECT_EQ(refused == expected, !is_taken)
            << source << ' ' << result << ' ' << flag_of(option) << ": " << refused;
      }
}

TEST_F(Options, ThatWouldDoNothingAloneAreRefused) {
  const test::TempDir directory;
  const auto refusal_of = [&](ConvertRequest request) -> std::string {
    request.input = test::write_onnx(directory);
    request.output = directory / "out.onnx";
    try {
      convert(request);
      return "taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_usage);
      return error.message() + "; " + error.hint_text();
    }
  };
  EXPECT_EQ(refusal_of({.external_threshold = 16}), "--external-threshold does nothing by itself; add --external-data");
  EXPECT_EQ(refusal_of({.auto_cast = AutoCast::up}),
            "--auto-cast does nothing: the model keeps its operator sets; name others with --opset or --for");
  EXPECT_EQ(refusal_of({.opset = 20, .auto_cast = AutoCast::up}), "taken");
  EXPECT_EQ(refusal_of({.opset = 20, .target = "ort-1.15"}),
            "--opset and --for exclude each other; --for names the operator sets too");
}

TEST_F(Options, ThatAGraphHasNothingToChooseFromAreRefused) {
  const test::TempDir directory;
  LoadOptions options;
  options.import.signature = "serving_default";
  const auto refusal_of = [&](const std::string& path) -> std::string {
    try {
      load(path, options);
      return "taken";
    } catch (const Error& error) {
      return error.message() + "; " + error.hint_text();
    }
  };
  EXPECT_EQ(refusal_of(test::write_saved_model(directory)), "taken");
  EXPECT_EQ(
      refusal_of(test::write_tensorflow(directory)),
      "the graph has no signatures: there is nothing for --signature to choose from; --inputs and --outputs choose "
      "parts of a graph");
  options.import.signature.clear();
  options.import.tag = "serve";
  EXPECT_EQ(refusal_of(test::write_saved_model(directory, "again")), "taken");
  EXPECT_EQ(refusal_of(test::write_tensorflow(directory)),
            "the graph has no tags: there is nothing for --tag to choose from; --tag chooses among the graphs of a "
            "SavedModel");
}

TEST_F(Options, OfLayoutAreRefusedWhereLearningKeepsIt) {
  const test::TempDir directory;
  LoadOptions options;
  options.import.mode = Mode::training;
  options.import.layout.inputs_as = Layout::channels_first;
  try {
    load(test::write_tensorflow(directory), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the inputs and outputs of this model keep their layout") << error.what();
  }
}

}  // namespace
}  // namespace ingot::driver
