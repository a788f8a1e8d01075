// Statements as loops, branches and calls.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/cpp/names.h"
#include "ingot/backends/mlir/convolution.h"
#include "ingot/backends/mlir/printer.h"
#include "ingot/backends/mlir/types.h"
#include "ingot/base/error.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::mlir {

using namespace lower;

namespace {

/// Variables that statements change, without those of groups.
void find_changed(const Body& body, std::vector<int>& changed) {
  for (const Statement& s : body) {
    if (const auto* let = std::get_if<Let>(&s.is); let && let->is_changed) changed.push_back(let->variable);
    if (!std::holds_alternative<Group>(s.is)) for_each_body(s, [&](const Body& b) { find_changed(b, changed); });
  }
}

}  // namespace

Printer::Printer(const Program& program, Support& support) : program_(program), support_(support) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) buffers_.push_back("%t" + std::to_string(i));
  for (std::size_t i = 0; i < program.variables.size(); ++i) variables_.push_back("%i" + std::to_string(i));
}

void Printer::line(const std::string& text) {
  function_->text.append(static_cast<std::size_t>(function_->depth) * 2, ' ');
  function_->text += text;
  function_->text += '\n';
}
void Printer::open(const std::string& text) {
  line(text);
  ++function_->depth;
}
void Printer::close(const std::string& text) {
  --function_->depth;
  line(text);
}

std::string Printer::value(const std::string& text) {
  std::string name = fmt::format("%v{}", next_value_++);
  line(name + " = " + text);
  return name;
}

std::string Printer::constant(const std::string& literal, const std::string& type) {
  const std::string text = type.empty() ? literal : literal + " : " + type;
  const auto [it, is_new] = function_->constants.try_emplace(text);
  if (is_new) {
    it->second = fmt::format("%c{}", function_->constants.size());
    function_->head += fmt::format("    {} = arith.constant {}\n", it->second, text);
  }
  return it->second;
}
std::string Printer::index(std::int64_t number) { return constant(std::to_string(number), "index"); }

std::string Printer::local(const std::string& type) {
  std::string name = fmt::format("%v{}", next_value_++);
  function_->head += fmt::format("    {} = memref.alloca() {{alignment = 64 : i64}} : {}\n", name, type);
  return name;
}

std::string Printer::variable(int id) {
  const std::string& name = variables_[static_cast<std::size_t>(id)];
  if (!changed_.contains(id)) return name;
  const Variable& v = program_.variables[static_cast<std::size_t>(id)];
  return value(fmt::format("memref.load {}[] : memref<{}>", name, v.is_index ? "index" : m_type(v.type).value));
}

std::string Printer::buffer(int tensor) {
  const std::string& name = buffers_[static_cast<std::size_t>(tensor)];
  if (!slots_.contains(tensor)) return name;
  const std::string type = memref_of(program_.buffers[static_cast<std::size_t>(tensor)].type);
  return value(fmt::format("memref.load {}[] : memref<{}>", name, type));
}

void Printer::add_slot(int tensor) {
  const std::string type = memref_of(program_.buffers[static_cast<std::size_t>(tensor)].type);
  set_buffer(tensor, local(fmt::format("memref<{}>", type)));
  slots_.insert(tensor);
}

void Printer::store(int tensor, const std::string& at, const std::string& value) {
  line(fmt::format("memref.store {}, {}[{}] : {}", value, buffer(tensor), at,
                   memref_of(program_.buffers[static_cast<std::size_t>(tensor)].type)));
}

void Printer::scope(const std::function<void()>& fill) {
  Memo outer(1);
  std::swap(outer, memo_);
  fill();
  std::swap(outer, memo_);
}

int Printer::open_loops(const Axes& axes) {
  int count = 0;
  const std::string zero = index(0), one = index(1);
  for (const Axis& a : axes) {
    if (a.extent.as_int() == 1) continue;
    std::string extent;
    scope([&] { extent = expr(a.extent); });
    open(fmt::format("scf.for {} = {} to {} step {} {{", variables_[static_cast<std::size_t>(a.variable)], zero, extent,
                     one));
    ++count;
  }
  return count;
}

void Printer::close_loops(int count) {
  while (count-- > 0) close("}");
}

std::string Printer::function(const std::string& head, const Body* lets, const std::function<void()>& fill) {
  Function made;
  Function* const outer = std::exchange(function_, &made);
  std::vector<int> changed;
  if (lets) find_changed(*lets, changed);
  for (const int id : changed) {
    const Variable& v = program_.variables[static_cast<std::size_t>(id)];
    set_variable(id, local(fmt::format("memref<{}>", v.is_index ? "index" : m_type(v.type).value)));
    changed_.insert(id);
  }
  fill();
  function_ = outer;
  return fmt::format("  {} {{\n{}{}    return\n  }}\n", head, made.head, made.text);
}

/// One statement of a body.
struct StatementPrinter {
  Printer& p;

  const Buffer& buffer(int tensor) const { return p.program_.buffers[static_cast<std::size_t>(tensor)]; }
  std::string memref(int tensor) const { return memref_of(buffer(tensor).type); }

  void operator()(const Map& s) const {
    if (s.axes.size() > 1 && is_in_step(s.at, s.dims, s.axes) && can_be_one_loop(s.value, s.axes)) {
      Exprs extents;
      for (const Axis& a : s.axes) extents.push_back(a.extent);
      const std::string zero = p.index(0), one = p.index(1), extent = p.expr(product(extents));
      const std::string i = fmt::format("%v{}", p.next_value_++);
      p.open(fmt::format("scf.for {} = {} to {} step {} {{", i, zero, extent, one));
      p.flat_ = i;
      p.scope([&] {
        const std::string value = p.stored(s.value, buffer(s.out).type);
        p.store(s.out, i, value);
      });
      p.flat_.clear();
      return p.close("}");
    }
    const int loops = p.open_loops(s.axes);
    p.scope([&] {
      const std::string value = p.stored(s.value, buffer(s.out).type);
      p.store(s.out, p.place(s.at, s.dims), value);
    });
    p.close_loops(loops);
  }

  std::string first_value(Combine combine, DType type) const {
    if (combine == Combine::sum || combine == Combine::product)
      return p.expr(Expr::constant(combine == Combine::product, type));
    const bool is_max = combine == Combine::max;
    if (is_float(type)) return p.expr(Expr::constant(is_max ? -__builtin_inf() : __builtin_inf(), type));
    const unsigned bits = bits_of(type);
    if (is_unsigned(type)) return p.expr(Expr::integer(is_max ? 0 : -1, type));
    const std::int64_t least = bits == 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1));
    return p.expr(Expr::integer(is_max ? least : -(least + 1), type));
  }

  std::string combined(Combine combine, DType type, const std::string& a, const std::string& b) const {
    const std::string t = m_type(type).value;
    constexpr const char* kFloats[] = {"addf", "mulf", "minimumf", "maximumf"};
    constexpr const char* kSigned[] = {"addi", "muli", "minsi", "maxsi"};
    constexpr const char* kUnsigned[] = {"addi", "muli", "minui", "maxui"};
    const auto which = static_cast<std::size_t>(combine);
    // The order of a sum is the compiler's, so that it can be in vectors.
    const char* flags = combine == Combine::sum && is_float(type) ? " fastmath<reassoc,contract>" : "";
    const char* op = is_float(type) ? kFloats[which] : is_unsigned(type) ? kUnsigned[which] : kSigned[which];
    return p.value(fmt::format("arith.{} {}, {}{} : {}", op, a, b, flags, t));
  }

  void operator()(const Reduce& s) const {
    const DType type = buffer(s.out).type, sum_type = is_small_float(type) ? DType::f32 : type;
    const std::string t = m_type(sum_type).value, zero = p.index(0), one = p.index(1);
    const int loops = p.open_loops(s.axes);
    p.scope([&] {
      std::string sum = first_value(s.combine, sum_type);
      std::vector<std::string> names;
      for (const Axis& a : s.reduced) {
        if (a.extent.as_int() == 1) continue;
        const std::string extent = p.expr(a.extent);
        const std::string name = fmt::format("%v{}", p.next_value_++), inner = fmt::format("%v{}", p.next_value_++);
        p.open(fmt::format("{} = scf.for {} = {} to {} step {} iter_args({} = {}) -> ({}) {{", name,
                           p.variables_[static_cast<std::size_t>(a.variable)], zero, extent, one, inner, sum, t));
        names.push_back(name);
        sum = inner;
      }
      p.scope([&] { sum = combined(s.combine, sum_type, sum, p.expr(s.value)); });
      for (std::size_t i = names.size(); i-- > 0;) {
        p.line(fmt::format("scf.yield {} : {}", sum, t));
        p.close("}");
        sum = names[i];
      }
      Exprs at, dims;
      for (const Axis& a : s.axes) {
        at.push_back(a.extent.as_int() == 1 ? Expr(0) : Expr::variable(a.variable, DType::i64, true));
        dims.push_back(a.extent);
      }
      p.store(s.out, p.place(at, dims), in_memory(sum, type));
    });
    p.close_loops(loops);
  }

  /// A sum as it is kept.
  std::string in_memory(const std::string& sum, DType type) const {
    if (type == DType::boolean) return p.value(fmt::format("arith.extui {} : i1 to i8", sum));
    if (!is_small_float(type)) return sum;
    const std::string wide = p.value(fmt::format("arith.extf {} : f32 to f64", sum));
    return p.helper(p.support_.use("store", type), {wide, p.constant("0", "i32")}, {"f64", "i32"},
                    m_type(type).storage);
  }

  /// Whether all matrices of a batch meet the same one, so that they are one matrix of more rows.
  static bool is_one_product(const Product& s) {
    Expr start = 0;
    for (const Axis& a : s.batch)
      start = start * a.extent + (a.extent.as_int() == 1 ? Expr(0) : Expr::variable(a.variable, DType::i64, true));
    return !s.batch.empty() && !s.a_transposed && !uses_axis(s.b_start, s.batch) &&
           same(s.a_start, start * (s.m * s.k)) && same(s.out_start, start * (s.m * s.n));
  }

  void operator()(const Product& s) const {
    if (is_one_product(s)) {
      Product whole = s;
      for (const Axis& a : s.batch) whole.m = whole.m * a.extent;
      whole.batch.clear();
      whole.a_start = whole.out_start = 0;
      return (*this)(whole);
    }
    const DType type = buffer(s.out).type;
    const int loops = p.open_loops(s.batch);
    p.scope([&] {
      const std::string m = p.expr(s.m), n = p.expr(s.n), k = p.expr(s.k), one = p.index(1);
      const std::string a_at = p.expr(s.a_start), b_at = p.expr(s.b_start), c_at = p.expr(s.out_start);
      const std::string a = p.buffer(s.a), b = p.buffer(s.b), c = p.buffer(s.out), t = memref_of(type);
      // Steps along rows and columns say whether a matrix is transposed.
      p.line(fmt::format(
          "func.call @{}({}) : (index, index, index, {t}, index, index, index, {t}, index, index, index, {t}, index) "
          "-> "
          "()",
          p.support_.use("product", type),
          fmt::join(std::vector<std::string>{m, n, k, a, a_at, s.a_transposed ? one : k, s.a_transposed ? m : one, b,
                                             b_at, s.b_transposed ? one : n, s.b_transposed ? k : one, c, c_at},
                    ", "),
          fmt::arg("t", t)));
    });
    p.close_loops(loops);
  }
  void operator()(const Convolution& s) const { print_convolution(p, s); }
  void operator()(const Sort& s) const {
    const DType type = buffer(s.x).type;
    const std::string outer = p.expr(s.outer), n = p.expr(s.n), inner = p.expr(s.inner);
    const std::string x = p.buffer(s.x), places = p.buffer(s.places);
    p.line(fmt::format("func.call @{}({}, {}, {}, {}, {}) : ({}, memref<?xi64>, index, index, index) -> ()",
                       p.support_.use(s.is_descending ? "sort_down" : "sort_up", type), x, places, outer, n, inner,
                       memref_of(type)));
  }
  // lower() was not told that there is a kernel.
  void operator()(const Forest&) const { throw Error(Code::internal, "forests are loops here"); }

  void operator()(const Store& s) const {
    const std::string value = p.stored(s.value, buffer(s.tensor).type);
    p.store(s.tensor, p.place(s.at, s.dims), value);
  }
  void operator()(const Let& s) const {
    const std::string value = p.expr(s.value);
    if (s.is_changed) return assign(s.variable, value);
    p.set_variable(s.variable, value);
  }
  void assign(int id, const std::string& value) const {
    const Variable& v = p.program_.variables[static_cast<std::size_t>(id)];
    p.line(fmt::format("memref.store {}, {}[] : memref<{}>", value, p.variables_[static_cast<std::size_t>(id)],
                       v.is_index ? "index" : m_type(v.type).value));
  }
  void operator()(const Assign& s) const { assign(s.variable, p.expr(s.value)); }

  void operator()(const Loop& s) const {
    if (!s.go_on) {
      const int loops = p.open_loops({s.axis});
      p.body(s.body);
      return p.close_loops(loops);
    }
    const std::string extent = p.expr(s.axis.extent), zero = p.index(0), one = p.index(1);
    const std::string& i = p.variables_[static_cast<std::size_t>(s.axis.variable)];
    const std::string last = fmt::format("%v{}", p.next_value_++);
    p.open(fmt::format("{} = scf.while ({} = {}) : (index) -> (index) {{", last, i, zero));
    p.scope([&] {
      const std::string below = p.value(fmt::format("arith.cmpi slt, {}, {} : index", i, extent));
      const std::string goes = p.expr(s.go_on);
      const std::string both = p.value(fmt::format("arith.andi {}, {} : i1", below, goes));
      p.line(fmt::format("scf.condition({}) {} : index", both, i));
    });
    p.close("} do {");
    p.line(fmt::format("^bb0({}: index):", i));
    ++p.function_->depth;
    p.body(s.body);
    p.line(fmt::format("scf.yield {} : index", p.value(fmt::format("arith.addi {}, {} : index", i, one))));
    p.close("}");
  }
  void operator()(const Branch& s) const {
    p.open(fmt::format("scf.if {} {{", p.expr(s.condition)));
    p.body(s.yes);
    if (!s.no.empty()) {
      p.close("} else {");
      ++p.function_->depth;
      p.body(s.no);
    }
    p.close("}");
  }

  void room(int tensor, const std::string& elements, bool keeps) const {
    const std::string type = memref(tensor),
                      bytes = p.index(std::max<int>(1, static_cast<int>(bits_of(buffer(tensor).type)) / 8));
    const std::string made =
        p.value(fmt::format("func.call @{}_room({}, {}, {}, {}) : (index, index, index, index) -> memref<?xi8>",
                            p.program_.name, p.index(tensor), elements, bytes, p.index(keeps)));
    const std::string view =
        p.value(fmt::format("memref.view {}[{}][{}] : memref<?xi8> to {}", made, p.index(0), elements, type));
    p.line(fmt::format("memref.store {}, {}[] : memref<{}>", view, p.buffers_[static_cast<std::size_t>(tensor)], type));
  }
  void operator()(const Require& s) const {
    p.open(fmt::format("scf.if {} {{  // {}", p.expr(negate(s.holds)), cpp::comment(s.label)));
    p.line(fmt::format("func.call @{}_misfit() : () -> ()", p.program_.name));
    p.close("}");
  }
  void operator()(const Allocate& s) const {
    // Without elements, whatever the sizes beside 0, which may not be known yet.
    const auto size = static_size(buffer(s.tensor));
    room(s.tensor, size ? p.index(*size) : p.expr(checked_product(buffer(s.tensor).dims)), false);
  }
  void operator()(const Grow& s) const { room(s.tensor, p.expr(s.size), true); }
  void operator()(const Group& s) const { p.group(s); }
};

void Printer::body(const Body& body) {
  for (const Statement& s : body) scope([&] { std::visit(StatementPrinter{*this}, s.is); });
}

/// A function of the buffers and variables that the group uses, and its call.
void Printer::group(const Group& group) {
  std::set<int> tensors, used, declared;
  find_variables(group.body, used, declared);
  for (const Statement& s : group.body) for_each_buffer(s, [&](int tensor, bool) { tensors.insert(tensor); });
  std::vector<std::string> parameters, arguments, types;
  const auto add = [&](const std::string& inside, const std::string& around, const std::string& type) {
    parameters.push_back(inside + ": " + type);
    arguments.push_back(around);
    types.push_back(type);
  };
  // What the group calls by other names; all others keep theirs.
  struct Kept {
    int id;
    std::string name;
    bool is_in_memory;
  };
  std::vector<Kept> buffers, variables;
  for (const int tensor : tensors)
    buffers.push_back({tensor, buffers_[static_cast<std::size_t>(tensor)], slots_.contains(tensor)});
  for (const std::set<int>* ids : {&used, &declared})
    for (const int id : *ids)
      variables.push_back({id, variables_[static_cast<std::size_t>(id)], changed_.contains(id)});
  for (const int tensor : tensors) {
    const std::string inside = "%t" + std::to_string(tensor), around = buffer(tensor);
    add(inside, around, memref_of(program_.buffers[static_cast<std::size_t>(tensor)].type));
  }
  for (const int id : used) {
    if (declared.contains(id)) continue;
    const Variable& v = program_.variables[static_cast<std::size_t>(id)];
    add("%i" + std::to_string(id), variable(id), v.is_index ? "index" : m_type(v.type).value);
  }
  for (const int tensor : tensors) {
    set_buffer(tensor, "%t" + std::to_string(tensor));
    slots_.erase(tensor);
  }
  for (const int id : used) {
    set_variable(id, "%i" + std::to_string(id));
    changed_.erase(id);
  }
  const std::string name = fmt::format("step_{}", next_function_++);
  const std::string head =
      fmt::format("// {}\n  func.func private @{}({}) attributes {{llvm.linkage = #llvm.linkage<internal>}}",
                  cpp::comment(group.label), name, fmt::join(parameters, ", "));
  const std::string text = function(head, &group.body, [&] { body(group.body); });
  functions_ += text;
  const auto restore = [](const std::vector<Kept>& kept, std::vector<std::string>& names, std::set<int>& in_memory) {
    for (const Kept& k : kept) {
      names[static_cast<std::size_t>(k.id)] = k.name;
      if (k.is_in_memory)
        in_memory.insert(k.id);
      else
        in_memory.erase(k.id);
    }
  };
  restore(buffers, buffers_, slots_);
  restore(variables, variables_, changed_);
  line(fmt::format("func.call @{}({}) : ({}) -> ()", name, fmt::join(arguments, ", "), fmt::join(types, ", ")));
}

}  // namespace ingot::backends::mlir
