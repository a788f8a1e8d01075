// Statements in C.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <unordered_set>

#include "ingot/backends/cpp/kernels.h"
#include "ingot/backends/cpp/printer.h"
#include "ingot/backends/cpp/types.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::cpp {

using namespace lower;

std::string indent(int depth) { return std::string(static_cast<std::size_t>(depth) * 2, ' '); }

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether the text has the name as a word of its own.
bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

/// The lines that declare names which what follows them uses, then the text itself.
std::string with_used(const std::vector<Printer::Named>& lines, std::string text) {
  for (std::size_t i = lines.size(); i-- > 0;)
    if (has_word(text, lines[i].name)) text = lines[i].line + text;
  return text;
}

constexpr std::int64_t kLanes = 16;  // of sums side by side, which compilers make vectors of

/// Whether something is read one after the other along the axis.
bool reads_along(const Expr& value, const Axis& axis) {
  bool reads = false;
  for_each_part(value, [&](const Expr& part) {
    reads |= part->op == Op::load && !part->args.empty() && part->args.back()->op == Op::variable &&
             part->args.back()->id == axis.variable;
  });
  return reads;
}

}  // namespace

void add_words(const std::string& text, std::unordered_set<std::string>& words) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) words.insert(text.substr(at, end - at));
    at = end + 1;
  }
}

bool is_map_in_step(const Map& map) {
  return is_in_step(map.at, map.dims, map.axes) && can_be_one_loop(map.value, map.axes);
}

/// One statement of a body.
struct StatementPrinter {
  Printer& p;
  int depth;

  std::string pad() const { return indent(depth); }
  const Buffer& buffer(int tensor) const { return p.program_.buffers[static_cast<std::size_t>(tensor)]; }

  std::string open(const Axes& axes, int& inner) const {
    std::string text;
    for (const Axis& a : axes) {
      if (a.extent.as_int() == 1) continue;
      const std::string& i = p.variable(a.variable);
      text += fmt::format("{}for (int64_t {} = 0; {} < {}; ++{}) {{\n", indent(inner++), i, i, p.expr(a.extent), i);
    }
    return text;
  }
  std::string close(int inner) const {
    std::string text;
    while (inner > depth) text += indent(--inner) + "}\n";
    return text;
  }

  std::string operator()(const Map& s) const {
    int inner = depth;
    std::string text;
    if (is_map_in_step(s) && s.axes.size() > 1) {
      Exprs extents;
      for (const Axis& a : s.axes) extents.push_back(a.extent);
      p.flat_axes_ = &s.axes;
      text = fmt::format("{}for (int64_t i = 0; i < {}; ++i) {{\n", indent(inner++), p.expr(product(extents)));
      text += assignment(s.out, "i", s.value, inner);
      p.flat_axes_ = nullptr;
    } else {
      text = open(s.axes, inner);
      text += assignment(s.out, p.expr(flat_place(s.at, s.dims)), s.value, inner);
    }
    return text + close(inner);
  }

  std::string assignment(int tensor, const std::string& place, const Expr& value, int at) const {
    const std::vector<Printer::Named> made = p.hoisted(value, at);
    const std::string text =
        fmt::format("{}{}[{}] = {};\n", indent(at), p.buffer(tensor), place, p.stored(value, buffer(tensor).type));
    p.unname(made);
    return with_used(made, text);
  }

  std::string first_value(Combine combine, DType type) const {
    if (combine == Combine::sum || combine == Combine::product)
      return p.expr(Expr::constant(combine == Combine::product, type));
    const bool is_max = combine == Combine::max;
    if (is_float(type)) return p.expr(Expr::constant(is_max ? -__builtin_inf() : __builtin_inf(), type));
    const unsigned bits = bits_of(type);
    const bool is_signed = is_signed_integer(type);
    if (!is_signed)
      return is_max               ? "0"
             : type == DType::u64 ? "UINT64_MAX"
                                  : p.expr(Expr::integer((std::int64_t{1} << bits) - 1, type));
    const std::int64_t least = bits == 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1));
    return p.expr(Expr::integer(is_max ? least : -(least + 1), type));
  }

  /// Whether the innermost loop is long and adds up floats, which no compiler may do in another order.
  static bool has_lanes(const Reduce& s, DType sum_type) {
    if (s.reduced.empty() || !is_float(sum_type)) return false;
    const Axis& last = s.reduced.back();
    return last.extent.as_int() && *last.extent.as_int() >= 2 * kLanes && reads_along(s.value, last);
  }

  /// `sum` = its combination with the value, where the statement stands.
  std::string next_sum(const Reduce& s, DType sum_type, const std::string& sum_name, int inner) const {
    constexpr Op kOps[] = {Op::add, Op::mul, Op::min, Op::max};
    const std::vector<Printer::Named> made = p.hoisted(s.value, inner);
    // The running value is written as a variable that only exists here.
    const Expr sum = Expr::variable(-1, sum_type, false);
    p.named_[sum.get()] = sum_name;
    const Expr next = Expr::make(kOps[static_cast<int>(s.combine)], sum_type, {sum, s.value});
    const std::string text = with_used(made, fmt::format("{}{} = {};\n", indent(inner), sum_name, p.expr(next)));
    p.named_.erase(sum.get());
    p.unname(made);
    return text;
  }

  /// Sums side by side along the innermost loop, then their sum.
  std::string in_lanes(const Reduce& s, DType sum_type, int inner) const {
    const char* type = c_type(sum_type).value;
    const std::string first = first_value(s.combine, sum_type), i = p.variable(s.reduced.back().variable);
    const std::int64_t extent = *s.reduced.back().extent.as_int(), whole = extent / kLanes * kLanes;
    std::string text = fmt::format("{}{} sums[{}], sum = {};\n", indent(inner), type, kLanes, first);
    text += fmt::format("{}for (int r = 0; r < {}; ++r) sums[r] = sum;\n", indent(inner), kLanes);
    const int outer = inner;
    text += open(Axes(s.reduced.begin(), s.reduced.end() - 1), inner);
    text += fmt::format("{0}for (int64_t {1} = 0; {1} < {2}; {1} += {3})\n{0}  for (int r = 0; r < {3}; ++r) {{\n",
                        indent(inner), i, whole, kLanes);
    p.set_variable(s.reduced.back().variable, fmt::format("({} + r)", i));
    text += next_sum(s, sum_type, "sums[r]", inner + 2) + indent(inner + 1) + "}\n";
    p.set_variable(s.reduced.back().variable, i);
    if (whole < extent)
      text += fmt::format("{0}for (int64_t {1} = {2}; {1} < {3}; ++{1}) {{\n{4}{0}}}\n", indent(inner), i, whole,
                          extent, next_sum(s, sum_type, "sum", inner + 1));
    while (inner > outer) text += indent(--inner) + "}\n";
    constexpr Op kOps[] = {Op::add, Op::mul, Op::min, Op::max};
    const Expr a = Expr::variable(-1, sum_type, false), b = Expr::variable(-2, sum_type, false);
    p.named_[a.get()] = "sum";
    p.named_[b.get()] = "sums[r]";
    text += fmt::format("{}for (int r = 0; r < {}; ++r) sum = {};\n", indent(inner), kLanes,
                        p.expr(Expr::make(kOps[static_cast<int>(s.combine)], sum_type, {a, b})));
    p.named_.erase(a.get());
    p.named_.erase(b.get());
    return text;
  }

  std::string operator()(const Reduce& s) const {
    int inner = depth;
    std::string text = open(s.axes, inner);
    const DType type = buffer(s.out).type;
    const DType sum_type = is_small_float(type) ? DType::f32 : type;
    const int outer = inner;
    if (has_lanes(s, sum_type)) {
      text += in_lanes(s, sum_type, inner);
    } else {
      text += fmt::format("{}{} sum = {};\n", indent(inner), c_type(sum_type).value, first_value(s.combine, sum_type));
      text += open(s.reduced, inner);
      text += next_sum(s, sum_type, "sum", inner);
      while (inner > outer) text += indent(--inner) + "}\n";
    }
    Exprs at, dims;
    for (const Axis& a : s.axes) {
      at.push_back(a.extent.as_int() == 1 ? Expr(0) : Expr::variable(a.variable, DType::i64, true));
      dims.push_back(a.extent);
    }
    const std::string value = is_small_float(type) ? fmt::format("{}(sum, 0)", p.support_.use("store", type)) : "sum";
    text += fmt::format("{}{}[{}] = {};\n", indent(inner), p.buffer(s.out), p.expr(flat_place(at, dims)), value);
    // Without loops around, the running value needs a scope of its own.
    if (inner == depth) return fmt::format("{}{{\n{}{}}}\n", pad(), text, pad());
    return text + close(inner);
  }

  std::string operator()(const Product& s) const { return print_product(p, s, p.program_, p.support_, depth); }
  std::string operator()(const Convolution& s) const { return print_convolution(p, s, p.program_, p.support_, depth); }
  std::string operator()(const Sort& s) const { return print_sort(p, s, p.program_, p.support_, depth); }

  std::string operator()(const Forest& s) const { return print_forest(p, s, p.program_, p.support_, depth); }

  std::string operator()(const Store& s) const {
    const std::string value = p.stored(s.value, buffer(s.tensor).type);
    return fmt::format("{}{}[{}] = {};\n", pad(), p.buffer(s.tensor), p.expr(flat_place(s.at, s.dims)), value);
  }
  std::string operator()(const Let& s) const {
    const std::string& name = p.variable(s.variable);
    // One that changes may in the end only be written.
    return fmt::format("{}{}{} {} = {};{}\n", pad(), s.is_changed ? "" : "const ", c_type(s.value.type()).value, name,
                       p.expr(s.value), s.is_changed ? fmt::format("  (void){};", name) : "");
  }
  std::string operator()(const Assign& s) const {
    return fmt::format("{}{} = {};\n", pad(), p.variable(s.variable), p.expr(s.value));
  }
  std::string operator()(const Loop& s) const {
    const std::string& i = p.variable(s.axis.variable);
    const std::string go_on = s.go_on ? fmt::format(" && {}", p.expr(s.go_on)) : "";
    return fmt::format("{}for (int64_t {} = 0; {} < {}{}; ++{}) {{\n{}{}}}\n", pad(), i, i, p.expr(s.axis.extent),
                       go_on, i, p.body(s.body, depth + 1), pad());
  }
  std::string operator()(const Branch& s) const {
    std::string text = fmt::format("{}if ({}) {{\n{}{}}}", pad(), p.expr(s.condition), p.body(s.yes, depth + 1), pad());
    if (!s.no.empty()) text += fmt::format(" else {{\n{}{}}}", p.body(s.no, depth + 1), pad());
    return text + "\n";
  }
  std::string operator()(const Require& s) const {
    return fmt::format("{}if (!{}) return 2;  // {}\n", pad(), p.expr(s.holds), comment(s.label));
  }
  std::string room(int tensor, const std::string& elements, bool keeps) const {
    const char* type = c_type(buffer(tensor).type).storage;
    const std::string& name = p.buffer(tensor);
    return fmt::format("{0}{1} = ({2}*)room(workspace, {3}, {4}, sizeof({2}), {5});\n{0}if (!{1}) return 1;\n", pad(),
                       name, type, tensor, elements, keeps);
  }
  std::string operator()(const Allocate& s) const {
    return room(s.tensor, p.expr(checked_product(buffer(s.tensor).dims)), false);
  }
  std::string operator()(const Grow& s) const { return room(s.tensor, p.expr(s.size), true); }
  std::string operator()(const Group& s) const { return pad() + p.group(s, depth) + "\n"; }
};

Printer::Printer(const Program& program, Support& support, bool weights_are_passed)
    : program_(program), support_(support), weights_are_passed_(weights_are_passed) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) buffers_.push_back("t" + std::to_string(i));
  for (std::size_t i = 0; i < program.variables.size(); ++i) variables_.push_back("i" + std::to_string(i));
}

/// What declares a variable that nothing after it reads is left out.
std::string Printer::body(const Body& body, int depth, const std::string& after) {
  std::vector<std::string> texts;
  for (const Statement& s : body) texts.push_back(std::visit(StatementPrinter{*this, depth}, s.is));
  std::unordered_set<std::string> words;
  add_words(after, words);
  std::size_t length = 0;
  for (std::size_t i = texts.size(); i-- > 0;) {
    const auto* let = std::get_if<Let>(&body[i].is);
    if (let && !words.contains(variable(let->variable))) texts[i].clear();
    add_words(texts[i], words);
    length += texts[i].size();
  }
  std::string text;
  text.reserve(length);
  for (const std::string& t : texts) text += t;
  return text;
}

/// A function of the buffers and variables that the group uses; returns the call.
std::string Printer::group(const Group& group, int depth) {
  std::map<int, bool> tensors;
  std::set<int> used, declared;
  find_variables(group.body, used, declared);
  for (const Statement& s : group.body) for_each_buffer(s, [&](int tensor, bool writes) { tensors[tensor] |= writes; });
  const std::string inside = body(group.body, 1);
  // Buffers of several statements may share memory, one after the other.
  const bool is_alone = group.body.size() == 1 && (std::holds_alternative<Map>(group.body[0].is) ||
                                                   std::holds_alternative<Reduce>(group.body[0].is));
  std::string parameters, arguments;
  const auto add = [&](const std::string& type, const std::string& name) {
    if (!has_word(inside, name)) return;
    parameters += (parameters.empty() ? "" : ", ") + type + name;
    arguments += (arguments.empty() ? "" : ", ") + name;
  };
  for (const auto& [tensor, writes] : tensors) {
    const Buffer& b = program_.buffers[static_cast<std::size_t>(tensor)];
    if (b.role == Buffer::Role::weight && !weights_are_passed_) continue;
    add(fmt::format("{}{}* {}", writes ? "" : "const ", c_type(b.type).storage, is_alone ? "__restrict " : ""),
        buffer(tensor));
  }
  for (const int id : used)
    if (!declared.contains(id)) {
      const Variable& v = program_.variables[static_cast<std::size_t>(id)];
      add(fmt::format("const {} ", c_type(v.type).value), variable(id));
    }
  const std::string name = fmt::format("step_{}", next_function_++);
  functions_ += fmt::format("\n// {}\nstatic void {}({}) {{\n{}}}\n", comment(group.label), name,
                            parameters.empty() ? "void" : parameters, inside);
  const std::string call = fmt::format("{}({});", name, arguments);
  if (hook_.empty()) return call;
  const auto hook = [&](int is_end) {
    return fmt::format("if ({0}) {0}({1}, \"{2}\", {3});", hook_, next_function_ - 1, comment(group.label), is_end);
  };
  return fmt::format("{}\n{}{}\n{}{}", hook(0), indent(depth), call, indent(depth), hook(1));
}

}  // namespace ingot::backends::cpp
