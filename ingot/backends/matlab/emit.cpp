// A program as a MATLAB function and a file of weights.
#include "ingot/backends/matlab/emit.h"

#include <fmt/format.h>

#include "ingot/backends/cpp/names.h"
#include "ingot/backends/matlab/functions.h"
#include "ingot/backends/matlab/mat_file.h"
#include "ingot/backends/matlab/printer.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::matlab {

using namespace lower;

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

class Emitter {
 public:
  explicit Emitter(const Program& program) : program_(program), printer_(program) {
    name_ = function_name(program.name);
    cpp::Names names(taken_words());
    for (const int id : program.sizes)
      printer_.set_variable(id, names.identifier(program.variables[static_cast<std::size_t>(id)].name, "size_"));
    for (const Port& port : program.inputs) printer_.set_buffer(port.tensor, names.identifier(port.name, "input"));
    for (const Port& port : program.outputs) printer_.set_buffer(port.tensor, names.identifier(port.name, "output"));
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
      if (program.buffers[i].role == Buffer::Role::weight)
        printer_.set_buffer(static_cast<int>(i), fmt::format("weights.w{}", i));
  }

  std::vector<File> files() {
    std::vector<std::string> inputs, outputs;
    for (const Port& port : program_.inputs) inputs.push_back(printer_.buffer(port.tensor));
    for (const Port& port : program_.outputs) outputs.push_back(printer_.buffer(port.tensor));
    std::string text =
        fmt::format("function [{}] = {}({})\n% Made by ingot compile. Arrays have the model's dimension order.\n",
                    joined(outputs), name_, joined(inputs));
    std::vector<MatVariable> weights;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i)
      if (program_.buffers[i].role == Buffer::Role::weight)
        weights.push_back({fmt::format("w{}", i), &*program_.buffers[i].value});
    if (!weights.empty())
      text += fmt::format(
          "  persistent weights\n  if isempty(weights)\n    weights = load(fullfile(fileparts(mfilename('fullpath')), "
          "'{}.mat'));\n  end\n",
          name_);
    text += begin();
    text += printer_.body(program_.body, 1);
    text += finish() + "end\n";
    text += local_functions(printer_.used());
    std::vector<File> files = {{name_ + ".m", std::move(text)}};
    if (!weights.empty()) files.push_back({name_ + ".mat", mat_file(weights)});
    return files;
  }

 private:
  const std::string& buffer_of(std::size_t input) const { return printer_.buffer(program_.inputs[input].tensor); }

  /// Sizes, columns of the inputs, and room for what is filled in parts.
  std::string begin() {
    std::string text;
    for (const int id : program_.sizes)
      for (std::size_t i = program_.inputs.size(); i-- > 0;)
        for (std::size_t d = program_.inputs[i].dims.size(); d-- > 0;)
          if (program_.inputs[i].dims[d]->op == Op::variable && program_.inputs[i].dims[d]->id == id)
            text += program_.inputs[i].dims.size() == 1
                        ? fmt::format("  {} = numel({});\n", printer_.variable(id), buffer_of(i))
                        : fmt::format("  {} = size({}, {});\n", printer_.variable(id), buffer_of(i), d + 1);
    for (const Port& port : program_.inputs) {
      const std::string& name = printer_.buffer(port.tensor);
      std::string dims;
      for (const Expr& d : port.dims) dims += (dims.empty() ? "" : " ") + printer_.expr(d);
      text += fmt::format("  {}({}, [{}], '{}');\n", printer_.use("expect_"), name, dims, name);
      const std::string cls = class_of(program_.buffers[static_cast<std::size_t>(port.tensor)].type);
      if (port.dims.size() > 1)
        text += fmt::format("  {0} = reshape(permute({1}({0}), {2}:-1:1), [], 1);\n", name, cls, port.dims.size());
      else
        text += fmt::format("  {0} = reshape({1}({0}), [], 1);\n", name, cls);
    }
    std::vector<bool> is_partial(program_.buffers.size(), false);
    for (const Statement& s : program_.body) mark_partial(s, is_partial);
    for (std::size_t i = 0; i < program_.buffers.size(); ++i)
      if (const auto size = static_size(program_.buffers[i]); is_partial[i] && size)
        text += fmt::format("  {} = {};\n", printer_.buffer(static_cast<int>(i)),
                            printer_.empty_array(static_cast<int>(i), std::to_string(*size)));
    return text;
  }

  static void mark_partial(const Statement& s, std::vector<bool>& is_partial) {
    if (const auto* map = std::get_if<Map>(&s.is)) is_partial[static_cast<std::size_t>(map->out)] = true;
    if (const auto* store = std::get_if<Store>(&s.is)) is_partial[static_cast<std::size_t>(store->tensor)] = true;
    if (const auto* product = std::get_if<Product>(&s.is)) is_partial[static_cast<std::size_t>(product->out)] = true;
    for_each_body(s, [&](const Body& body) {
      for (const Statement& inner : body) mark_partial(inner, is_partial);
    });
  }

  std::string finish() {
    std::string text;
    for (const Port& port : program_.outputs) {
      const std::string& name = printer_.buffer(port.tensor);
      std::string dims;
      for (std::size_t i = port.dims.size(); i-- > 0;) dims += printer_.expr(port.dims[i]) + " ";
      if (port.dims.size() > 1)
        text += fmt::format("  {0} = permute(reshape({0}, [{1}]), {2}:-1:1);\n", name, dims, port.dims.size());
    }
    return text;
  }

  const Program& program_;
  Printer printer_;
  std::string name_;
};

}  // namespace

std::string function_name(std::string_view name) {
  const std::string word = cpp::global_identifier(name, "model");
  return taken_words().contains(word) ? word + "_2" : word;
}

std::vector<File> emit(const Program& program) { return Emitter(program).files(); }

}  // namespace ingot::backends::matlab
