// A whole model as a program: its inputs, its graph, its outputs.
#include "ingot/lower/lower.h"

#include <map>

#include "ingot/base/error.h"
#include "ingot/lower/lowering.h"
#include "ingot/passes/absorb_lines.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/fold.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::lower {
namespace {

/// Inputs with the variables that their sizes are: equal names are one.
class Inputs {
 public:
  Inputs(Lowering& lowering, Program& program) : lowering_(lowering), program_(program) {}

  void add(const Value& input, std::vector<std::string>& problems) {
    if (!input.type.is_tensor() || !input.type.shape) {
      problems.push_back("input '" + input.name() + "': no code can be made for " +
                         (input.type.is_tensor() ? "a tensor of unknown rank" : input.type.schema_name()));
      return;
    }
    if (input.type.elem == DType::string) return add_strings(input);
    Buffer buffer;
    buffer.name = input.name();
    buffer.type = input.type.elem;
    buffer.role = Buffer::Role::input;
    for (std::size_t i = 0; i < input.type.shape->size(); ++i)
      buffer.dims.push_back(size_of((*input.type.shape)[i], input.name() + "_" + std::to_string(i)));
    View view{buffer.type, buffer.dims, -1, {}, 0};
    view.tensor = lowering_.add_buffer(std::move(buffer));
    program_.inputs.push_back({input.name(), view.tensor, view.dims});
    lowering_.set_view(&input, std::move(view));
  }

 private:
  /// Two inputs: bytes, and the ends of strings in them.
  void add_strings(const Value& input) {
    Exprs dims;
    for (std::size_t i = 0; i < input.type.shape->size(); ++i)
      dims.push_back(size_of((*input.type.shape)[i], input.name() + "_" + std::to_string(i)));
    const auto part = [&](const std::string& name, DType type, const Exprs& shape) {
      Buffer buffer;
      buffer.name = name;
      buffer.type = type;
      buffer.role = Buffer::Role::input;
      buffer.dims = shape;
      View view{type, shape, -1, {}, 0};
      view.tensor = lowering_.add_buffer(std::move(buffer));
      program_.inputs.push_back({name, view.tensor, shape});
      return view;
    };
    const View bytes = part(input.name(), DType::u8, {size_of(Dim(), input.name() + "_bytes")});
    lowering_.set_strings(&input, {bytes, part(input.name() + "_ends", DType::i64, dims)});
  }

  Expr size_of(const Dim& dim, const std::string& fallback) {
    if (dim.is_known()) return dim.value();
    const std::string name = dim.is_unknown() ? fallback : dim.str();
    const auto [it, is_new] = by_name_.try_emplace(name, static_cast<int>(program_.variables.size()));
    if (is_new) {
      program_.variables.push_back({name, DType::i64, true, true});
      program_.sizes.push_back(it->second);
    }
    return Expr::variable(it->second, DType::i64, true);
  }

  Lowering& lowering_;
  Program& program_;
  std::map<std::string, int> by_name_;
};

/// Each output gets a buffer of its own: that of the value, unless others have it.
void add_outputs(Lowering& lowering, Program& program, const Graph& graph) {
  const auto add = [&](View view, const std::string& name) {
    view = lowering.stored(view);
    if (program.buffers[static_cast<std::size_t>(view.tensor)].role != Buffer::Role::scratch)
      view = lowering.copied(view);
    Buffer& buffer = program.buffers[static_cast<std::size_t>(view.tensor)];
    buffer.role = Buffer::Role::output;
    buffer.name = name;
    program.outputs.push_back({name, view.tensor, view.dims});
  };
  for (const Value* value : graph.outputs()) {
    if (value->type.is_tensor() && value->type.elem == DType::string) {
      const Strings strings = lowering.strings_of(value);
      add(strings.bytes, value->name());
      add(strings.ends, value->name() + "_ends");
    } else {
      add(lowering.view_of(value), value->name());
    }
  }
}

[[noreturn]] void refuse(const std::vector<std::string>& problems) {
  std::string text = "the model cannot be compiled:";
  for (const std::string& p : problems) text += "\n  " + p;
  throw Error(Code::not_expressible, text);
}

}  // namespace

void legalize(Model& model) {
  passes::canonicalize(model);
  passes::inline_functions(model);
  passes::fold_constants(*model.graph);
  passes::absorb_lines(*model.graph);
  const auto is_native = [](const Node& node) { return lowering_of(node) != nullptr; };
  for (int round = 0; round < 4; ++round) {
    std::size_t changed = passes::decompose(model, is_native);
    changed += passes::fold_constants(*model.graph);
    if (changed == 0) break;
  }
}

Program lower(const Model& model, std::string name) {
  Program program;
  program.name = std::move(name);
  Lowering lowering(program);
  Inputs inputs(lowering, program);
  std::vector<std::string> problems;
  for (const Value* input : model.graph->inputs())
    if (!input->initializer) inputs.add(*input, problems);
  if (!problems.empty()) refuse(problems);
  lowering.lower_graph(*model.graph);
  if (!lowering.problems().empty()) refuse(lowering.problems());
  add_outputs(lowering, program, *model.graph);
  return program;
}

}  // namespace ingot::lower
