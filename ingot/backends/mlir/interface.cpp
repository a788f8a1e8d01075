// The C side of a module: what callers see, memory that is sized at run time, and a table for programs that know no
// types.
#include "ingot/backends/mlir/interface.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/cpp/names.h"
#include "ingot/backends/cpp/types.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::mlir {

using namespace lower;

namespace {

// $N: the program's name, $S: slots of its workspace.
constexpr std::string_view kRoom = R"(
static _Thread_local $N_workspace* working;

// Memory for a tensor whose size is known only now; it is used again by the next run.
static void* room($N_workspace* workspace, int64_t slot, int64_t elements, int64_t width, bool keeps) {
  if (elements < 0) return NULL;
  const size_t bytes = elements > 0 ? (size_t)elements * (size_t)width : (size_t)width;
  if (elements > 0 && bytes / (size_t)width != (size_t)elements) return NULL;
  if (bytes > workspace->bytes[slot]) {
    const size_t more = keeps ? bytes + bytes / 2 : bytes;
    void* fresh = keeps ? realloc(workspace->data[slot], more) : malloc(more);
    if (!fresh) return NULL;
    if (!keeps) free(workspace->data[slot]);
    workspace->data[slot] = fresh;
    workspace->bytes[slot] = more;
  }
  return workspace->data[slot];
}

void _mlir_ciface_$N_room(memref_t* result, int64_t slot, int64_t elements, int64_t width, int64_t keeps);
void _mlir_ciface_$N_room(memref_t* result, int64_t slot, int64_t elements, int64_t width, int64_t keeps) {
  void* memory = room(working, slot, elements, width, keeps != 0);
  if (!memory) longjmp(way_out, 1);
  *result = whole(memory);
}

void $N_release($N_workspace* workspace) {
  for (int i = 0; i < $S; ++i) {
    free(workspace->data[i]);
    workspace->data[i] = NULL;
    workspace->bytes[i] = 0;
  }
}
)";

constexpr std::string_view kWayOut = R"(
// Where a run goes that ends early: 1, there is no memory; 2, sizes do not fit each other.
static _Thread_local jmp_buf way_out;
)";

constexpr std::string_view kMisfit = R"(
void _mlir_ciface_$N_misfit(void);
void _mlir_ciface_$N_misfit(void) { longjmp(way_out, 2); }
)";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// A text of C that means these bytes, whatever they are.
std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) ||
                          std::string_view(" _-.,:;/()[]=+").find(c) != std::string_view::npos;
    text += is_plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return text + "\"";
}

/// The model's names stand in the header only: the source, which calls functions, has numbered ones.
class Interface {
 public:
  Interface(const Program& program, const MemoryPlan& plan)
      : program_(program),
        plan_(plan),
        is_static_(program.is_static()),
        has_requirements_(has_requirements(program.body)),
        name_(program.name) {
    cpp::Names names;
    for (const int id : program.sizes)
      sizes_.push_back(names.identifier(program.variables[static_cast<std::size_t>(id)].name, "size"));
    for (const Port& port : program.inputs) inputs_.push_back(names.identifier(port.name, "input"));
    for (const Port& port : program.outputs)
      outputs_.push_back(names.identifier(port.name, "output", {"out_", "dims_"}));
    slots_ = program.buffers.size() + 1;
  }

  std::string header() const {
    std::string text =
        "#pragma once\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n// Made by ingot compile.\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    if (is_static_)
      text += fmt::format(
          "/// Bytes of the arena that {0}_run works in, aligned to 64.\n#define {0}_arena_bytes ((size_t){1})\n",
          name_, std::max<std::int64_t>(plan_.bytes, 1));
    else
      text += fmt::format(
          "/// Memory that {0}_run works in and its results lie in until the next run. Begins zeroed.\ntypedef struct "
          "{{\n  void* data[{1}];\n  size_t bytes[{1}];\n}} {0}_workspace;\nvoid {0}_release({0}_workspace* "
          "workspace);\n",
          name_, slots_);
    text += "/// 0 if it could be run, 1 if there is no memory, 2 if sizes do not fit each other.\n";
    for (std::size_t i = 0; i < inputs_.size(); ++i) text += type_comment(program_.inputs[i], inputs_[i]);
    for (std::size_t i = 0; i < outputs_.size(); ++i) text += type_comment(program_.outputs[i], outputs_[i]);
    text += signature(true) + ";\n";
    text += "/// The same for callers that know no types; results lie in memory of the library until the next call.\n" +
            call_signature() + ";\n";
    return text + "\n#ifdef __cplusplus\n}\n#endif\n";
  }

  std::string source() const {
    std::string text = fmt::format(
        "// Made by ingot compile.\n#include \"{0}.h\"\n\n#include <setjmp.h>\n#include <stdlib.h>\n\n"
        "// What MLIR passes for a buffer.\ntypedef struct {{\n  void* allocated;\n  void* aligned;\n  int64_t offset, "
        "size, stride;\n}} memref_t;\n\nstatic memref_t whole(const void* memory) {{\n  memref_t m = {{(void*)memory, "
        "(void*)memory, 0, INT64_MAX, 1}};\n  return m;\n}}\n",
        name_);
    text += fmt::format("\nvoid _mlir_ciface_{}_main(memref_t* arena", name_);
    for (std::size_t i = 0; i < sizes_.size(); ++i) text += ", int64_t";
    for (std::size_t i = 0; i < inputs_.size() + (is_static_ ? outputs_.size() : 1); ++i) text += ", memref_t*";
    text += ");\n";
    if (!is_static_ || has_requirements_) text += kWayOut;
    if (!is_static_) text += replaced(replaced(std::string(kRoom), "$N", name_), "$S", std::to_string(slots_));
    if (has_requirements_) text += replaced(std::string(kMisfit), "$N", name_);
    return text + run() + call() + table();
  }

 private:
  const Buffer& buffer(const Port& port) const { return program_.buffers[static_cast<std::size_t>(port.tensor)]; }
  const char* storage(const Port& port) const { return cpp::c_type(buffer(port).type).storage; }

  std::string type_comment(const Port& port, const std::string& name) const {
    std::string dims;
    for (const Expr& d : port.dims) dims += (dims.empty() ? "" : ",") + size_text(d);
    return fmt::format("///   {}: {}[{}], {}\n", name, name_of(buffer(port).type), dims, cpp::comment(port.name));
  }
  std::string size_text(const Expr& d) const {
    if (d.as_int()) return std::to_string(*d.as_int());
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      if (d->op == Op::variable && d->id == program_.sizes[i]) return sizes_[i];
    return "?";
  }

  std::string signature(bool is_named) const {
    std::vector<std::string> parameters;
    const auto name = [&](const std::vector<std::string>& names, const char* what, std::size_t i) {
      return is_named ? names[i] : fmt::format("{}{}", what, i);
    };
    if (!is_static_) parameters.push_back(name_ + "_workspace* workspace");
    for (std::size_t i = 0; i < sizes_.size(); ++i) parameters.push_back("int64_t " + name(sizes_, "size", i));
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      parameters.push_back(fmt::format("const {}* {}", storage(program_.inputs[i]), name(inputs_, "in", i)));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const std::string out = name(outputs_, "", i);
      parameters.push_back(
          is_static_ ? fmt::format("{}* {}{}", storage(program_.outputs[i]), is_named ? "" : "out_", out)
                     : fmt::format("const {0}** out_{1}, int64_t* dims_{1}", storage(program_.outputs[i]), out));
    }
    if (is_static_) parameters.push_back("void* arena");
    return fmt::format("int {}_run({})", name_, fmt::join(parameters, ", "));
  }
  std::string call_signature() const {
    return fmt::format(
        "int {}_call(const void* const* inputs, const int64_t* const* input_dims, const void** outputs, int64_t* "
        "const* "
        "output_dims)",
        name_);
  }

  std::string run() const {
    std::string text = "\n" + signature(false) + " {\n", arguments = "&m_arena";
    if (!is_static_) {
      text += fmt::format(
          "  memref_t m_arena = whole(room(workspace, {}, {}, 1, false));\n  if (!m_arena.aligned) return 1;\n  "
          "working = workspace;\n",
          slots_ - 1, std::max<std::int64_t>(plan_.bytes, 1) + 64);
      text += "  m_arena.aligned = (char*)m_arena.aligned + (64 - (size_t)m_arena.aligned % 64) % 64;\n";
    } else {
      text += "  memref_t m_arena = whole(arena);\n";
    }
    if (!is_static_ || has_requirements_)
      text +=
          "  switch (setjmp(way_out)) {\n    case 0:\n      break;\n    case 1:\n      return 1;\n    default:\n      "
          "return 2;\n  }\n";
    for (std::size_t i = 0; i < sizes_.size(); ++i) arguments += fmt::format(", size{}", i);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      text += fmt::format("  memref_t m_in{0} = whole(in{0});\n", i);
      arguments += fmt::format(", &m_in{}", i);
    }
    std::size_t rank = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      rank += program_.outputs[i].dims.size();
      if (!is_static_) continue;
      text += fmt::format("  memref_t m_out{0} = whole(out_{0});\n", i);
      arguments += fmt::format(", &m_out{}", i);
    }
    if (!is_static_) {
      text += fmt::format("  int64_t dims[{}];\n  memref_t m_dims = whole(dims);\n", rank + 1);
      arguments += ", &m_dims";
    }
    text += fmt::format("  _mlir_ciface_{}_main({});\n", name_, arguments);
    std::size_t at = 0;
    for (std::size_t i = 0; i < outputs_.size() && !is_static_; ++i) {
      text += fmt::format("  *out_{0} = (const {1}*)workspace->data[{2}];\n  (void)dims_{0};\n", i,
                          storage(program_.outputs[i]), program_.outputs[i].tensor);
      for (std::size_t d = 0; d < program_.outputs[i].dims.size(); ++d)
        text += fmt::format("  dims_{}[{}] = dims[{}];\n", i, d, at++);
    }
    return text + "  return 0;\n}\n";
  }

  std::string call() const {
    std::string text =
        "\n" + call_signature() + " {\n  (void)inputs;\n  (void)input_dims;\n  (void)outputs;\n  (void)output_dims;\n";
    std::vector<std::string> arguments;
    if (!is_static_) {
      text += fmt::format("  static {}_workspace workspace;\n", name_);
      arguments.push_back("&workspace");
    }
    text += dims_check();
    for (const int id : program_.sizes) arguments.push_back(source_of(id));
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      arguments.push_back(fmt::format("(const {}*)inputs[{}]", storage(program_.inputs[i]), i));
    if (is_static_) text += static_memory(arguments);
    for (std::size_t i = 0; i < outputs_.size() && !is_static_; ++i)
      arguments.push_back(fmt::format("(const {}**)&outputs[{}], output_dims[{}]", storage(program_.outputs[i]), i, i));
    return text + fmt::format("  return {}_run({});\n}}\n", name_, fmt::join(arguments, ", "));
  }

  /// One piece of memory for the arena and the results.
  std::string static_memory(std::vector<std::string>& arguments) const {
    std::string text;
    std::int64_t bytes = (plan_.bytes + 63) / 64 * 64;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Buffer& b = buffer(program_.outputs[i]);
      text += fmt::format("  outputs[{}] = memory + {};\n", i, bytes);
      arguments.push_back(fmt::format("({}*)(memory + {})", storage(program_.outputs[i]), bytes));
      for (std::size_t d = 0; d < program_.outputs[i].dims.size(); ++d)
        text += fmt::format("  output_dims[{}][{}] = {};\n", i, d, *program_.outputs[i].dims[d].as_int());
      bytes += (*static_size(b) * element_bytes(b.type) + 63) / 64 * 64;
    }
    arguments.push_back("memory");
    return fmt::format(
               "  static unsigned char* memory = NULL;\n  if (!memory) {{\n    memory = (unsigned char*)malloc({});\n  "
               "  "
               "if (!memory) return 1;\n    memory += 64 - (size_t)memory % 64;\n  }}\n",
               bytes + 128) +
           text;
  }

  /// Dimensions that are stated twice, or are fixed, must be so.
  std::string dims_check() const {
    std::string text;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (std::size_t d = 0; d < program_.inputs[i].dims.size(); ++d) {
        const Expr& e = program_.inputs[i].dims[d];
        const std::string here = fmt::format("input_dims[{}][{}]", i, d),
                          wanted = e.as_int() ? std::to_string(*e.as_int()) : source_of(e->id);
        text += here == wanted ? fmt::format("  if ({} < 0) return 2;\n", here)
                               : fmt::format("  if ({} != {}) return 2;\n", here, wanted);
      }
    return text;
  }

  std::string source_of(int id) const {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i)
      for (std::size_t d = 0; d < program_.inputs[i].dims.size(); ++d)
        if (const Expr& e = program_.inputs[i].dims[d]; e->op == Op::variable && e->id == id)
          return fmt::format("input_dims[{}][{}]", i, d);
    return "0";
  }

  /// A number, or less than 0: the same for sizes that are the same.
  std::int64_t size_number(const Expr& d) const {
    const auto it = std::ranges::find(program_.sizes, d->op == Op::variable ? d->id : -1);
    return d.as_int() ? *d.as_int() : -1 - (it - program_.sizes.begin());
  }

  /// What `ingot run --native` reads.
  std::string table() const {
    std::string text =
        "\n// Names, element types as ONNX numbers them, and dimensions: less than 0 where only the run tells,\n// "
        "equal numbers for equal sizes.\ntypedef struct {\n  "
        "const char* name;\n  int64_t type, rank;\n  const int64_t* dims;\n} port_t;\n";
    const auto ports = [&](const char* what, const std::vector<Port>& list) {
      std::string rows, shapes;
      for (std::size_t i = 0; i < list.size(); ++i) {
        std::string dims;
        for (const Expr& d : list[i].dims) dims += fmt::format("{}, ", size_number(d));
        shapes += fmt::format("static const int64_t {}{}[] = {{{}0}};\n", what, i, dims);
        rows += fmt::format("    {{{}, {}, {}, {}{}}},\n", quoted(list[i].name), static_cast<int>(buffer(list[i]).type),
                            list[i].dims.size(), what, i);
      }
      text += fmt::format("{}static const port_t {}s[] = {{\n{}    {{NULL, 0, 0, NULL}},\n}};\n", shapes, what, rows);
    };
    ports("input", program_.inputs);
    ports("output", program_.outputs);
    return text +
           fmt::format(
               "typedef struct {{\n  int64_t version, input_count, output_count;\n  const port_t *inputs, "
               "*outputs;\n  int (*call)(const void* const*, const int64_t* const*, const void**, int64_t* "
               "const*);\n}} model_t;\nextern const model_t ingot_native_model;\nconst model_t ingot_native_model "
               "= {{1, {}, {}, inputs, outputs, {}_call}};\n",
               program_.inputs.size(), program_.outputs.size(), name_);
  }

  const Program& program_;
  const MemoryPlan& plan_;
  bool is_static_, has_requirements_;
  const std::string& name_;
  std::vector<std::string> sizes_, inputs_, outputs_;
  std::size_t slots_ = 0;
};

}  // namespace

std::string header_text(const Program& program, const MemoryPlan& plan) { return Interface(program, plan).header(); }
std::string interface_text(const Program& program, const MemoryPlan& plan) { return Interface(program, plan).source(); }

}  // namespace ingot::backends::mlir
