// Reads operator_cases.txt.
#include "tests/train/operator_cases.h"

#include <random>
#include <sstream>
#include <stdexcept>

#include "ingot/onnx/text.h"
#include "ingot/train/gradcheck.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// Cut at commas that stand outside of brackets.
std::vector<std::string> cut(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char ch : text) {
    depth += ch == '[' ? 1 : ch == ']' ? -1 : 0;
    if (ch == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += ch;
  }
  return parts;
}

struct Interval {
  double low = -2, high = 2;
};

OperatorCase read_case(const std::string& line, std::mt19937_64& random) {
  const std::size_t colon = line.find(": "), first = line.find('|'), second = line.find('|', first + 1);
  if (colon == std::string::npos || first == std::string::npos || second == std::string::npos)
    throw std::runtime_error("operator_cases.txt: " + line);
  OperatorCase one;
  one.op = line.substr(0, colon);
  one.text = line;
  one.torch = trimmed(line.substr(second + 1));
  std::vector<Interval> intervals;
  std::string inputs;
  for (const std::string& part : cut(line.substr(colon + 2, first - colon - 2))) {
    std::string input = trimmed(part);
    Interval interval;
    if (const std::size_t in = input.find(" in "); in != std::string::npos) {
      const std::string range = input.substr(in + 4);
      interval = {std::stod(range), std::stod(range.substr(range.find("..") + 2))};
      input.resize(in);
    }
    intervals.push_back(interval);
    inputs += (inputs.empty() ? "" : ", ") + input;
  }
  const std::string nodes = line.substr(first + 1, second - first - 1);
  one.model = train::in_double(onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 28]>\ng (" + inputs +
                                                ") => (double[] y) {" + nodes + "}"));
  const auto values = one.model.graph->inputs();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto dims = static_dims(values[i]->type.shape);
    if (!dims) throw std::runtime_error("operator_cases.txt: no shape: " + line);
    std::vector<double> numbers(static_cast<std::size_t>(tensor_size(*dims)));
    std::uniform_real_distribution<double> draw(intervals[i].low, intervals[i].high);
    for (double& number : numbers) number = draw(random);
    one.inputs.push_back({values[i]->name(), Array::of<double>(*dims, numbers)});
  }
  return one;
}

}  // namespace

std::vector<OperatorCase> operator_cases(std::uint64_t seed) {
  std::istringstream lines(read_text(source_dir() / "tests/train/operator_cases.txt"));
  std::vector<OperatorCase> cases;
  std::mt19937_64 random(seed);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') cases.push_back(read_case(line, random));
  return cases;
}

std::map<std::string, Coverage>& coverage() {
  static std::map<std::string, Coverage> ran;
  return ran;
}

Coverage& coverage_of(const Node& node) {
  const std::string domain(normal_domain(node.domain));
  return coverage()[(domain.empty() ? "ai.onnx" : domain) + ":" + node.op];
}

}  // namespace ingot::test
