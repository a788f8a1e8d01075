// A program as a module of MLIR.
#include "ingot/backends/mlir/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/mlir/interface.h"
#include "ingot/backends/mlir/printer.h"
#include "ingot/backends/mlir/types.h"
#include "ingot/lower/plan.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::mlir {

using namespace lower;

namespace {

constexpr std::size_t kAlignment = 64, kMostInText = 4096;  // bytes of a weight

/// The elements as they lie in memory, those of less than a byte one per byte.
std::string bytes_of(const Tensor& tensor) {
  const auto* data = reinterpret_cast<const char*>(tensor.bytes().data());
  if (!is_sub_byte(tensor.dtype())) return std::string(data, tensor.bytes().size());
  const unsigned bits = bits_of(tensor.dtype()), per_byte = 8 / bits;
  std::string unpacked;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto k = static_cast<std::uint64_t>(i);
    int value = (static_cast<unsigned char>(data[k / per_byte]) >> (k % per_byte * bits)) & ((1 << bits) - 1);
    if (is_signed_integer(tensor.dtype()) && value >= 1 << (bits - 1)) value -= 1 << bits;
    unpacked += static_cast<char>(value);
  }
  return unpacked;
}

std::string hex(const std::string& bytes) {
  std::string text = "0x";
  for (const char c : bytes) text += fmt::format("{:02X}", static_cast<unsigned char>(c));
  return text;
}

class Emitter {
 public:
  explicit Emitter(const Program& program)
      : program_(program), printer_(program, support_), plan_(plan_memory(program)), is_static_(program.is_static()) {
    used_.assign(program.buffers.size(), false);
    for (const Statement& s : program.body)
      for_each_buffer(s, [&](int tensor, bool) { used_[static_cast<std::size_t>(tensor)] = true; });
  }

  std::vector<File> files(Sizes* sizes) {
    const std::string main = main_text();
    std::string text = "// Made by ingot compile.\nmodule {\n";
    add_weights(text);
    if (!is_static_)
      text += fmt::format(
          "  // Memory for a buffer: its number, elements, bytes of each, whether it keeps what it holds.\n"
          "  func.func private @{}_room(index, index, index, index) -> memref<?xi8> attributes "
          "{{llvm.emit_c_interface}}\n",
          program_.name);
    if (has_requirements(program_.body))
      text += fmt::format(
          "  // Ends the run, where sizes do not fit each other.\n"
          "  func.func private @{}_misfit() attributes {{llvm.emit_c_interface}}\n",
          program_.name);
    text += support_.text() + printer_.functions() + main + "}\n";
    std::vector<File> files = {{program_.name + ".h", header_text(program_, plan_)},
                               {program_.name + ".c", interface_text(program_, plan_)},
                               {program_.name + ".mlir", std::move(text)}};
    if (!bytes_.empty()) {
      files.push_back({program_.name + "_weights.s", assembly_ + "\t.section .note.GNU-stack,\"\",@progbits\n"});
      files.push_back({program_.name + ".bin", std::move(bytes_)});
    }
    if (sizes) *sizes = {weight_bytes_, plan_.bytes};
    return files;
  }

 private:
  const Buffer& buffer(std::size_t i) const { return program_.buffers[i]; }
  std::string weight_name(std::size_t i) const { return fmt::format("{}_w{}", program_.name, i); }
  static std::int64_t elements(const Buffer& b) { return std::max<std::int64_t>(b.value->size(), 1); }

  /// Small ones stand in the text; others are symbols that NAME_weights.s fills from NAME.bin.
  void add_weights(std::string& text) {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& b = buffer(i);
      if (b.role != Buffer::Role::weight || !used_[i]) continue;
      std::string bytes = bytes_of(*b.value);
      weight_bytes_ += static_cast<std::int64_t>(bytes.size());
      const std::string type = fmt::format("memref<{}x{}>", elements(b), m_type(b.type).storage);
      if (bytes.size() <= kMostInText) {
        const std::string content =
            bytes.empty() ? (is_float(b.type) && !is_small_float(b.type) ? "0.0" : "0") : '"' + hex(bytes) + '"';
        text += fmt::format("  memref.global \"private\" constant @{} : {} = dense<{}> {{alignment = 64 : i64}}\n",
                            weight_name(i), type, content);
        continue;
      }
      text += fmt::format("  memref.global @{} : {} {{alignment = 64 : i64}}\n", weight_name(i), type);
      bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
      if (assembly_.empty()) assembly_ = "\t.section .rodata\n";
      assembly_ += fmt::format("\t.balign 64\n\t.globl {0}\n\t.hidden {0}\n{0}:\n\t.incbin \"{1}.bin\", {2}, {3}\n",
                               weight_name(i), program_.name, bytes_.size(), bytes.size());
      bytes_ += bytes;
    }
  }

  std::string main_text() {
    std::vector<std::string> parameters = {"%arena: memref<?xi8>"};
    for (const int id : program_.sizes) {
      printer_.set_variable(id, fmt::format("%size{}", id));
      parameters.push_back(fmt::format("%size{}: index", id));
    }
    for (const Port& port : program_.inputs) add_port(port, parameters);
    if (is_static_)
      for (const Port& port : program_.outputs) add_port(port, parameters);
    else
      parameters.push_back("%dims: memref<?xi64>");
    std::string list;
    for (const std::string& parameter : parameters) list += (list.empty() ? "" : ", ") + parameter;
    const std::string head = fmt::format(
        "func.func @{}_main({}) attributes {{llvm.emit_c_interface, llvm.linkage = #llvm.linkage<internal>}}",
        program_.name, list);
    return printer_.function(head, &program_.body, [&] {
      declare();
      printer_.body(program_.body);
      if (!is_static_) store_dims();
    });
  }

  void add_port(const Port& port, std::vector<std::string>& parameters) {
    parameters.push_back(
        fmt::format("%t{}: {}", port.tensor, memref_of(buffer(static_cast<std::size_t>(port.tensor)).type)));
  }

  /// Buffers in the arena, in weights, or yet without memory.
  void declare() {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& b = buffer(i);
      const bool is_result = b.role == Buffer::Role::output && !is_static_;
      const auto tensor = static_cast<int>(i);
      if (!used_[i] && !is_result) continue;
      if (b.role == Buffer::Role::weight) {
        const std::string type = fmt::format("memref<{}x{}>", elements(b), m_type(b.type).storage);
        const std::string whole = printer_.value(fmt::format("memref.get_global @{} : {}", weight_name(i), type));
        printer_.set_buffer(tensor,
                            printer_.value(fmt::format("memref.cast {} : {} to {}", whole, type, memref_of(b.type))));
      } else if (plan_.offsets[i] >= 0) {
        printer_.set_buffer(tensor, printer_.value(fmt::format("memref.view %arena[{}][{}] : memref<?xi8> to {}",
                                                               printer_.index(plan_.offsets[i]),
                                                               printer_.index(*static_size(b)), memref_of(b.type))));
      } else if (is_result || (b.role == Buffer::Role::scratch && !is_static_)) {
        printer_.add_slot(tensor);
        if (static_size(b)) printer_.body({{Allocate{tensor}}});
      }
    }
  }

  void store_dims() {
    std::int64_t at = 0;
    for (const Port& port : program_.outputs)
      for (const Expr& d : port.dims)
        printer_.scope([&] {
          const std::string size = printer_.value(fmt::format("arith.index_cast {} : index to i64", printer_.expr(d)));
          printer_.line(fmt::format("memref.store {}, %dims[{}] : memref<?xi64>", size, printer_.index(at++)));
        });
  }

  const Program& program_;
  Support support_;
  Printer printer_;
  MemoryPlan plan_;
  bool is_static_;
  std::vector<bool> used_;
  std::string bytes_, assembly_;
  std::int64_t weight_bytes_ = 0;
};

}  // namespace

std::vector<File> emit(const Program& program, Sizes* sizes) { return Emitter(program).files(sizes); }

}  // namespace ingot::backends::mlir
