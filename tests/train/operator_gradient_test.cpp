// Every operator with a gradient at generated shapes: against central differences, against PyTorch, and once more
// differentiated.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/gradcheck.h"
#include "ingot/train/gradient_model.h"
#include "tests/support/files.h"
#include "tests/train/operator_cases.h"

namespace ingot {
namespace {

using test::OperatorCase;
using train::GradientCheck;

void count(const OperatorCase& one, std::size_t test::Coverage::*field, std::size_t more) {
  test::coverage()["ai.onnx:" + one.op].*field += more;
}

/// The checks of a model, where a point beside a kink is left for another.
std::vector<GradientCheck> checks_of(const Model& model, const OperatorCase& one) {
  std::vector<GradientCheck> checks = train::check_gradients(model, one.inputs, {.seed = 3, .jitter = 0, .wrt = {}});
  for (GradientCheck& check : checks)
    for (std::uint64_t seed = 11; seed < 14 && (check.is_at_kink || !check.passed()); ++seed) {
      const auto again =
          train::check_gradients(model, one.inputs, {.seed = seed, .jitter = 1e-2, .wrt = {check.input}});
      if (!again.empty()) check = again.front();
    }
  return checks;
}

TEST(OperatorGradients, EqualCentralDifferencesAtAllShapes) {
  for (const OperatorCase& one : test::operator_cases(1)) {
    try {
      const std::vector<GradientCheck> checks = checks_of(one.model, one);
      EXPECT_EQ(checks.size(), one.inputs.size()) << one.text;
      for (const GradientCheck& check : checks)
        EXPECT_TRUE(check.passed()) << one.text << "\n  by '" << check.input << "': gradient " << check.analytic
                                    << ", differences " << check.numeric;
      count(one, &test::Coverage::differences, checks.size());
    } catch (const Error& error) {
      ADD_FAILURE() << one.text << "\n  " << error.what();
    }
  }
}

/// Operators whose gradients are made of something that has none itself: their second derivatives are not asked for.
bool is_open(const Error& error) { return error.code() == Code::not_differentiable; }

TEST(OperatorGradients, AreDifferentiatedAgain) {
  std::map<std::string, std::string> open;
  std::size_t checked = 0;
  for (const OperatorCase& one : test::operator_cases(2)) {
    try {
      const Model gradient = train::gradient_model(one.model, {.of = "y", .wrt = {}, .keeps_forward = false});
      for (const GradientCheck& check : checks_of(gradient, one)) {
        EXPECT_TRUE(check.passed() || check.is_at_kink) << one.text << "\n  by '" << check.input << "': gradient "
                                                        << check.analytic << ", differences " << check.numeric;
        count(one, &test::Coverage::second_order, 1);
        ++checked;
      }
    } catch (const Error& error) {
      if (is_open(error))
        open[one.op] = error.message();
      else
        ADD_FAILURE() << one.text << "\n  " << error.what();
    }
  }
  std::cout << checked << " second derivatives are right\n";
  for (const auto& [op, why] : open) std::cout << "not differentiable twice: " << op << ": " << why << "\n";
}

std::string json_of(const Array& array) {
  std::string text = "{\"dims\": [";
  for (std::size_t i = 0; i < array.dims().size(); ++i) text += (i ? ", " : "") + std::to_string(array.dims()[i]);
  text += "], \"values\": [";
  bool is_first = true;
  for (const double value : array.data<double>()) {
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.17g", value);
    text += (is_first ? "" : ", ") + std::string(std::isnan(value) ? "NaN" : digits.data());
    is_first = false;
  }
  return text + "]}";
}

std::string json_of(const std::vector<engine::NamedDatum>& arrays) {
  std::string text = "{";
  for (const auto& [name, datum] : arrays)
    text += (text.size() > 1 ? ", \"" : "\"") + name + "\": " + json_of(*datum.array());
  return text + "}";
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char ch : text) {
    if (ch == '"' || ch == '\\') result += '\\';
    result += ch;
  }
  return result;
}

/// The gradient of each input of a sum of y's elements with weights: the weights, then the gradients.
std::vector<engine::NamedDatum> weighted_gradients(const OperatorCase& one) {
  const Array y = *engine::Session(one.model).run(one.inputs).front().value.array();
  std::vector<double> numbers(static_cast<std::size_t>(y.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.3 + std::sin(1.7 * static_cast<double>(i));
  const Array weights = Array::of<double>(y.dims(), numbers);
  Model model = one.model.clone();
  Graph& graph = *model.graph;
  Value* weight = graph.add_input("weights of y", y.type());
  Values wrt;
  for (const auto& input : one.inputs) wrt.push_back(graph.find(input.name));
  const Values gradients = train::differentiate(graph.find("y"), wrt, weight);
  graph.resize_outputs(0);
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    Value* out = GraphBuilder(graph).op("Identity", {gradients[i]});
    graph.rename(out, "d" + one.inputs[i].name);
    graph.add_output(out);
  }
  auto inputs = one.inputs;
  inputs.push_back({"weights of y", weights});
  std::vector<engine::NamedDatum> results = engine::Session(model).run(inputs);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].name = one.inputs[i].name;
  results.push_back({"weights of y", weights});
  return results;
}

TEST(OperatorGradients, EqualThoseOfPyTorch) {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import torch' 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "PyTorch is not here: script/bootstrap installs python3-torch";
  const test::TempDir directory;
  std::ostringstream json;
  json << "[";
  std::size_t written = 0;
  for (const OperatorCase& one : test::operator_cases(5)) {
    if (one.torch.empty()) continue;
    try {
      json << (written++ ? ",\n" : "\n") << "{\"line\": \"" << escaped(one.text) << "\", \"torch\": \""
           << escaped(one.torch) << "\", \"inputs\": " << json_of(one.inputs)
           << ", \"gradients\": " << json_of(weighted_gradients(one)) << "}";
      count(one, &test::Coverage::torch, one.inputs.size());
    } catch (const Error& error) {
      ADD_FAILURE() << one.text << "\n  " << error.what();
    }
  }
  json << "]\n";
  test::write_text(directory / "cases.json", json.str());
  const std::string script = test::source_dir() / "tests/train/torch_gradients.py";
  const std::string command = python + " '" + script + "' '" + (directory / "cases.json") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << "PyTorch has other gradients: see above";
}

}  // namespace
}  // namespace ingot
