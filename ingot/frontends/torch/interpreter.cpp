// Follows the code of an archive statement by statement.
#include "ingot/frontends/torch/interpreter.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/formats/torch/scalar_type.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/torch/operator_table.h"
#include "ingot/frontends/torch/quantized.h"

namespace ingot::frontends::torch {
namespace {

using script::Expr;
using script::Statement;
constexpr int kDeepestCall = 60;

[[noreturn]] void refuse_code(int line, const std::string& why) {
  throw Error(Code::bad_source_graph, fmt::format("the archive's code, line {}: {}", line, why));
}

}  // namespace

Item Interpreter::call_method(const ObjectRef& object, std::string_view method, std::vector<Item> args,
                              const NamedItems& named) {
  const script::Function* function = object->type ? find_method(*object->type, method) : nullptr;
  if (!function) {
    t_.problems.add(object->path, fmt::format("{}.{}", object->type ? object->type->name : "object", method),
                    "the archive has no code for this method", Code::unsupported_operator);
    return Unknown{};
  }
  args.insert(args.begin(), Item(object));
  return call_function(*function, std::move(args), named, object->path);
}

Item Interpreter::call_function(const script::Function& function, std::vector<Item> args, const NamedItems& named,
                                const std::string& path) {
  if (depth_ >= kDeepestCall)
    throw Error(Code::depth_limit, "functions of the archive's code call each other too deeply");
  Frame frame;
  frame.path = path;
  if (args.size() > function.parameters.size())
    throw Error(Code::bad_source_graph,
                fmt::format("the archive's code calls '{}' with too many arguments", function.name));
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const script::Parameter& p = function.parameters[i];
    const auto given = std::ranges::find(named, p.name, &std::pair<std::string, Item>::first);
    if (i < args.size())
      frame.variables.insert_or_assign(p.name, args[i]);
    else if (given != named.end())
      frame.variables.insert_or_assign(p.name, given->second);
    else if (p.otherwise)
      frame.variables.insert_or_assign(p.name, evaluate(*p.otherwise, frame));
    else
      throw Error(Code::bad_source_graph,
                  fmt::format("the archive's code calls '{}' without '{}'", function.name, p.name));
  }
  ++depth_;
  try {
    run(function.body, frame);
  } catch (...) {
    --depth_;
    throw;
  }
  --depth_;
  return frame.returned.value_or(Item());
}

void Interpreter::run(const script::Block& block, Frame& frame) {
  for (const auto& statement : block) {
    if (frame.returned) return;
    if (t_.budget()) t_.budget()->poll();
    run(*statement, frame);
  }
}

void Interpreter::run(const Statement& statement, Frame& frame) {
  switch (statement.kind) {
    case Statement::Kind::assign: {
      const std::string target = statement.targets.size() == 1 ? script::dotted(*statement.targets[0]) : std::string();
      const std::string label = target.empty() ? "value" : target;
      t_.name_after(frame.path.empty() ? label : frame.path + "." + label, "");
      Item value = evaluate(*statement.value, frame);
      if (statement.unpacks)
        unpack(statement, value, frame);
      else
        assign(*statement.targets[0], std::move(value), frame);
      return;
    }
    case Statement::Kind::expression:
      t_.name_after(frame.path.empty() ? "value" : frame.path, "");
      (void)evaluate(*statement.value, frame);
      return;
    case Statement::Kind::choice:
      return choose(statement, frame);
    case Statement::Kind::loop:
      return loop(statement, frame);
    case Statement::Kind::count:
      return count(statement, frame);
    case Statement::Kind::give_back:
      t_.name_after(frame.path.empty() ? "output" : frame.path, "");
      frame.returned = statement.value ? evaluate(*statement.value, frame) : Item();
      return;
    case Statement::Kind::within:
      // Contexts such as no_grad() change nothing that a graph for inference has.
      if (!statement.targets.empty()) assign(*statement.targets[0], evaluate(*statement.value, frame), frame);
      return run(statement.body, frame);
  }
}

void Interpreter::assign(const Expr& target, Item value, Frame& frame) {
  if (target.kind == Expr::Kind::name) {
    frame.variables.insert_or_assign(target.text, std::move(value));
    return;
  }
  if (target.kind == Expr::Kind::attribute) {
    const Item base = evaluate(*target.parts[0], frame);
    if (const ObjectRef* object = base.get<ObjectRef>()) {
      t_.journal.changing({*object, target.text});
      (*object)->attributes.insert_or_assign(target.text, std::move(value));
      return;
    }
  }
  refuse_code(target.line, "something is assigned to what is no variable");
}

void Interpreter::unpack(const Statement& statement, const Item& value, Frame& frame) {
  const std::vector<Item>* parts = nullptr;
  if (const Tuple* tuple = value.get<Tuple>()) parts = tuple->items.get();
  if (const ListRef* list = value.get<ListRef>()) parts = &(*list)->items;
  if (!parts && !value.is_unknown()) refuse_code(statement.line, "a " + kind_text(value) + " is taken apart");
  if (parts && parts->size() != statement.targets.size())
    refuse_code(statement.line,
                fmt::format("{} values are assigned to {} variables", parts->size(), statement.targets.size()));
  const std::vector<Item> values = parts ? *parts : std::vector<Item>(statement.targets.size(), Item(Unknown{}));
  for (std::size_t i = 0; i < values.size(); ++i) assign(*statement.targets[i], values[i], frame);
}

Item Interpreter::evaluate(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case Expr::Kind::name:
      return name(expr, frame);
    case Expr::Kind::integer:
      return expr.integer;
    case Expr::Kind::real:
      return expr.real;
    case Expr::Kind::imaginary:
      return std::complex<double>(0, expr.real);
    case Expr::Kind::text:
      return Item(expr.text);
    case Expr::Kind::none:
      return {};
    case Expr::Kind::boolean:
      return expr.integer != 0;
    case Expr::Kind::attribute:
      return attribute(expr, frame);
    case Expr::Kind::call:
      return call(expr, frame);
    case Expr::Kind::subscript:
      return subscript(expr, frame);
    case Expr::Kind::slice:
      break;
    case Expr::Kind::list:
    case Expr::Kind::tuple: {
      std::vector<Item> parts;
      for (const script::ExprPtr& part : expr.parts) parts.push_back(evaluate(*part, frame));
      return expr.kind == Expr::Kind::list ? Item::list(std::move(parts)) : Item::tuple(std::move(parts));
    }
    case Expr::Kind::dict: {
      auto dict = std::make_shared<DictBody>();
      for (std::size_t i = 0; i + 1 < expr.parts.size(); i += 2) {
        Item key = evaluate(*expr.parts[i], frame);
        dict->entries.emplace_back(std::move(key), evaluate(*expr.parts[i + 1], frame));
      }
      return Item(DictRef(std::move(dict)));
    }
    case Expr::Kind::negate: {
      const Expr& operand = *expr.parts[0];
      if (operand.kind == Expr::Kind::real) return -operand.real;
      // The smallest integer stands for itself: its opposite does not fit.
      if (operand.kind == Expr::Kind::integer) return operand.integer == INT64_MIN ? INT64_MIN : -operand.integer;
      return t_.call("neg", {evaluate(operand, frame)});
    }
  }
  refuse_code(expr.line, "an expression has no meaning here");
}

Item Interpreter::name(const Expr& expr, const Frame& frame) {
  const auto found = frame.variables.find(expr.text);
  if (found != frame.variables.end()) return found->second;
  if (expr.text == "inf") return std::numeric_limits<double>::infinity();
  if (expr.text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (!t_.problems.empty()) return Unknown{};  // what could not be translated left it without a value
  refuse_code(expr.line, fmt::format("'{}' has no value", expr.text));
}

Item Interpreter::attribute(const Expr& expr, Frame& frame) {
  const std::string path = script::dotted(expr);
  if (path.starts_with("CONSTANTS.c")) {
    std::size_t number = 0;
    const auto read = std::from_chars(path.data() + 11, path.data() + path.size(), number);
    if (read.ec != std::errc() || number >= constants_.size()) refuse_code(expr.line, "there is no constant " + path);
    return constants_[number];
  }
  if (path.starts_with("__torch__.")) {
    if (const script::Function* function = program_.find_function(path)) return Callable{.function = function};
    if (const script::Class* type = program_.find_class(path)) return Callable{.type = type};
    const std::size_t dot = path.rfind('.');  // a value of an enumeration
    const script::Class* type = program_.find_class(path.substr(0, dot));
    for (std::size_t i = 0; type && i < type->fields.size(); ++i)
      if (type->fields[i].name == path.substr(dot + 1) && type->fields[i].value)
        return evaluate(*type->fields[i].value, frame);
    refuse_code(expr.line, "there is no '" + path + "'");
  }
  const Item base = evaluate(*expr.parts[0], frame);
  if (base.is_unknown()) return Unknown{};
  if (const ObjectRef* object = base.get<ObjectRef>()) {
    const auto found = (*object)->attributes.find(expr.text);
    if (found != (*object)->attributes.end()) return found->second;
    const script::Class* type = (*object)->type;
    for (std::size_t i = 0; type && i < type->fields.size(); ++i)
      if (type->fields[i].name == expr.text && type->fields[i].value) return evaluate(*type->fields[i].value, frame);
    refuse_code(expr.line, fmt::format("'{}' has no attribute '{}'", (*object)->path, expr.text));
  }
  if (const Tuple* tuple = base.get<Tuple>(); tuple && tuple->type) {
    for (std::size_t i = 0; i < tuple->type->fields.size() && i < tuple->items->size(); ++i)
      if (tuple->type->fields[i].name == expr.text) return (*tuple->items)[i];
  }
  return primitive(expr.text, {base});
}

Item Interpreter::subscript(const Expr& expr, Frame& frame) {
  const Item base = evaluate(*expr.parts[0], frame);
  const Expr& index = *expr.parts[1];
  if (base.is_unknown()) return Unknown{};
  if (index.kind != Expr::Kind::slice) {
    const Item at = evaluate(index, frame);
    if (base.is_tensor()) return t_.call("select", {base, 0, at});
    return t_.call("__getitem__", {base, at});
  }
  std::vector<Item> args{base};
  for (const script::ExprPtr& part : index.parts) args.push_back(part ? evaluate(*part, frame) : Item());
  const Item made = t_.call("slice", std::move(args));
  if (const ListRef* list = made.get<ListRef>(); list && base.is<Tuple>()) return Item::tuple((*list)->items);
  return made;
}

std::pair<std::vector<Item>, NamedItems> Interpreter::arguments(const Expr& call, Frame& frame) {
  std::pair<std::vector<Item>, NamedItems> made;
  const std::size_t first_named = call.parts.size() - call.keywords.size();
  for (std::size_t i = 1; i < call.parts.size(); ++i) {
    Item item = evaluate(*call.parts[i], frame);
    if (i < first_named)
      made.first.push_back(std::move(item));
    else
      made.second.emplace_back(call.keywords[i - first_named], std::move(item));
  }
  return made;
}

Item Interpreter::call(const Expr& expr, Frame& frame) {
  const Expr& callee = *expr.parts[0];
  const std::string path = script::dotted(callee);
  const std::string first = path.substr(0, path.find('.'));
  if (!path.empty() && !frame.variables.contains(first)) return call_named(path, expr, frame);
  if (callee.kind == Expr::Kind::attribute) {
    const Item base = evaluate(*callee.parts[0], frame);
    auto [args, named] = arguments(expr, frame);
    if (base.is_unknown()) return Unknown{};
    if (const ObjectRef* object = base.get<ObjectRef>())
      return call_method(*object, callee.text, std::move(args), named);
    args.insert(args.begin(), base);
    return t_.call(callee.text, std::move(args), named);
  }
  const Item function = evaluate(callee, frame);
  auto [args, named] = arguments(expr, frame);
  if (const Callable* callable = function.get<Callable>()) {
    if (callable->function) return call_function(*callable->function, std::move(args), named, frame.path);
    return construct(*callable->type, callable->type->name, std::move(args), named, frame);
  }
  if (function.is_unknown()) return Unknown{};
  refuse_code(expr.line, "a " + kind_text(function) + " is called");
}

Item Interpreter::call_named(const std::string& callee, const Expr& expr, Frame& frame) {
  if (std::optional<Item> made = builtin(callee, expr, frame)) return std::move(*made);
  const std::string scope = t_.scope();
  auto [args, named] = arguments(expr, frame);
  t_.name_after(scope, "");
  if (callee.starts_with("torch.")) return t_.call(std::string_view(callee).substr(6), std::move(args), named);
  if (callee.starts_with("ops.aten.")) return t_.call(std::string_view(callee).substr(9), std::move(args), named);
  if (callee.starts_with("ops.prim.")) return primitive(std::string_view(callee).substr(9), std::move(args));
  if (callee.starts_with("ops.")) {
    std::string name = callee.substr(4);
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) name.replace(dot, 1, "::");
    return t_.call(name, std::move(args), named);
  }
  if (callee.starts_with("__torch__.")) {
    if (const script::Function* function = program_.find_function(callee))
      return call_function(*function, std::move(args), named, frame.path);
    if (const script::Class* type = program_.find_class(callee))
      return construct(*type, callee, std::move(args), named, frame);
    const std::size_t dot = callee.rfind('.');  // Class.__new__(Class)
    const script::Class* type = program_.find_class(callee.substr(0, dot));
    if (type && callee.substr(dot) == ".__new__") {
      auto object = std::make_shared<Object>();
      object->type = type;
      object->path = frame.path;
      return Item(ObjectRef(std::move(object)));
    }
    // Classes of PyTorch itself, as no_grad, have no code in the archive.
    if (callee.substr(dot) == ".__new__") return Item(std::make_shared<Object>());
  }
  refuse_code(expr.line, "'" + callee + "' is called, which is not known");
}

Item Interpreter::construct(const script::Class& type, const std::string& name, std::vector<Item> args,
                            const NamedItems& named, Frame& frame) {
  if (type.base == "NamedTuple") {
    for (const auto& [field, item] : named) args.push_back(item);
    return Item::tuple(std::move(args), &type);
  }
  auto object = std::make_shared<Object>();
  object->type = &type;
  object->path = frame.path;
  if (find_method(type, "__init__"))
    (void)call_method(object, "__init__", std::move(args), named);
  else if (!args.empty())
    throw Error(Code::bad_source_graph, "the archive's code makes a '" + name + "', which has no __init__");
  return Item(std::move(object));
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
  if (callee == "str" || callee == "torch.str") return Item(std::string());  // texts matter to messages only
  if (callee == "torch.is_grad_enabled" || callee == "torch.is_autocast_enabled" ||
      callee == "torch.is_autocast_cpu_enabled")
    return Item(false);
  if (callee == "torch.is_scripting") return Item(true);
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
