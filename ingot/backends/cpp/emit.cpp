// A program as files of C++ or C.
#include "ingot/backends/cpp/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/cpp/prepare.h"
#include "ingot/backends/cpp/printer.h"
#include "ingot/backends/cpp/test_program.h"
#include "ingot/backends/cpp/types.h"
#include "ingot/backends/cpp/weights.h"
#include "ingot/base/error.h"
#include "ingot/lower/plan.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::cpp {

using namespace lower;

namespace {

constexpr std::string_view kRoom = R"(
// Memory for a tensor whose size is known only now; it is used again by the next run.
static void* room(workspace_t* workspace, int slot, int64_t elements, size_t width, bool keeps) {
  if (elements < 0) return NULL;
  const size_t bytes = elements > 0 ? (size_t)elements * width : width;
  if (elements > 0 && bytes / width != (size_t)elements) return NULL;
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
)";

Geometry geometry_of(const Options& options) {
  return options.is_c && options.target.empty() ? kSmallGeometry : Geometry{};
}

/// One program while its text is made.
class Emitter {
 public:
  Emitter(Program program, const Options& options)
      : program_(std::move(program)),
        options_(options),
        support_({options.target, geometry_of(options), options.has_threads && !options.is_c}),
        printer_(program_, support_, options.weights_in_file),
        plan_(plan_memory(program_)) {
    name_ = identifier_of(program_);
    is_static_ = program_.is_static();
    Names names({exported("on_step")});
    for (const int id : program_.sizes)
      printer_.set_variable(id, names.identifier(program_.variables[static_cast<std::size_t>(id)].name, "size"));
    for (const Port& port : program_.inputs) printer_.set_buffer(port.tensor, names.identifier(port.name, "input"));
    for (const Port& port : program_.outputs)
      printer_.set_buffer(port.tensor, names.identifier(port.name, "output", {"out_", "dims_"}));
    for (std::size_t i = 0; i < program_.buffers.size(); ++i)
      if (program_.buffers[i].role == Buffer::Role::weight)
        printer_.set_buffer(static_cast<int>(i), fmt::format("w{}", i));
    arena_slot_ = program_.buffers.size();
    if (options.has_profile) printer_.set_hook(exported("on_step"));
    if (options.no_alloc && !is_static_)
      refuse_open_sizes("sizes of this model are known only when it runs, so its code must allocate");
    if (options.is_c && !is_static_)
      refuse_open_sizes("C code has fixed sizes, and this model's are known only when it runs");
  }

  std::vector<File> files(Sizes* sizes) {
    std::vector<File> files;
    const std::string last = results();
    const std::string body = printer_.body(program_.body, 1, last);
    for (const std::string* text : {&last, &body, &printer_.functions()}) add_words(*text, words_);
    std::string weights_text, weights_bytes;
    const WeightTable weights =
        make_weights(program_, printer_, words_, options_.weights_in_file, weights_text, weights_bytes);
    weight_bytes_ = static_cast<std::int64_t>(weights_bytes.size());
    std::string source = fmt::format(
        "// Made by ingot compile.\n#include \"{}.h\"\n\n#include <math.h>\n#include <stdio.h>\n#include "
        "<stdlib.h>\n#include <string.h>\n",
        name_);
    if (options_.is_c) source += "#include <stdbool.h>\n";
    if (has_threads())
      source +=
          "\n#ifndef INGOT_NO_THREADS\n#include <atomic>\n#include <condition_variable>\n#include <mutex>\n#include "
          "<thread>\n#include <vector>\n#endif\n";
    if (maps_weights()) source += mapping_headers();
    source += opening() + "\n";
    if (!is_static_) source += kRoom;
    if (has_threads()) source += pool_text();
    if (options_.has_profile)
      source += fmt::format("\nvoid (*{})(int step, const char* name, int is_end) = NULL;\n", exported("on_step"));
    source += "\n" + support_.text() + weights_text + printer_.functions();
    if (options_.weights_in_file)
      source += weight_functions(exported("set_weights"), options_.no_alloc ? "" : exported("load_weights"),
                                 weight_bytes_, maps_weights());
    const std::string_view asks_weights = weight_bytes_ > 0 ? "  if (!weights) return 3;\n" : "";
    source += fmt::format("\n{} {{\n{}{}{}", signature(false), asks_weights, declarations(weights), body);
    source += last + "  return 0;\n}\n";
    if (!is_static_) source += cleanup();
    source += closing();
    if (options_.has_entry) source += entry(options_.is_c ? "" : "extern \"C\" ", name_ + "_call");
    files.push_back({name_ + ".h", header()});
    files.push_back({name_ + (options_.is_c ? ".c" : ".cpp"), std::move(source)});
    if (options_.weights_in_file) files.push_back({name_ + ".bin", std::move(weights_bytes)});
    if (options_.has_test) {
      files.push_back({name_ + "_test" + (options_.is_c ? ".c" : ".cpp"), test_program()});
      files.push_back({name_ + ".cmake", cmake_file(name_, options_)});
    }
    if (sizes) *sizes = {weights.bytes, plan_.bytes};
    return files;
  }

 private:
  /// Where nothing is shared among threads, there are none.
  bool has_threads() const {
    return options_.has_threads && !options_.is_c && support_.text().find("for_all(") != std::string::npos;
  }

  bool maps_weights() const {
    return options_.weights_in_file && !options_.no_alloc && !options_.is_c && weight_bytes_ > 0;
  }

  [[noreturn]] void refuse_open_sizes(const char* why) const {
    std::string options;
    for (const Port& port : program_.inputs) {
      std::string dims;
      bool is_open = false;
      for (const Expr& d : port.dims) {
        is_open |= !d.as_int();
        dims += (dims.empty() ? "" : ",") + std::to_string(d.as_int().value_or(1));
      }
      if (is_open) options += fmt::format(" --input-shape {}:{}", port.name, dims);
    }
    Error error(Code::not_expressible, why);
    throw options.empty()
        ? error.hint("they depend on numbers, not on the sizes of inputs: there is no way to fix them")
        : error.hint("such as" + options + " fixes the sizes of inputs");
  }

  std::string opening() const { return options_.is_c ? "" : fmt::format("\nnamespace {} {{\n", name_); }
  std::string closing() const { return options_.is_c ? "" : fmt::format("\n}}  // namespace {}\n", name_); }
  /// What belongs to the interface: in C, where there are no namespaces, after the program's name.
  std::string exported(std::string_view word) const {
    return options_.is_c ? fmt::format("{}_{}", name_, word) : std::string(word);
  }

  std::string type_comment(const Port& port) {
    const Buffer& b = program_.buffers[static_cast<std::size_t>(port.tensor)];
    std::string dims;
    for (const Expr& d : port.dims)
      dims += (dims.empty() ? "" : ",") + (d.as_int()                                ? std::to_string(*d.as_int())
                                           : d->op == Op::variable && is_size(d->id) ? printer_.variable(d->id)
                                                                                     : "?");
    return fmt::format("///   {}: {}[{}], {}\n", printer_.buffer(port.tensor), name_of(b.type), dims,
                       comment(port.name));
  }
  bool is_size(int id) const { return std::ranges::find(program_.sizes, id) != program_.sizes.end(); }

  std::string signature(bool is_declaration) const {
    std::vector<std::string> parameters;
    if (!is_static_) parameters.push_back("workspace_t* workspace");
    for (const int id : program_.sizes) parameters.push_back("int64_t " + printer_.variable(id));
    for (const Port& port : program_.inputs)
      parameters.push_back(fmt::format("const {}* {}", storage(port), printer_.buffer(port.tensor)));
    for (const Port& port : program_.outputs) {
      const std::string& name = printer_.buffer(port.tensor);
      if (is_static_)
        parameters.push_back(fmt::format("{}* {}", storage(port), name));
      else
        parameters.push_back(fmt::format("const {}** out_{}, int64_t* dims_{}", storage(port), name, name));
    }
    if (is_static_) parameters.push_back("void* arena");
    std::string list;
    for (const std::string& p : parameters) list += (list.empty() ? "" : ", ") + p;
    (void)is_declaration;
    std::string text = fmt::format("int {}({})", exported("run"), list);
    if (!is_static_ && options_.is_c) text = "";
    return text;
  }

  const char* storage(const Port& port) const {
    return c_type(program_.buffers[static_cast<std::size_t>(port.tensor)].type).storage;
  }

  std::string header() {
    std::string text = "#pragma once\n";
    text += options_.is_c ? "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
                          : "#include <stddef.h>\n#include <stdint.h>\n";
    text += fmt::format("\n// Made by ingot compile.\n{}\n", opening());
    if (is_static_) {
      text +=
          options_.is_c
              ? fmt::format("enum {{ {} = {} }};\n", exported("arena_bytes"), std::max<std::int64_t>(plan_.bytes, 1))
              : fmt::format(
                    "/// Bytes of the arena that run() works in, aligned to 64.\nconstexpr size_t arena_bytes = {};\n",
                    plan_.bytes);
    } else {
      text += fmt::format(
          "/// Memory that run() works in and its results lie in until the next run. Begins zeroed: workspace_t w = "
          "{{}};\nstruct workspace_t {{\n  void* data[{0}];\n  size_t bytes[{0}];\n}};\nvoid release(workspace_t* "
          "workspace);\n",
          arena_slot_ + 1);
    }
    if (options_.weights_in_file)
      text += fmt::format(
          "/// The content of {0}.bin, aligned to 64 bytes; stays the caller's and must outlive run().\nvoid "
          "{1}(const void* bytes);\n",
          name_, exported("set_weights"));
    if (options_.weights_in_file && !options_.no_alloc)
      text += fmt::format(
          "/// The same, of a file: mapped where there is a system that can, else read; 0 if it could be. It must not "
          "change\n/// meanwhile.\nint {}(const char* path);\n",
          exported("load_weights"));
    if (options_.has_profile)
      text += fmt::format(
          "/// Called before and after each step, with its number and the node that it came from, unless it is NULL.\n"
          "extern void (*{})(int step, const char* name, int is_end);\n",
          exported("on_step"));
    if (has_threads())
      text +=
          "/// How many threads share the work of run(), of which only one may go on at a time; 1 at first. The "
          "results are\n"
          "/// the same for any number. Code that is compiled with INGOT_NO_THREADS has none.\nvoid set_threads(int "
          "count);\n";
    text += "/// 0 if it could be run";
    if (!is_static_) text += ", 1 if there is no memory";
    if (has_requirements(program_.body)) text += ", 2 if sizes do not fit each other";
    if (weight_bytes_ > 0) text += ", 3 if no weights were set";
    text += ".\n";
    for (const Port& port : program_.inputs) text += type_comment(port);
    for (const Port& port : program_.outputs) text += type_comment(port);
    text += signature(true) + ";\n";
    return text + closing();
  }

  /// Pointers to the buffers, in the arena or yet without memory.
  std::string declarations(const WeightTable& weights) {
    std::string text;
    bool uses_arena = false;
    std::string lines;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& b = program_.buffers[i];
      const char* type = c_type(b.type).storage;
      const std::string& name = printer_.buffer(static_cast<int>(i));
      if (!words_.contains(name)) continue;
      if (b.role == Buffer::Role::weight && options_.weights_in_file)
        lines += fmt::format("  const {0}* const {1} = (const {0}*)(weights + {2});\n", type, name, weights.offsets[i]);
      if (plan_.offsets[i] >= 0) {
        lines += fmt::format("  {0}* const {1} = ({0}*)(base + {2});\n", type, name, plan_.offsets[i]);
        uses_arena = true;
      } else if (!is_static_ && (b.role == Buffer::Role::scratch || b.role == Buffer::Role::output)) {
        lines += fmt::format("  {}* {} = NULL;\n", type, name);
        if (static_size(b))
          lines += fmt::format("  {0} = ({1}*)room(workspace, {2}, {3}, sizeof({1}), false);\n  if (!{0}) return 1;\n",
                               name, type, i, *static_size(b));
      }
    }
    if (is_static_)
      text = uses_arena ? "  unsigned char* const base = (unsigned char*)arena;\n" : "  (void)arena;\n";
    else if (uses_arena)
      text = fmt::format("  unsigned char* const base = (unsigned char*)room(workspace, {}, {}, 1, false);\n",
                         arena_slot_, plan_.bytes) +
             "  if (!base) return 1;\n";
    return text + lines + unused();
  }

  /// Parameters that nothing reads.
  std::string unused() const {
    std::string text;
    for (const Port& port : program_.inputs) text += fmt::format("  (void){};\n", printer_.buffer(port.tensor));
    for (const int id : program_.sizes) text += fmt::format("  (void){};\n", printer_.variable(id));
    if (!is_static_) text += "  (void)workspace;\n";
    return text;
  }

  std::string results() {
    if (is_static_) return "";
    std::string text;
    for (const Port& port : program_.outputs) {
      const std::string& name = printer_.buffer(port.tensor);
      text += fmt::format("  *out_{0} = {0};\n  (void)dims_{0};\n", name);
      for (std::size_t i = 0; i < port.dims.size(); ++i)
        text += fmt::format("  dims_{}[{}] = {};\n", name, i, printer_.expr(port.dims[i]));
    }
    return text;
  }

  std::string cleanup() const {
    return fmt::format(
        "\nvoid release(workspace_t* workspace) {{\n  for (int i = 0; i < {}; ++i) {{\n    free(workspace->data[i]);\n "
        "   workspace->data[i] = NULL;\n    workspace->bytes[i] = 0;\n  }}\n}}\n",
        arena_slot_ + 1);
  }

  /// Sizes come from the dimensions that the caller states; results lie in memory of the function.
  std::string entry(std::string_view linkage, std::string_view function);
  std::string test_program();

  const Program program_;
  const Options& options_;
  Support support_;
  Printer printer_;
  MemoryPlan plan_;
  std::string name_;
  std::unordered_set<std::string> words_;  // of the printed statements
  bool is_static_ = true;
  std::size_t arena_slot_ = 0;
  std::int64_t weight_bytes_ = 0;  // of the file
};

std::string Emitter::test_program() {
  std::string load;
  if (options_.weights_in_file && options_.no_alloc)
    load = fmt::format(
        "  static uint64_t weights[{0}];\n  unsigned char* const aligned = (unsigned char*)weights + (64 - "
        "(size_t)weights % "
        "64) % 64;\n  FILE* weights_file = fopen(\"{1}.bin\", \"rb\");\n  if (!weights_file || fread(aligned, 1, {2}, "
        "weights_file) != {2}) return 2;\n  fclose(weights_file);\n  {3}{4}(aligned);\n",
        weight_bytes_ / 8 + 9, name_, weight_bytes_, options_.is_c ? "" : name_ + "::", exported("set_weights"));
  else if (options_.weights_in_file)
    load = fmt::format("  if ({}{}(\"{}.bin\") != 0) return 2;\n",
                       options_.is_c ? "" : name_ + "::", exported("load_weights"), name_);
  return test_source(name_, options_.is_c, entry("static ", "call"), load, program_.inputs.size(),
                     program_.outputs.size());
}

std::string Emitter::entry(std::string_view linkage, std::string_view function) {
  const std::string scope = options_.is_c ? "" : name_ + "::";
  std::string text = fmt::format(
      "\n{}int {}(const void* const* inputs, const int64_t* const* input_dims, const void** outputs, int64_t* "
      "const* "
      "output_dims) {{\n  (void)inputs;\n  (void)input_dims;\n  (void)output_dims;\n",
      linkage, function);
  std::string arguments;
  const auto add = [&](const std::string& a) { arguments += (arguments.empty() ? "" : ", ") + a; };
  if (!is_static_) {
    text += fmt::format("  static {}workspace_t workspace;\n", scope);
    add("&workspace");
  }
  for (const int id : program_.sizes) {
    std::string from = "0";
    for (std::size_t i = program_.inputs.size(); i-- > 0;)
      for (std::size_t d = program_.inputs[i].dims.size(); d-- > 0;)
        if (program_.inputs[i].dims[d]->op == Op::variable && program_.inputs[i].dims[d]->id == id)
          from = fmt::format("input_dims[{}][{}]", i, d);
    add(from);
  }
  for (std::size_t i = 0; i < program_.inputs.size(); ++i)
    add(fmt::format("(const {}*)inputs[{}]", storage(program_.inputs[i]), i));
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
    const Port& port = program_.outputs[i];
    if (is_static_) {
      const std::int64_t size = *static_size(program_.buffers[static_cast<std::size_t>(port.tensor)]);
      text += fmt::format("  static {} y{}[{}];\n  outputs[{}] = y{};\n", storage(port), i,
                          std::max<std::int64_t>(size, 1), i, i);
      for (std::size_t d = 0; d < port.dims.size(); ++d)
        text += fmt::format("  output_dims[{}][{}] = {};\n", i, d, printer_.expr(port.dims[d]));
      add(fmt::format("y{}", i));
    } else {
      add(fmt::format("(const {}**)&outputs[{}], output_dims[{}]", storage(port), i, i));
    }
  }
  if (is_static_) {
    text += fmt::format("  static uint64_t arena[{}];\n", plan_.bytes / 8 + 8);
    add("(unsigned char*)arena + (64 - (size_t)arena % 64) % 64");
  }
  return text + fmt::format("  return {}{}({});\n}}\n", scope, exported("run"), arguments);
}

}  // namespace

std::string identifier_of(const Program& program) { return global_identifier(program.name, "model"); }

std::vector<File> emit(const Program& program, const Options& options, Sizes* sizes) {
  Program made = prepared(program, geometry_of(options));
  if (options.half_weights) halve_weights(made);
  return Emitter(std::move(made), options).files(sizes);
}

}  // namespace ingot::backends::cpp
