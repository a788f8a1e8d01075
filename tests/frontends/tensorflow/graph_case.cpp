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
#include "ingot/driver/adjust.h"
#include "ingot/driver/check.h"
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

/// The greatest distance between the two distribution functions, in units of what chance gives once in a million.
/// Values that the tolerance cannot tell apart are the same.
double distance(std::vector<double> a, std::vector<double> b) {
  if (a.empty() || b.empty()) return 0;
  std::ranges::sort(a);
  std::ranges::sort(b);
  const auto share = [](const std::vector<double>& sorted, double x) {
    const auto count = std::upper_bound(sorted.begin(), sorted.end(), x) - sorted.begin();
    return static_cast<double>(count) / static_cast<double>(sorted.size());
  };
  double most = 0;
  for (const auto& [from, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    for (const double x : *from) most = std::max(most, share(*from, x) - share(*other, x + 1e-5 + 1e-3 * std::abs(x)));
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return most / (2.69 * std::sqrt((n + m) / (n * m)));
}

std::string difference(const Array& array, const Expected& e, bool is_random) {
  if (array.dims() != e.dims) return "shape " + text_of(array.dims()) + " instead of " + text_of(e.dims);
  if (is_random && array.dtype() != DType::string) {
    std::vector<double> stored;
    for (const std::string& v : e.values) stored.push_back(number(v));
    const double far = distance(array.to_doubles(), stored);
    return far > 1 ? "another distribution, by " + std::to_string(far) + " of the limit" : "";
  }
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

/// The type that is stored for a tensor; undefined: none is.
DType stored_type(const fs::path& directory, const std::string& tensor) {
  static const std::map<std::string, DType> kTypes{
      {"float32", DType::f32},  {"float64", DType::f64},  {"float16", DType::f16}, {"bfloat16", DType::bf16},
      {"int8", DType::i8},      {"int16", DType::i16},    {"int32", DType::i32},   {"int64", DType::i64},
      {"uint8", DType::u8},     {"uint16", DType::u16},   {"uint32", DType::u32},  {"uint64", DType::u64},
      {"bool", DType::boolean}, {"object", DType::string}};
  const std::size_t colon = tensor.find(':');
  const std::string wanted = tensor.substr(0, colon) + (colon == tensor.npos ? ".0" : "." + tensor.substr(colon + 1));
  std::string flat;
  for (const char c : wanted) flat += c == '/' ? std::string("____") : std::string(1, c);
  for (const std::string& line : lines_of(directory / "dtypes")) {
    const std::size_t blank = line.rfind(' ');
    if (blank == line.npos || (line.substr(0, blank) != wanted && line.substr(0, blank) != flat)) continue;
    const auto type = kTypes.find(line.substr(blank + 1));
    return type == kTypes.end() ? DType::undefined : type->second;
  }
  return DType::undefined;
}

/// Which of the outputs' nodes depend on which inputs, in TensorFlow's graph.
std::set<std::string> dependencies(const tf::GraphDef& graph, const std::string& output) {
  std::map<std::string, const tf::NodeDef*> nodes;
  for (const tf::NodeDef& node : graph.nodes) nodes[node.name] = &node;
  std::set<std::string> seen;
  std::vector<std::string> stack{output.substr(0, output.find(':'))};
  while (!stack.empty()) {
    const std::string name = stack.back();
    stack.pop_back();
    if (!nodes.contains(name) || !seen.insert(name).second) continue;
    for (const std::string& input : nodes[name]->inputs)
      if (!input.starts_with('^')) stack.push_back(input.substr(0, input.find(':')));
  }
  return seen;
}

/// Whether a value of the model is made from any of its inputs.
bool is_computed(const Value* output) {
  std::set<const Value*> seen;
  std::vector<const Value*> stack{output};
  bool found = false;
  const auto visit_node = [&](const Node& node) {
    for (const Value* v : node.inputs())
      if (v) stack.push_back(v);
    for_each_subgraph(node, [&](Graph& outer) {
      for_each_graph(outer, [&](Graph& graph) {
        for (const Node& inner : graph.nodes())
          for (const Value* v : inner.inputs())
            if (v) stack.push_back(v);
        for (const Value* v : graph.outputs()) stack.push_back(v);
      });
    });
  };
  while (!stack.empty() && !found) {
    const Value* v = stack.back();
    stack.pop_back();
    if (!seen.insert(v).second) continue;
    found = v->is_input() && !v->graph().parent();
    if (v->producer()) visit_node(*v->producer());
  }
  return found;
}

std::string attribute_text(const tf::AttrValue& value) {
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* f = std::get_if<float>(&value)) return std::to_string(*f);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* t = std::get_if<tf::DataType>(&value)) return std::string(tf::name_of(*t));
  if (const auto* l = std::get_if<std::shared_ptr<const tf::AttrList>>(&value)) {
    std::string text = "[";
    for (const std::int64_t i : (*l)->ints) text += std::to_string(i) + ",";
    for (const float f : (*l)->floats) text += std::to_string(f) + ",";
    for (const std::string& s : (*l)->strings) text += s + ",";
    return text + "]";
  }
  return "?";
}

}  // namespace

void note_operators(const tf::GraphDef& graph, const std::set<std::string>& used,
                    std::map<std::string, std::set<std::string>>& operators) {
  const auto add = [&](const tf::NodeDef& node) {
    auto& attributes = operators[node.op];
    for (const tf::Attr& attr : node.attrs)
      if (!attr.name.starts_with('_')) attributes.insert(attr.name + "=" + attribute_text(attr.value));
  };
  for (const tf::NodeDef& node : graph.nodes)
    if (used.contains(node.name)) add(node);
  for (const tf::FunctionDef& function : graph.functions)
    for (const tf::NodeDef& node : function.nodes) add(node);
}

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
    case CaseResult::Outcome::constant:
      return "became a constant";
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
  bool& is_random = result.is_random;
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
      Shape shape;
      for (std::int64_t i = 0; i < value.rank(); ++i)
        shape.push_back(options.dynamic_shapes ? Dim::symbol(node.name + "_" + std::to_string(i))
                                               : Dim(value.dims()[static_cast<std::size_t>(i)]));
      import.input_shapes.emplace_back(node.name, shape);
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
      driver::AdjustOptions changes;
      changes.opset = options.opset;
      driver::adjust(model, changes);
    }
  } catch (const Error& error) {
    return failed(CaseResult::Outcome::not_written, error.what());
  }
  for (const driver::Problem& problem : driver::check(model, &budget))
    if (options.dynamic_shapes && problem.code == Code::missing_type && problem.place.starts_with("output '"))
      result.has_open_rank = true;
    else if (problem.severity == driver::Severity::error || problem.code == Code::shape_contradiction)
      return failed(CaseResult::Outcome::invalid, problem.place + ": " + problem.message);
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
    if (const DType type = stored_type(directory, output.name); type != DType::undefined && type != array->dtype())
      return failed(CaseResult::Outcome::differs, output.name + ": " + std::string(name_of(array->dtype())) +
                                                      " instead of " + std::string(name_of(type)));
    const std::set<std::string> used = dependencies(graph, output.name);
    const bool depends =
        std::ranges::any_of(import.inputs, [&](const std::string& input) { return used.contains(input); });
    if (const Value* made = model.graph->find(output.name); depends && made && !is_computed(made))
      return failed(CaseResult::Outcome::constant, output.name + " depends on an input and has become a constant");
    note_operators(graph, used, result.operators);
  }
  if (!result.compared) {
    std::string names;
    for (const auto& output : outputs) names += " " + output.name;
    return failed(CaseResult::Outcome::no_expectation, "outputs" + names);
  }
  if (options.inspect) options.inspect(model, inputs, outputs);
  return result;
}

}  // namespace ingot::test
