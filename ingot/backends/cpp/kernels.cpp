// Products, convolutions and sorting: calls of functions that generated code brings along.
#include "ingot/backends/cpp/kernels.h"

#include <fmt/format.h>

#include "ingot/backends/cpp/printer.h"
#include "ingot/backends/cpp/types.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::cpp {

using namespace lower;

namespace {

const Buffer& buffer_of(const Program& program, int tensor) {
  return program.buffers[static_cast<std::size_t>(tensor)];
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

}  // namespace

std::string print_product(Printer& p, const Product& s, const Program& program, Support& support, int depth) {
  const DType type = buffer_of(program, s.out).type;
  std::string text;
  int inner = depth;
  for (const Axis& a : s.batch) {
    if (a.extent.as_int() == 1) continue;
    const std::string& i = p.variable(a.variable);
    text += fmt::format("{}for (int64_t {} = 0; {} < {}; ++{}) {{\n", indent(inner++), i, i, p.expr(a.extent), i);
  }
  const auto start = [&](int tensor, const Expr& offset) {
    return offset.as_int() == 0 ? p.buffer(tensor) : fmt::format("{} + {}", p.buffer(tensor), p.expr(offset));
  };
  // Steps along rows and columns say whether a matrix is transposed.
  const std::string m = p.expr(s.m), n = p.expr(s.n), k = p.expr(s.k);
  text += fmt::format(
      "{}{}({});\n", indent(inner), support.use("product", type),
      joined({m, n, k, start(s.a, s.a_start), s.a_transposed ? "1" : k, s.a_transposed ? m : "1", start(s.b, s.b_start),
              s.b_transposed ? "1" : n, s.b_transposed ? k : "1", start(s.out, s.out_start)}));
  while (inner > depth) text += indent(--inner) + "}\n";
  return text;
}

std::string print_convolution(Printer& p, const Convolution& s, const Program& program, Support& support, int depth) {
  const DType type = buffer_of(program, s.out).type;
  std::string text = indent(depth) + "{\n";
  const auto list = [&](const char* name, const std::vector<std::string>& values) {
    text += fmt::format("{}const int64_t {}[] = {{{}}};\n", indent(depth + 1), name, joined(values));
  };
  const auto printed = [&](const Exprs& exprs) {
    std::vector<std::string> words;
    for (const Expr& e : exprs) words.push_back(p.expr(e));
    return words;
  };
  const auto numbers = [&](const std::vector<std::int64_t>& values) {
    std::vector<std::string> words;
    for (const std::int64_t v : values) words.push_back(std::to_string(v));
    return words;
  };
  std::int64_t seen = 16 * s.channels / s.group;  // by sixteen windows
  for (const std::int64_t k : s.kernel) seen *= k;
  text += fmt::format("{}{} panel[{}];\n", indent(depth + 1), c_type(type).value, seen);
  list("in", printed(s.in));
  list("out", printed(s.outs));
  list("kernel", numbers(s.kernel));
  list("strides", numbers(s.strides));
  list("dilations", numbers(s.dilations));
  list("pads", printed(s.pads));
  text += fmt::format(
      "{}{}({});\n", indent(depth + 1), support.use("convolution", type),
      joined({p.buffer(s.x), p.buffer(s.w), s.bias >= 0 ? p.buffer(s.bias) : "NULL", p.buffer(s.out), "panel",
              std::to_string(s.kernel.size()), p.expr(s.batch), std::to_string(s.channels), std::to_string(s.features),
              std::to_string(s.group), "in, out, kernel, strides, dilations, pads"}));
  return text + indent(depth) + "}\n";
}

std::string print_sort(Printer& p, const Sort& s, const Program& program, Support& support, int depth) {
  const DType type = buffer_of(program, s.x).type;
  return fmt::format("{}{}({});\n", indent(depth), support.use("sort", type),
                     joined({p.buffer(s.x), p.buffer(s.places), p.expr(s.outer), p.expr(s.n), p.expr(s.inner),
                             s.is_descending ? "true" : "false"}));
}

}  // namespace ingot::backends::cpp
