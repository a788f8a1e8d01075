// One stored graph: converted, run, compared.
#include "tests/frontends/tensorflow/graph_case.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/check.h"
#include "ingot/driver/convert.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/constants.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
namespace tf = formats::tensorflow;

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

struct Expected {
  Dims dims;
  std::vector<std::string> values;
};

/// The stored value of a tensor, under one of the names in use.
std::optional<Expected> expected(const fs::path& directory, const std::string& tensor) {
  const std::size_t colon = tensor.find(':');
  const std::string node = tensor.substr(0, colon);
  const std::string port = colon == std::string::npos ? "0" : tensor.substr(colon + 1);
  std::string flat;
  for (const char c : node) flat += c == '/' ? std::string("____") : std::string(1, c);
  std::vector<std::string> stems{flat + "." + port + ".prediction_inbw", flat + "." + port + ".prediction",
                                 node + "." + port + ".prediction"};
  if (port == "0") {
    stems.push_back(flat + ".placeholder");
    stems.push_back(flat + ".prediction");
    stems.push_back(node + ".prediction");
  }
  for (const std::string& stem : stems) {
    if (!fs::exists(directory / (stem + ".shape")) || !fs::exists(directory / (stem + ".csv"))) continue;
    Expected e;
    std::int64_t size = 1;
    for (const std::string& line : lines_of(directory / (stem + ".shape"))) {
      if (line.empty()) continue;
      std::stringstream words(line);
      for (std::string word; std::getline(words, word, ',');) e.dims.push_back(std::stoll(word));
    }
    for (const std::int64_t d : e.dims) size *= d;
    e.values = lines_of(directory / (stem + ".csv"));
    if (e.dims == Dims{0} && e.values.size() == 1 && !e.values[0].empty()) {  // how scalars are stored
      e.dims.clear();
      size = 1;
    }
    if (static_cast<std::int64_t>(e.values.size()) != size) {
      while (!e.values.empty() && e.values.back().empty() && static_cast<std::int64_t>(e.values.size()) > size)
        e.values.pop_back();
    }
    if (static_cast<std::int64_t>(e.values.size()) != size) return std::nullopt;
    return e;
  }
  return std::nullopt;
}

double number(const std::string& text) {
  if (text == "True" || text == "true") return 1;
  if (text == "False" || text == "false") return 0;
  return std::strtod(text.c_str(), nullptr);
}

std::string text_of(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t d : dims) text += (text.size() > 1 ? "," : "") + std::to_string(d);
  return text + "]";
}

std::string difference(const Array& array, const Expected& e, bool is_random) {
  if (array.dims() != e.dims) return "shape " + text_of(array.dims()) + " instead of " + text_of(e.dims);
  if (is_random) return {};
  if (array.dtype() == DType::string) {
    for (std::size_t i = 0; i < e.values.size(); ++i)
      if (array.data<std::string>()[i] != e.values[i])
        return "text '" + array.data<std::string>()[i] + "' instead of '" + e.values[i] + "'";
    return {};
  }
  const std::vector<double> values = array.to_doubles();
  const bool is_exact = !is_float(array.dtype());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double want = number(e.values[i]), got = values[i];
    if (std::isnan(want) && std::isnan(got)) continue;
    if (want == got) continue;
    // 64-bit integers are stored as text of doubles beyond 2^53: then as exact as the text is.
    const bool is_close = is_exact ? std::abs(want) > 9e15 && std::abs(want - got) <= 1e-12 * std::abs(want)
                                   : std::abs(got - want) <= 1e-5 + 1e-3 * std::abs(want);
    if (!is_close) return "element " + std::to_string(i) + " is " + std::to_string(got) + " instead of " + e.values[i];
  }
  return {};
}

std::string first_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text.substr(0, 300);
}

bool is_input_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  return last.starts_with("in_");
}

bool is_random_op(const std::string& op) {
  return op.starts_with("Random") || op == "Multinomial" || op == "TruncatedNormal" ||
         op.starts_with("StatelessRandom") || op == "ParameterizedTruncatedNormal" || op == "Empty";
}

}  // namespace

std::string_view name_of(CaseResult::Outcome outcome) {
  switch (outcome) {
    case CaseResult::Outcome::matches:
      return "matches";
    case CaseResult::Outcome::not_converted:
      return "not converted";
    case CaseResult::Outcome::not_written:
      return "not written";
    case CaseResult::Outcome::invalid:
      return "invalid";
    case CaseResult::Outcome::not_run:
      return "not run";
    case CaseResult::Outcome::differs:
      return "differs";
    case CaseResult::Outcome::no_expectation:
      return "no stored value";
  }
  return "";
}

CaseResult run_case(const fs::path& directory, const std::string& name, const CaseOptions& options) {
  CaseResult result;
  result.name = name;
  const auto failed = [&](CaseResult::Outcome outcome, const std::string& why) {
    result.outcome = outcome;
    result.detail = first_line(why);
    return result;
  };
  Budget budget({.time = std::chrono::seconds(20)});
  frontends::tensorflow::ImportOptions import;
  import.budget = &budget;
  std::vector<engine::NamedDatum> inputs;
  tf::GraphDef graph;
  std::set<std::string> random;
  Model model;
  bool is_random = false;
  try {
    graph = tf::read_graph(map_file((directory / "frozen_model.pb").string()), budget);
    for (const tf::NodeDef& node : graph.nodes) {
      is_random |= is_random_op(node.op);
      const bool is_constant = node.op == "Const" && is_input_name(node.name);
      if (!is_constant && node.op != "Placeholder") continue;
      Array value;
      if (is_constant) {
        const auto* tensor = std::get_if<std::shared_ptr<const tf::TensorProto>>(node.find("value"));
        value = Array::from(frontends::tensorflow::to_tensor(**tensor, budget));
      } else {
        const auto stored = expected(directory, node.name);
        const auto* type = node.find("dtype") ? std::get_if<tf::DataType>(node.find("dtype")) : nullptr;
        if (!stored || !type) continue;
        const DType dtype = tf::dtype_of(*type);
        value = Array(dtype, stored->dims);
        if (dtype == DType::f32)
          for (std::size_t i = 0; i < stored->values.size(); ++i)
            value.mutable_data<float>()[i] = static_cast<float>(number(stored->values[i]));
        else if (dtype == DType::f64)
          for (std::size_t i = 0; i < stored->values.size(); ++i)
            value.mutable_data<double>()[i] = number(stored->values[i]);
        else if (dtype == DType::i32)
          for (std::size_t i = 0; i < stored->values.size(); ++i)
            value.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(number(stored->values[i]));
        else
          continue;
      }
      import.inputs.push_back(node.name);
      if (options.dynamic_shapes) {
        Shape shape;
        for (std::int64_t i = 0; i < value.rank(); ++i)
          shape.push_back(Dim::symbol(node.name + "_" + std::to_string(i)));
        import.input_shapes.emplace_back(node.name, shape);
      }
      inputs.push_back({node.name, value});
    }
    model = frontends::tensorflow::import_graph(graph, import).model;
  } catch (const Error& error) {
    std::stringstream text(error.message());
    for (std::string line; std::getline(text, line);)
      if (const std::size_t end = line.find(": "); line.starts_with("  ") && end != std::string::npos)
        result.unsupported.push_back(line.substr(2, end - 2));
    return failed(CaseResult::Outcome::not_converted, error.message());
  }
  try {
    if (options.opset) {
      driver::ConvertOptions convert;
      convert.opset = options.opset;
      driver::convert(model, convert);
    }
  } catch (const Error& error) {
    return failed(CaseResult::Outcome::not_written, error.what());
  }
  std::vector<engine::NamedDatum> outputs;
  try {
    std::erase_if(inputs, [&](const engine::NamedDatum& d) {
      return std::ranges::none_of(model.graph->inputs(), [&](const Value* v) { return v->name() == d.name; });
    });
    outputs = engine::Session(model, {.budget = &budget}).run(inputs);
  } catch (const Error& error) {
    result.lacks_kernel = error.code() == Code::no_kernel || error.code() == Code::unknown_dtype;
    return failed(CaseResult::Outcome::not_run, error.what());
  } catch (const std::exception& error) {
    return failed(CaseResult::Outcome::not_run, error.what());
  }
  for (const engine::NamedDatum& output : outputs) {
    const auto want = expected(directory, output.name);
    const Array* array = output.value.array();
    if (!want || !array) continue;
    ++result.compared;
    const std::string why = difference(*array, *want, is_random);
    if (!why.empty()) return failed(CaseResult::Outcome::differs, output.name + ": " + why);
  }
  if (!result.compared) {
    std::string names;
    for (const auto& output : outputs) names += " " + output.name;
    return failed(CaseResult::Outcome::no_expectation, "outputs" + names);
  }
  return result;
}

}  // namespace ingot::test
