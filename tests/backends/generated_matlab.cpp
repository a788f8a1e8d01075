// Generated MATLAB code of stored cases, run by Octave.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "ingot/backends/matlab/emit.h"
#include "ingot/backends/matlab/mat_file.h"
#include "ingot/base/error.h"
#include "ingot/base/float_types.h"
#include "ingot/driver/load.h"
#include "ingot/lower/lower.h"
#include "ingot/verify/compare.h"
#include "tests/backends/generated_cpp.h"

namespace ingot::test {
namespace {

/// Reads the stored inputs, calls the function and writes each output as its dimensions and its elements in row-major
/// order.
std::string script_of(const GeneratedCase& c, const std::vector<Array>& inputs, const Model& model) {
  std::string text = "function ok = run_" + c.name + "()\n";
  if (!inputs.empty()) text += "  d = load('in_" + c.name + ".mat');\n";
  std::string arguments, results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string x = "x" + std::to_string(i);
    std::string dims;
    for (std::size_t k = inputs[i].dims().size(); k-- > 0;) dims += std::to_string(inputs[i].dims()[k]) + " ";
    const std::size_t rank = inputs[i].dims().size();
    text += "  " + x + " = d." + x + ";\n";
    if (rank > 1)
      text += "  " + x + " = permute(reshape(" + x + ", [" + dims + "]), " + std::to_string(rank) + ":-1:1);\n";
    arguments += (i ? ", " : "") + x;
  }
  for (std::size_t i = 0; i < model.graph->output_count(); ++i) results += (i ? ", y" : "y") + std::to_string(i);
  text += "  [" + results + "] = " + c.name + "(" + arguments + ");\n";
  for (std::size_t i = 0; i < model.graph->output_count(); ++i) {
    const std::string y = "y" + std::to_string(i);
    text += "  f = fopen('out_" + c.name + "_" + std::to_string(i) + "', 'w');\n";
    text += "  y = " + y + "; if ndims(y) > 1, y = permute(y, ndims(y):-1:1); end; y = y(:);\n";
    text += "  if islogical(y), y = uint8(y); end\n";
    text += "  fwrite(f, numel(y), 'int64'); fwrite(f, size(" + y + "), 'int64'); fwrite(f, y, class(y)); fclose(f);\n";
  }
  return text + "  ok = true;\nend\n";
}

/// The elements of a file in the element type that is expected; small floats are written as single.
std::string read_output(const std::string& path, const Array& expected, Array& got) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "no output";
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::int64_t count = 0;
  if (bytes.size() < 8) return "an output is cut off";
  std::memcpy(&count, bytes.data(), 8);
  if (count != expected.size())
    return "has " + std::to_string(count) + " elements for " + std::to_string(expected.size());
  got = Array(expected.dtype(), expected.dims());
  const DType type = expected.dtype();
  const bool is_small = is_float(type) && type != DType::f32 && type != DType::f64;
  const std::size_t size = is_small ? static_cast<std::size_t>(count) * 4 : got.byte_size();
  if (bytes.size() < size + 8) return "an output is cut off";
  const char* data = bytes.data() + bytes.size() - size;
  if (!is_small) {
    std::memcpy(got.bytes(), data, size);
    return "";
  }
  dispatch(type, JoinTypes<Types<Float16, BFloat16>, SmallFloats>{}, [&]<class T>() {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      float value = 0;
      std::memcpy(&value, data + i * 4, 4);
      if constexpr (std::is_constructible_v<T, float, bool>)
        got.mutable_data<T>()[i] = T(value, false);
      else
        got.mutable_data<T>()[i] = T(value);
    }
  });
  return "";
}

struct Prepared {
  std::vector<Array> inputs;
  verify::TestData data;
};

Prepared prepare(GeneratedCase& c, const TempDir& directory) {
  Model model = driver::load(c.test.model).model;
  Prepared p;
  p.data = verify::load_test_data(c.test, 0, model);
  for (const Value* input : model.graph->inputs())
    for (auto& [name, value] : p.data.inputs)
      if (name == input->name() && value.array() && !input->initializer) p.inputs.push_back(*value.array());
  write_text(directory / ("run_" + c.name + ".m"), script_of(c, p.inputs, model));
  std::vector<Tensor> tensors;
  for (const Array& a : p.inputs) tensors.push_back(a.to_tensor());
  std::vector<backends::matlab::MatVariable> variables;
  for (std::size_t i = 0; i < tensors.size(); ++i) variables.push_back({"x" + std::to_string(i), &tensors[i]});
  write_text(directory / ("in_" + c.name + ".mat"), backends::matlab::mat_file(variables));
  lower::legalize(model);
  for (const auto& file : backends::matlab::emit(lower::lower(model, c.name)))
    write_text(directory / file.name, file.content);
  return p;
}

void compare(GeneratedCase& c, const Prepared& p, const TempDir& directory) {
  for (std::size_t i = 0; i < p.data.outputs.size() && c.problem.empty(); ++i) {
    const Array* expected = p.data.outputs[i].array();
    if (!expected) {
      c.problem = "an output is no tensor";
      return;
    }
    Array got;
    c.problem = read_output(directory / ("out_" + c.name + "_" + std::to_string(i)), *expected, got);
    if (!c.problem.empty()) return;
    if (const auto what = verify::difference(Datum(got), p.data.outputs[i], c.test.tolerance)) c.problem = *what;
  }
}

constexpr std::size_t kBatch = 60;

}  // namespace

void run_generated_matlab(std::vector<GeneratedCase>& cases) {
  for (std::size_t from = 0; from < cases.size(); from += kBatch) {
    const TempDir directory;
    std::map<std::size_t, Prepared> prepared;
    std::string script = "warning('off', 'all');\n";
    for (std::size_t i = from; i < std::min(cases.size(), from + kBatch); ++i) {
      GeneratedCase& c = cases[i];
      c.name = "case_" + std::to_string(i);
      try {
        prepared[i] = prepare(c, directory);
        script += "try, run_" + c.name + "(); catch e, f = fopen('err_" + c.name +
                  "', 'w'); fputs(f, e.message); fclose(f); end\n";
      } catch (const std::exception& error) {
        prepared.erase(i);
        c.problem = std::string("refused: ") + error.what();
      }
    }
    write_text(directory / "every_case.m", script);
    const std::string command =
        "cd " + directory.path().string() + " && timeout 300 octave-cli --no-gui --no-history every_case.m > log 2>&1";
    const int code = std::system(command.c_str());
    for (auto& [i, p] : prepared) {
      GeneratedCase& c = cases[i];
      if (const std::string error = directory / ("err_" + c.name); std::filesystem::exists(error))
        c.problem = "error: " + read_text(error);
      if (c.problem.empty()) compare(c, p, directory);
      if (c.problem == "no output" && code != 0) c.problem += "; Octave ended with " + std::to_string(code);
    }
  }
}

}  // namespace ingot::test
