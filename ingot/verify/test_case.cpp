// Stored test cases in the official layout: finding, reading and writing them.
#include "ingot/verify/test_case.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/datum.h"
#include "ingot/ir/model.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;

std::string numbered(const fs::path& directory, const char* stem, std::size_t i) {
  return (directory / (stem + std::to_string(i) + ".pb")).string();
}

Tolerance tolerance_of(const fs::path& directory) {
  Tolerance tolerance;
  const fs::path path = directory / "data.json";
  if (!fs::exists(path)) return tolerance;
  const auto json = nlohmann::json::parse(map_file(path.string()).text(), nullptr, false);
  if (!json.is_object())
    throw Error(Code::bad_json, "the description of a test case is not a JSON object").in_file(path.string());
  const auto number = [&](const char* key, double& value) {
    const auto it = json.find(key);
    if (it == json.end()) return;
    if (!it->is_number() || !(it->get<double>() >= 0))
      throw Error(Code::bad_json, std::string(key) + " must be a number that is not negative").in_file(path.string());
    value = it->get<double>();
  };
  number("rtol", tolerance.rtol);
  number("atol", tolerance.atol);
  return tolerance;
}

/// The case in this directory, if there is one.
std::optional<TestCase> case_in(const fs::path& directory) {
  const fs::path model = directory / "model.onnx";
  if (!fs::is_regular_file(model)) return std::nullopt;
  TestCase test;
  for (std::size_t i = 0; fs::is_directory(directory / ("test_data_set_" + std::to_string(i))); ++i)
    test.data_sets.push_back((directory / ("test_data_set_" + std::to_string(i))).string());
  if (test.data_sets.empty()) return std::nullopt;
  test.name = directory.filename().string();
  test.model = model.string();
  test.tolerance = tolerance_of(directory);
  return test;
}

/// The case of a model that lies beside its outputs, if it is one.
std::optional<TestCase> light_case(const fs::path& model) {
  const fs::path stem = model.parent_path() / model.stem();
  TestCase test;
  for (std::size_t i = 0;; ++i) {
    const std::string path = stem.string() + "_output_" + std::to_string(i) + ".pb";
    if (!fs::is_regular_file(path)) break;
    test.light_outputs.push_back(path);
  }
  if (test.light_outputs.empty()) return std::nullopt;
  test.name = model.stem().string();
  test.model = model.string();
  return test;
}

/// arange(n).reshape(shape) / n, as the makers of the light models fed them.
Array light_input(const Value& input) {
  const auto dims = static_dims(input.type.shape);
  if (!dims || input.type.elem != DType::f32)
    throw Error(Code::shape_needed, "input '" + input.name() + "' of a model without stored inputs is " +
                                        input.type.str() + ", not a float tensor of known shape");
  Array array(DType::f32, *dims);
  const auto values = array.mutable_data<float>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / static_cast<float>(values.size());
  return array;
}

/// The inputs that data is stored for: in old models every initializer is an input too, and has no file.
std::vector<const Value*> fed_inputs(const Graph& graph) {
  std::vector<const Value*> inputs;
  for (const Value* v : graph.inputs())
    if (!v->initializer && !v->sparse_initializer) inputs.push_back(v);
  return inputs;
}

void copy_file(const std::string& from, const std::string& to) {
  AtomicFile file(to);
  file.write(map_file(from).span());
  file.commit();
}

}  // namespace

std::vector<TestCase> find_test_cases(const std::vector<std::string>& directories) {
  std::vector<TestCase> cases;
  const auto visit = [&](const fs::directory_entry& entry) {
    std::optional<TestCase> found;
    if (entry.is_directory())
      found = case_in(entry.path());
    else if (entry.path().extension() == ".onnx" && entry.is_regular_file())
      found = light_case(entry.path());
    if (found) cases.push_back(std::move(*found));
  };
  for (const std::string& directory : directories) {
    std::error_code error;
    if (!fs::is_directory(directory, error))
      throw Error(Code::cannot_read, "there is no such directory").in_file(directory);
    fs::path root = fs::path(directory).lexically_normal();
    if (!root.has_filename()) root = root.parent_path();
    visit(fs::directory_entry(root));
    try {
      for (const auto& entry : fs::recursive_directory_iterator(root)) visit(entry);
    } catch (const fs::filesystem_error& failure) {
      throw Error(Code::cannot_read, failure.code().message()).in_file(failure.path1().string());
    }
  }
  std::ranges::sort(cases, {}, &TestCase::model);
  const auto is_same = [](const TestCase& a, const TestCase& b) { return a.model == b.model; };
  cases.erase(std::unique(cases.begin(), cases.end(), is_same), cases.end());
  return cases;
}

std::size_t data_set_count(const TestCase& test) { return test.data_sets.empty() ? 1 : test.data_sets.size(); }

TestData load_test_data(const TestCase& test, std::size_t set, const Model& model, const driver::LoadOptions& options) {
  TestData data;
  const Graph& graph = *model.graph;
  const bool is_light = test.data_sets.empty();
  std::vector<const Value*> inputs = fed_inputs(graph);
  if (is_light) {
    for (const Value* v : inputs) data.inputs.emplace_back(v->name(), light_input(*v));
  } else {
    // With more files than that, the defaults are given too.
    if (fs::exists(numbered(test.data_sets[set], "input_", inputs.size())))
      inputs.assign(graph.inputs().begin(), graph.inputs().end());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string path = numbered(test.data_sets[set], "input_", i);
      if (fs::exists(path))
        data.inputs.emplace_back(inputs[i]->name(), driver::load_datum(path, inputs[i]->type, options));
    }
  }
  for (std::size_t i = 0; i < graph.output_count(); ++i) {
    const std::string path = is_light ? (i < test.light_outputs.size() ? test.light_outputs[i] : std::string())
                                      : numbered(test.data_sets[set], "output_", i);
    if (path.empty() || !fs::exists(path)) break;
    data.outputs.push_back(driver::load_datum(path, graph.output(i)->type, options));
  }
  if (data.outputs.empty()) throw Error(Code::bad_input, "no output is stored").in_file(test.model);
  return data;
}

void write_test_case(const TestCase& test, const Model& original, const Model& model, const std::string& directory,
                     const driver::LoadOptions& options) {
  const fs::path root = fs::path(directory) / test.name;
  for (std::size_t set = 0; set < data_set_count(test); ++set) {
    const fs::path to = root / ("test_data_set_" + std::to_string(set));
    std::error_code error;
    fs::create_directories(to, error);
    if (error) throw Error(Code::cannot_write, error.message()).in_file(to.string());
    if (test.data_sets.empty()) {
      const TestData data = load_test_data(test, set, original, options);
      for (std::size_t i = 0; i < data.inputs.size(); ++i)
        driver::save_datum(data.inputs[i].second, Type::tensor(DType::f32), numbered(to, "input_", i),
                           data.inputs[i].first);
      for (std::size_t i = 0; i < test.light_outputs.size(); ++i)
        copy_file(test.light_outputs[i], numbered(to, "output_", i));
      continue;
    }
    for (const char* stem : {"input_", "output_"})
      for (std::size_t i = 0; fs::exists(numbered(test.data_sets[set], stem, i)); ++i)
        copy_file(numbered(test.data_sets[set], stem, i), numbered(to, stem, i));
  }
  const Tolerance usual;
  if (test.tolerance.rtol != usual.rtol || test.tolerance.atol != usual.atol) {
    AtomicFile file((root / "data.json").string());
    file.write(nlohmann::json{{"rtol", test.tolerance.rtol}, {"atol", test.tolerance.atol}}.dump() + "\n");
    file.commit();
  }
  driver::save(model, (root / "model.onnx").string());
}

}  // namespace ingot::verify
