// What the code calls that is no operator: functions of Python and of TorchScript's own.
#include <fmt/format.h>

#include <limits>

#include "ingot/formats/torch/scalar_type.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/torch/interpreter.h"
#include "ingot/frontends/torch/operator_table.h"
#include "ingot/frontends/torch/quantized.h"

namespace ingot::frontends::torch {

using script::Expr;

/// Python's own functions, as people call them.
std::optional<Item> Interpreter::python_builtin(const std::string& callee, const std::vector<Item>& args) {
  constexpr std::string_view kSame[] = {"abs", "all", "any", "dict", "list", "max", "min", "round", "sorted", "sum"};
  if (std::ranges::find(kSame, callee) != std::end(kSame)) return t_.call(callee, args);
  if (callee == "range" && !args.empty() && args.size() < 4) {
    const Item begin = args.size() > 1 ? args[0] : Item(0), step = args.size() > 2 ? args[2] : Item(1);
    const Item count = t_.call("__range_length", {begin, args.size() > 1 ? args[1] : args[0], step});
    const Item numbers = t_.call("prim::rangelist", {count});
    const auto* parts = parts_of(numbers);
    if (!parts) return numbers;
    std::vector<Item> made;
    for (const Item& i : *parts) made.push_back(t_.call("__derive_index", {i, begin, step}));
    return Item::list(std::move(made));
  }
  const auto* first = args.empty() ? nullptr : parts_of(args[0]);
  if (!first) return std::nullopt;
  if (callee == "tuple") return Item::tuple(*first);
  if (callee == "reversed") return Item::list({first->rbegin(), first->rend()});
  if (callee != "enumerate" && callee != "zip") return std::nullopt;
  std::vector<Item> rows;
  for (std::size_t i = 0; i < first->size(); ++i) {
    std::vector<Item> row;
    if (callee == "enumerate") row.emplace_back(static_cast<std::int64_t>(i));
    for (const Item& arg : args) {
      const auto* parts = parts_of(arg);
      if (!parts) return std::nullopt;
      if (i < parts->size()) row.push_back((*parts)[i]);
    }
    if (callee == "enumerate" || row.size() == args.size()) rows.push_back(Item::tuple(std::move(row)));
  }
  return Item::list(std::move(rows));
}

std::optional<Item> Interpreter::builtin(const std::string& callee, const Expr& expr, Frame& frame) {
  const auto part = [&](std::size_t i) -> const Expr& {
    if (i >= expr.parts.size()) refuse_code(expr.line, "'" + callee + "' lacks an argument");
    return *expr.parts[i];
  };
  if (callee == "annotate" || callee == "unchecked_cast") {  // the type comes first
    const Item item = evaluate(part(2), frame);
    const std::string type = script::dotted(part(1));
    if (item.is_tensor() && (type == "float" || type == "int" || type == "bool")) return converted(type, item);
    if (item.is_tensor() && type == "number") return t_.call("item", {item});
    return item;
  }
  if (callee == "uninitialized") return Item(Unknown{});
  if (callee == "isinstance") {
    const std::string type = script::dotted(part(2));
    const Item item = evaluate(part(1), frame);
    const bool is_it = type == "Tensor"  ? item.is_tensor()
                       : type == "int"   ? item.is<std::int64_t>()
                       : type == "float" ? item.is<double>()
                       : type == "str"   ? item.is<std::string>()
                                         : item.is<ListRef>() || item.is<Tuple>();
    return Item(is_it);
  }
  if (callee == "getattr") {
    const Item base = evaluate(part(1), frame);
    if (base.is_unknown()) return base;
    const ObjectRef* object = base.get<ObjectRef>();
    if (!object) refuse_code(expr.line, "an attribute is taken of a " + kind_text(base));
    const auto found = (*object)->attributes.find(part(2).text);
    if (found == (*object)->attributes.end())
      refuse_code(expr.line, fmt::format("'{}' has no attribute '{}'", (*object)->path, part(2).text));
    return found->second;
  }
  if (callee == "int" || callee == "float" || callee == "bool" || callee == "complex")
    return converted(callee, evaluate(part(1), frame));
  if (callee == "print" || callee == "hash" || callee == "warn") return Item();
  if (callee == "str" || callee == "torch.str") return Item(shown(evaluate(part(1), frame)));
  if (callee == "torch.is_grad_enabled" || callee == "torch.is_autocast_enabled" ||
      callee == "torch.is_autocast_cpu_enabled")
    return Item(false);
  if (callee == "torch.is_scripting") return Item(true);
  if (callee == "fork") {  // done at once
    const Item work = evaluate(part(1), frame);
    const Callable* callable = work.get<Callable>();
    if (!callable || !callable->body) refuse_code(expr.line, "a " + kind_text(work) + " is forked");
    Frame inner = frame;
    return run_body(*callable->body, inner);
  }
  if (callee == "torch.wait") return evaluate(part(1), frame);
  if (callee == "len") return t_.call("len", {evaluate(part(1), frame)});
  if (callee == "torch.device") {
    const Item which = evaluate(part(1), frame);
    const auto* text = which.get<std::string>();
    return Item(Device{text ? *text : "cpu"});
  }
  if (callee == "torch.warn" || callee == "torch.manual_seed" || callee == "torch._assert") return Item();
  return std::nullopt;
}

Item Interpreter::converted(std::string_view to, const Item& item) {
  if (item.is_unknown()) return item;
  if (const auto* text = item.get<std::string>(); text && to == "float") {
    if (*text == "inf" || *text == "+inf") return std::numeric_limits<double>::infinity();
    if (*text == "-inf") return -std::numeric_limits<double>::infinity();
    if (*text == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  if (const TensorRef* tensor = item.get<TensorRef>()) {
    Value* x = t_.read(*tensor);
    GraphBuilder& g = t_.g();
    if (rank_of(x) != 0) x = g.reshape(x, {});
    if (to == "bool") return t_.number_of(g.cast(x, DType::boolean));
    if (to == "int") return t_.number_of(g.cast(x, DType::i64));
    return t_.number_of(is_float(x->type.elem) ? x : g.cast(x, DType::f64));
  }
  return t_.call(to == "bool" ? "Bool" : to == "int" ? "Int" : "Float", {item});
}

Item Interpreter::primitive(std::string_view name, std::vector<Item> args) {
  if (name == "RaiseException") {
    const auto* text = args.empty() ? nullptr : args[0].get<std::string>();
    throw Raised{text ? *text : "an exception"};
  }
  if (args.empty()) refuse("prim::" + std::string(name) + " has no argument");
  const Item& first = args[0];
  if (first.is_unknown()) return Unknown{};
  if (name == "unchecked_unwrap_optional" || name == "unchecked_cast" || name == "data" || name == "requires_grad_")
    return first;
  if (name == "device") return Device{"cpu"};
  if (name == "is_quantized" && first.is_tensor()) return is_quantized(t_.read(*first.get<TensorRef>()));
  if (name == "is_cuda" || name == "is_quantized" || name == "is_sparse" || name == "is_mkldnn" ||
      name == "requires_grad" || name == "is_mps" || name == "is_nested" || name == "is_meta" || name == "is_xpu")
    return false;
  if (name == "layout") return 0;
  if (name == "type") return Item(std::string("cpu"));
  if (name == "index" && first.is<Device>()) return Item();
  if (const TensorRef* tensor = first.get<TensorRef>()) {
    if (name == "dtype") return formats::torch::number_of(t_.read(*tensor)->type.elem);
    if (name == "shape") return t_.call("size", {first});
    if (name == "ndim") return t_.call("dim", {first});
    if (name == "T" || name == "mT") return t_.call(name == "T" ? "numpy_T" : "mT", {first});
  }
  if (name == "NumToTensor") {
    if (first.is_tensor()) return first;
    return t_.value_of(first, DType::f64);
  }
  if (name == "min" || name == "max" || name == "abs" || name == "tolist") return t_.call(name, std::move(args));
  return t_.call("prim::" + std::string(name), std::move(args));
}

}  // namespace ingot::frontends::torch
