// Products, convolutions, forests and sorting: calls of functions that generated code brings along.
#include "ingot/backends/cpp/kernels.h"

#include <fmt/format.h>

#include "ingot/backends/cpp/prepare.h"
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

/// Where the range of results is declared.
std::string with_range(const Range& range, Printer& p, DType type, const std::string& text, int depth) {
  return fmt::format("{0}{{\n{0}  static const {1} range[] = {{{2}, {3}}};\n{4}{0}}}\n", indent(depth),
                     c_type(type).value, p.expr(Expr::constant(range.low, type)),
                     p.expr(Expr::constant(range.high, type)), text);
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
  // Steps along rows and columns say whether a matrix is transposed; 0, that it lies in panels.
  const std::string m = p.expr(s.m), n = p.expr(s.n), k = p.expr(s.k);
  const std::int64_t right = right_room(s, support.geometry());
  const std::string room = s.scratch >= 0 ? p.buffer(s.scratch) : "NULL";
  text += fmt::format(
      "{}{}({});\n", indent(inner), support.use("product", type),
      joined({m, n, k, start(s.a, s.a_start),
              s.a_packed       ? "0"
              : s.a_transposed ? "1"
                               : k,
              s.a_packed       ? "0"
              : s.a_transposed ? m
                               : "1",
              start(s.b, s.b_start),
              s.b_packed       ? "0"
              : s.b_transposed ? "1"
                               : n,
              s.b_packed       ? "0"
              : s.b_transposed ? k
                               : "1",
              start(s.out, s.out_start), room, s.b_packed || right == 0 ? room : fmt::format("{} + {}", room, right),
              s.range ? "range" : "NULL"}));
  while (inner > depth) text += indent(--inner) + "}\n";
  return s.range ? with_range(*s.range, p, type, text, depth) : text;
}

namespace {

std::vector<std::string> numbers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> words;
  for (const std::int64_t v : values) words.push_back(std::to_string(v));
  return words;
}

/// Weights that are not constant go into panels first; returns where they are.
std::string pack_weights(Printer& p, const Convolution& s, Support& support, DType type, int depth, std::string& text) {
  if (s.w_packed) return p.buffer(s.w);
  std::int64_t k = s.channels / s.group;
  for (const std::int64_t taps : s.kernel) k *= taps;
  const std::int64_t m = s.features / s.group, step = packed_weights(s, support.geometry()) / s.group;
  const std::string& room = p.buffer(s.scratch);
  text += fmt::format("{0}for (int64_t g = 0; g < {1}; ++g) {2}({3}, {4}, {5} + g * {6}, {4}, 1, {7} + g * {8});\n",
                      indent(depth), s.group, support.use("pack_rows", type), m, k, p.buffer(s.w), m * k, room, step);
  return room;
}

}  // namespace

std::string print_convolution(Printer& p, const Convolution& s, const Program& program, Support& support, int depth) {
  const DType type = buffer_of(program, s.out).type;
  const bool is_alone = is_depthwise(s);
  std::string text = indent(depth) + "{\n";
  const auto list = [&](const char* name, std::vector<std::string> values, const char* of_a_row) {
    if (is_alone && values.size() == 1) values.insert(values.begin(), of_a_row);
    text += fmt::format("{}const int64_t {}[] = {{{}}};\n", indent(depth + 1), name, joined(values));
  };
  const auto printed = [&](const Exprs& exprs) {
    std::vector<std::string> words;
    for (const Expr& e : exprs) words.push_back(p.expr(e));
    return words;
  };
  list("in", printed(s.in), "1");
  list("out", printed(s.outs), "1");
  list("kernel", numbers(s.kernel), "1");
  list("strides", numbers(s.strides), "1");
  list("dilations", numbers(s.dilations), "1");
  list("pads", printed(s.pads), "0");
  const std::string bias = s.bias >= 0 ? p.buffer(s.bias) : "NULL", room = p.buffer(s.scratch);
  const std::string sizes = std::string("in, out, kernel, strides, dilations, pads, ") + (s.range ? "range" : "NULL");
  const std::string channels = std::to_string(s.channels), features = std::to_string(s.features);
  if (is_alone) {
    text += fmt::format("{}{}({});\n", indent(depth + 1), support.use("depthwise", type),
                        joined({p.buffer(s.x), p.buffer(s.w), bias, p.buffer(s.out), room, p.expr(s.batch), channels,
                                features, sizes}));
  } else {
    const std::string w = pack_weights(p, s, support, type, depth + 1, text);
    const std::string panel = s.w_packed ? room : fmt::format("{} + {}", room, packed_weights(s, support.geometry()));
    text += fmt::format("{}{}({});\n", indent(depth + 1), support.use("convolution", type),
                        joined({p.buffer(s.x), w, bias, p.buffer(s.out), panel, std::to_string(s.kernel.size()),
                                p.expr(s.batch), channels, features, std::to_string(s.group), sizes}));
  }
  text += indent(depth) + "}\n";
  return s.range ? with_range(*s.range, p, type, text, depth) : text;
}

std::string print_forest(Printer& p, const Forest& s, const Program& program, Support& support, int depth) {
  std::vector<std::string> arguments = {p.expr(s.rows)};
  for (const std::int64_t n : {s.width, s.columns, s.trees, s.targets}) arguments.push_back(std::to_string(n));
  for (const int table : {s.x, s.numbers, s.begins, s.places, s.tops, s.nodes, s.shapes, s.votes})
    arguments.push_back(p.buffer(table));
  arguments.push_back(s.aims >= 0 ? p.buffer(s.aims) : "NULL");
  arguments.push_back(p.buffer(s.out));
  return fmt::format("{}{}({});\n", indent(depth), support.use("votes", buffer_of(program, s.x).type),
                     joined(arguments));
}

std::string print_sort(Printer& p, const Sort& s, const Program& program, Support& support, int depth) {
  const DType type = buffer_of(program, s.x).type;
  return fmt::format("{}{}({});\n", indent(depth), support.use("sort", type),
                     joined({p.buffer(s.x), p.buffer(s.places), p.expr(s.outer), p.expr(s.n), p.expr(s.inner),
                             s.is_descending ? "true" : "false"}));
}

}  // namespace ingot::backends::cpp
