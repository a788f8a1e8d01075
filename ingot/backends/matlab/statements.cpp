// Statements in MATLAB.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ingot/backends/cpp/names.h"
#include "ingot/backends/matlab/printer.h"
#include "ingot/base/error.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::matlab {

using namespace lower;

namespace {

std::string indent(int depth) { return std::string(static_cast<std::size_t>(depth) * 2, ' '); }

/// Whether every read is in step with the loops or does not depend on them; `reads` says whether one is in step.
bool is_flat(const Expr& e, const Axes& axes, bool& reads) {
  if (e->op == Op::load && is_in_step(e->args, e->dims, axes)) return reads = true;
  if (e->op == Op::load || e->op == Op::variable) return !uses_axis(e, axes);
  return std::ranges::all_of(e->args, [&](const Expr& a) { return is_flat(a, axes, reads); });
}

/// Where a map begins that fills one run of its tensor in order, as each part of a concatenation does along the first
/// axis that is longer than 1.
std::optional<Expr> start_of_run(const Map& s) {
  if (s.at.size() != s.axes.size()) return std::nullopt;
  const auto is_axis = [&](std::size_t i) { return s.at[i]->op == Op::variable && s.at[i]->id == s.axes[i].variable; };
  std::size_t first = 0;
  while (first < s.at.size() && s.dims[first].as_int() == 1) ++first;
  if (first == s.at.size()) return std::nullopt;
  for (std::size_t i = first + 1; i < s.at.size(); ++i) {
    if (!same(s.dims[i], s.axes[i].extent)) return std::nullopt;
    if (s.axes[i].extent.as_int() != 1 && !is_axis(i)) return std::nullopt;
  }
  const Expr inner = product(Exprs(s.dims.begin() + static_cast<std::ptrdiff_t>(first) + 1, s.dims.end()));
  const Expr& at = s.at[first];
  if (is_axis(first)) return Expr(0);
  if (at.as_int()) return at * inner;
  const Axes one = {s.axes[first]};
  const bool is_moved = at->op == Op::add && at->args[0]->op == Op::variable &&
                        at->args[0]->id == s.axes[first].variable && !uses_axis(at->args[1], one);
  return is_moved ? std::optional(at->args[1] * inner) : std::nullopt;
}

constexpr std::int64_t kMostSteps = 128;

/// A comment as a part of a text: quotes are written twice.
std::string in_quotes(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted;
}

}  // namespace

struct StatementPrinter {
  Printer& p;
  int depth;

  std::string pad() const { return indent(depth); }
  const Buffer& buffer(int tensor) const { return p.program_.buffers[static_cast<std::size_t>(tensor)]; }

  /// Declares the counters as arrays; the last of the list is the first dimension.
  std::string counters(const Axes& axes, const Exprs& used) const {
    std::string text = fmt::format("{}dims = [", pad());
    for (std::size_t i = axes.size(); i-- > 0;) text += p.expr(axes[i].extent) + " ";
    text += "1 1];\n";
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Axes one = {axes[i]};
      if (axes[i].extent.as_int() == 1 || std::ranges::none_of(used, [&](const Expr& e) { return uses_axis(e, one); }))
        continue;
      text += fmt::format("{}{} = {};\n", pad(), p.variable(axes[i].variable),
                          p.call("along_", fmt::format("{}, {}", p.expr(axes[i].extent), axes.size() - i)));
    }
    return text;
  }

  std::string operator()(const Map& s) const {
    const std::string& name = p.buffer(s.out);
    bool reads = false;
    const bool is_whole = is_in_step(s.at, s.dims, s.axes);
    p.axes_ = &s.axes;
    std::string text;
    if (is_whole && is_flat(s.value, s.axes, reads) && reads) {
      p.is_flat_ = true;
      text = fmt::format("{}{} = {};\n", pad(), name, p.expr(s.value));
      p.is_flat_ = false;
    } else if (const auto start = start_of_run(s); start && is_flat(s.value, s.axes, reads) && reads) {
      Exprs extents;
      for (const Axis& a : s.axes) extents.push_back(a.extent);
      p.is_flat_ = true;
      text = fmt::format("{}{}({} + (1:{})) = {};\n", pad(), name, p.expr(*start), p.expr(product(extents)),
                         p.expr(s.value));
      p.is_flat_ = false;
    } else {
      Exprs used = s.at;
      used.push_back(s.value);
      text = counters(s.axes, used);
      const std::string value = p.call("spread_", p.expr(s.value) + ", dims");
      if (is_whole)
        text += fmt::format("{}{} = {};\n", pad(), name, value);
      else
        text += fmt::format("{}{}({} + 1) = {};\n", pad(), name,
                            p.call("spread_", p.expr(flat_place(s.at, s.dims)) + ", dims"), value);
    }
    p.axes_ = nullptr;
    return text;
  }

  /// Whether windows slide: a place depends on where they are and on where one is in them. Few steps in a window.
  static bool slides(const Reduce& s) {
    std::int64_t steps = 1;
    for (const Axis& a : s.reduced) {
      if (!a.extent.as_int() || *a.extent.as_int() < 1) return false;
      steps *= *a.extent.as_int();
      if (steps > kMostSteps) return false;
    }
    bool found = false;
    for_each_part(s.value, [&](const Expr& e) {
      found |= e->op == Op::load && std::ranges::any_of(e->args, [&](const Expr& at) {
                 return uses_axis(at, s.axes) && uses_axis(at, s.reduced);
               });
    });
    return found && steps > 1;
  }

  /// One step of all windows after the other.
  std::string by_steps(const Reduce& s) const {
    const DType type = buffer(s.out).type;
    const std::string& name = p.buffer(s.out);
    const bool is_sum = s.combine == Combine::sum, is_product = s.combine == Combine::product;
    p.axes_ = &s.axes;
    std::string text = counters(s.axes, {s.value});
    text += fmt::format("{}{} = cast({}, '{}');\n", pad(), name,
                        is_sum                      ? "0"
                        : is_product                ? "1"
                        : s.combine == Combine::max ? "-Inf"
                                                    : "Inf",
                        is_float(type) && (is_sum || is_product) ? "double" : class_of(type));
    int inner = depth;
    for (const Axis& a : s.reduced)
      if (a.extent.as_int() != 1)
        text += fmt::format("{}for {} = 0:{} - 1\n", indent(inner++), p.variable(a.variable), p.expr(a.extent));
    const std::string value = p.expr(s.value);
    const bool has_nan = is_float(type);
    const std::string both = name + ", " + value;
    const std::string next =
        is_sum       ? has_nan ? fmt::format("{} + {}", name, p.call("double", value)) : p.call("plus_", both)
              : is_product ? has_nan ? fmt::format("{} .* {}", name, p.call("double", value)) : p.call("times_", both)
        : s.combine == Combine::max ? p.call(has_nan ? "greatest_" : "max", both)
                                    : p.call(has_nan ? "least_" : "min", both);
    text += fmt::format("{}{} = {};\n", indent(inner), name, next);
    while (inner > depth) text += indent(--inner) + "end\n";
    p.axes_ = nullptr;
    return text +
           fmt::format("{}{} = cast({}, '{}');\n", pad(), name, p.call("spread_", name + ", dims"), class_of(type));
  }

  std::string operator()(const Reduce& s) const {
    if (buffer(s.out).type != DType::boolean && slides(s)) return by_steps(s);
    Axes all = s.axes;
    all.insert(all.end(), s.reduced.begin(), s.reduced.end());
    p.axes_ = &all;
    std::string text = counters(all, {s.value});
    constexpr const char* kNames[] = {"sum_", "product_", "smallest_", "largest_"};
    Exprs outer, inner;
    for (const Axis& a : s.axes) outer.push_back(a.extent);
    for (const Axis& a : s.reduced) inner.push_back(a.extent);
    const std::string value = p.call("spread_", p.expr(s.value) + ", dims");
    p.axes_ = nullptr;
    const std::string arguments = fmt::format("{}, {}, {}, '{}'", value, p.expr(product(inner)), p.expr(product(outer)),
                                              class_of(buffer(s.out).type));
    text += fmt::format("{}{} = {};\n", pad(), p.buffer(s.out), p.call(kNames[static_cast<int>(s.combine)], arguments));
    return text;
  }

  std::string operator()(const Product& s) const {
    std::string text;
    int inner = depth;
    bool has_loop = false;
    for (const Axis& a : s.batch) {
      if (a.extent.as_int() == 1) continue;
      text += fmt::format("{}for {} = 0:{} - 1\n", indent(inner++), p.variable(a.variable), p.expr(a.extent));
      has_loop = true;
    }
    const std::string m = p.expr(s.m), n = p.expr(s.n), k = p.expr(s.k);
    const auto part = [&](int tensor, const Expr& start, const std::string& size) {
      return has_loop || start.as_int() != 0 ? fmt::format("{}({} + (1:{}))", p.buffer(tensor), p.expr(start), size)
                                             : p.buffer(tensor);
    };
    // The columns hold the transposed matrices: C' = B' * A'.
    const std::string a = fmt::format("reshape({}, [{}])", part(s.a, s.a_start, m + " * " + k),
                                      s.a_transposed ? m + " " + k : k + " " + m);
    const std::string b = fmt::format("reshape({}, [{}])", part(s.b, s.b_start, n + " * " + k),
                                      s.b_transposed ? k + " " + n : n + " " + k);
    const std::string value = fmt::format("{}{} * {}{}", b, s.b_transposed ? ".'" : "", a, s.a_transposed ? ".'" : "");
    if (has_loop)
      text += fmt::format("{}{}({} + (1:{} * {})) = {};\n", indent(inner), p.buffer(s.out), p.expr(s.out_start), m, n,
                          value);
    else
      text += fmt::format("{}{} = reshape({}, [], 1);\n", indent(inner), p.buffer(s.out), value);
    while (inner > depth) text += indent(--inner) + "end\n";
    return text;
  }

  std::string operator()(const Convolution& s) const {
    const auto list = [&](const auto& values) {
      std::string text = "[";
      for (const auto& v : values) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Expr>)
          text += p.expr(v) + " ";
        else
          text += std::to_string(v) + " ";
      }
      return text + "]";
    };
    const std::string arguments =
        fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}", p.buffer(s.x), p.buffer(s.w),
                    s.bias >= 0 ? p.buffer(s.bias) : "[]", p.expr(s.batch), s.channels, s.features, s.group, list(s.in),
                    list(s.outs), list(s.kernel), list(s.strides), list(s.dilations), list(s.pads));
    return fmt::format("{}{} = {};\n", pad(), p.buffer(s.out), p.call("convolution_", arguments));
  }

  std::string operator()(const Sort& s) const {
    return fmt::format("{}{} = {};\n", pad(), p.buffer(s.places),
                       p.call("order_", fmt::format("{}, {}, {}, {}, '{}'", p.buffer(s.x), p.expr(s.inner), p.expr(s.n),
                                                    p.expr(s.outer), s.is_descending ? "descend" : "ascend")));
  }

  // lower() was not told that there is a kernel.
  std::string operator()(const Forest&) const { throw Error(Code::internal, "forests are loops here"); }

  std::string operator()(const Store& s) const {
    return fmt::format("{}{}({} + 1) = {};\n", pad(), p.buffer(s.tensor), p.expr(flat_place(s.at, s.dims)),
                       p.expr(s.value));
  }
  std::string operator()(const Let& s) const {
    return fmt::format("{}{} = {};\n", pad(), p.variable(s.variable), p.expr(s.value));
  }
  std::string operator()(const Assign& s) const {
    return fmt::format("{}{} = {};\n", pad(), p.variable(s.variable), p.expr(s.value));
  }
  std::string operator()(const Loop& s) const {
    const std::string& i = p.variable(s.axis.variable);
    const std::string go_on = s.go_on ? " && " + p.expr(s.go_on) : "";
    return fmt::format("{0}{1} = 0;\n{0}while {1} < {2}{3}\n{4}{0}  {1} = {1} + 1;\n{0}end\n", pad(), i,
                       p.expr(s.axis.extent), go_on, p.body(s.body, depth + 1));
  }
  std::string operator()(const Branch& s) const {
    std::string text = fmt::format("{}if {}\n{}", pad(), p.expr(s.condition), p.body(s.yes, depth + 1));
    if (!s.no.empty()) text += pad() + "else\n" + p.body(s.no, depth + 1);
    return text + pad() + "end\n";
  }
  std::string operator()(const Require& s) const {
    return fmt::format("{0}if ~{1}\n{0}  error('{2}:sizes', 'sizes do not fit: {3}');\n{0}end\n", pad(),
                       p.expr(s.holds), p.program_.name, in_quotes(cpp::comment(s.label)));
  }
  std::string operator()(const Allocate& s) const {
    return fmt::format("{}{} = {};\n", pad(), p.buffer(s.tensor),
                       p.empty_array(s.tensor, p.expr(product(buffer(s.tensor).dims))));
  }
  std::string operator()(const Grow& s) const {
    return fmt::format("{0}if numel({1}) < {2}\n{0}  {1}({2}, 1) = 0;\n{0}end\n", pad(), p.buffer(s.tensor),
                       p.expr(s.size));
  }
  std::string operator()(const Group& s) const {
    return fmt::format("{}% {}\n{}", pad(), cpp::comment(s.label), p.body(s.body, depth));
  }
};

Printer::Printer(const Program& program) : program_(program) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) buffers_.push_back("t" + std::to_string(i));
  for (std::size_t i = 0; i < program.variables.size(); ++i) variables_.push_back("i" + std::to_string(i));
}

std::string Printer::empty_array(int tensor, const std::string& elements) {
  const DType type = program_.buffers[static_cast<std::size_t>(tensor)].type;
  if (type == DType::boolean) return fmt::format("false({}, 1)", elements);
  return fmt::format("zeros({}, 1, '{}')", elements, class_of(type));
}

std::string Printer::body(const Body& body, int depth) {
  std::string text;
  for (const Statement& s : body) text += std::visit(StatementPrinter{*this, depth}, s.is);
  return text;
}

}  // namespace ingot::backends::matlab
