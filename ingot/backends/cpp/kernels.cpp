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

/// Plain loops over groups, features, places and the kernel.
std::string print_convolution(Printer& p, const Convolution& s, const Program& program, Support& support, int depth) {
  (void)support;
  const DType type = buffer_of(program, s.out).type;
  const char* t = c_type(type).value;
  const std::int64_t features = s.features / s.group, channels = s.channels / s.group;
  std::string text;
  int inner = depth;
  const auto loop = [&](const std::string& i, const std::string& extent) {
    text += fmt::format("{}for (int64_t {} = 0; {} < {}; ++{}) {{\n", indent(inner++), i, i, extent, i);
  };
  loop("n", p.expr(s.batch));
  loop("m", fmt::format("{}", s.features));
  std::string out = fmt::format("(n * {} + m)", s.features),
              in = fmt::format("(n * {} + m / {} * {} + c)", s.channels, features, channels);
  std::string weight = fmt::format("(m * {} + c)", channels);
  for (std::size_t i = 0; i < s.kernel.size(); ++i) {
    const std::string o = fmt::format("o{}", i);
    loop(o, p.expr(s.outs[i]));
    out = fmt::format("({} * {} + {})", out, p.expr(s.outs[i]), o);
  }
  const int outer = inner;
  const std::string first = s.bias >= 0 ? fmt::format("{}[m]", p.buffer(s.bias)) : "0";
  text += fmt::format("{}{} sum = {};\n", indent(inner), t, first);
  loop("c", fmt::format("{}", channels));
  for (std::size_t i = 0; i < s.kernel.size(); ++i) {
    loop(fmt::format("k{}", i), fmt::format("{}", s.kernel[i]));
    const std::string x = fmt::format("x{}", i);
    text += fmt::format("{}const int64_t {} = o{} * {} + k{} * {} - {};\n", indent(inner), x, i, s.strides[i], i,
                        s.dilations[i], p.expr(s.pads[i]));
    text += fmt::format("{}if ({} < 0 || {} >= {}) continue;\n", indent(inner), x, x, p.expr(s.in[i]));
    in = fmt::format("({} * {} + {})", in, p.expr(s.in[i]), x);
    weight = fmt::format("({} * {} + k{})", weight, s.kernel[i], i);
  }
  text += fmt::format("{}sum += {}[{}] * {}[{}];\n", indent(inner), p.buffer(s.x), in, p.buffer(s.w), weight);
  while (inner > outer) text += indent(--inner) + "}\n";
  text += fmt::format("{}{}[{}] = sum;\n", indent(inner), p.buffer(s.out), out);
  while (inner > depth) text += indent(--inner) + "}\n";
  return text;
}

std::string print_sort(Printer& p, const Sort& s, const Program& program, Support& support, int depth) {
  const DType type = buffer_of(program, s.x).type;
  return fmt::format("{}{}({});\n", indent(depth), support.use("sort", type),
                     joined({p.buffer(s.x), p.buffer(s.places), p.expr(s.outer), p.expr(s.n), p.expr(s.inner),
                             s.is_descending ? "true" : "false"}));
}

}  // namespace ingot::backends::cpp
