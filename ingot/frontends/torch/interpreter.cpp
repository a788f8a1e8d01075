// Follows the code of an archive statement by statement.
#include "ingot/frontends/torch/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
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

/// x.view(2, 3) is x.view([2, 3]).
std::vector<Item> with_one_list(std::string_view method, std::vector<Item> args) {
  constexpr std::string_view kTakeOne[] = {"expand",  "flip",   "new_empty", "new_ones", "new_zeros",
                                           "permute", "repeat", "reshape",   "tile",     "view"};
  if (!std::ranges::binary_search(kTakeOne, method) || args.size() < 2 || !args[0].is_tensor() ||
      !std::all_of(args.begin() + 1, args.end(), [](const Item& item) { return item.is_number(); }))
    return args;
  Item list = Item::list({args.begin() + 1, args.end()});
  return {args[0], std::move(list)};
}

}  // namespace

void refuse_code(int line, const std::string& why) {
  throw Error(Code::bad_source_graph, fmt::format("the archive's code, line {}: {}", line, why));
}

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
  return run_body(function.body, frame);
}

Item Interpreter::run_body(const script::Block& body, Frame& frame) {
  if (depth_ >= kDeepestCall)
    throw Error(Code::depth_limit, "functions of the archive's code call each other too deeply");
  ++depth_;
  try {
    run(body, frame);
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
    t_.spend(20);
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
    case Statement::Kind::change:
      t_.name_after(frame.path.empty() ? "value" : frame.path, "");
      return change(statement, frame);
    case Statement::Kind::give_back:
      t_.name_after(frame.path.empty() ? "output" : frame.path, "");
      frame.returned = statement.value ? evaluate(*statement.value, frame) : Item();
      return;
    case Statement::Kind::define:
      return assign(*statement.targets[0], Callable{.body = &statement.body}, frame);
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
      t_.hold(value);
      (*object)->attributes.insert_or_assign(target.text, std::move(value));
      return;
    }
  }
  if (target.kind == Expr::Kind::subscript) return assign_at(target, value, frame);
  if (target.kind == Expr::Kind::tuple) {
    const auto* parts = parts_of(value);
    if (parts && parts->size() == target.parts.size()) {
      const std::vector<Item> values = *parts;
      for (std::size_t i = 0; i < values.size(); ++i) assign(*target.parts[i], values[i], frame);
      return;
    }
  }
  refuse_code(target.line, "something is assigned to what is no variable");
}

void Interpreter::unpack(const Statement& statement, const Item& value, Frame& frame) {
  const std::vector<Item>* parts = parts_of(value);
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
    case Expr::Kind::both:
    case Expr::Kind::either:
      return joined(expr, frame);
    case Expr::Kind::choice:
      return decided(expr, frame);
    case Expr::Kind::slice:
    case Expr::Kind::ellipsis:
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
        Item value = evaluate(*expr.parts[i + 1], frame);
        t_.hold(value);
        dict->entries.emplace_back(std::move(key), std::move(value));
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
  if (found != frame.variables.end()) {
    if (const auto* text = found->second.get<std::string>()) t_.spend(text->size() / 16);
    return found->second;
  }
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
  if (path.starts_with("torch.") && !frame.variables.contains("torch"))
    if (const DType dtype = formats::torch::dtype_of_name(std::string_view(path).substr(6)); dtype != DType::undefined)
      return formats::torch::number_of(dtype);
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

/// value if condition else another; at run time as the statement that does the same.
Item Interpreter::decided(const Expr& expr, Frame& frame) {
  const Item condition = converted("bool", evaluate(*expr.parts[0], frame));
  if (condition.is_unknown()) return condition;
  if (const auto* known = condition.get<bool>()) return evaluate(*expr.parts[*known ? 1 : 2], frame);
  choose(*expr.decision, frame);
  const auto chosen = frame.variables.extract(expr.text);
  return chosen.empty() ? Item(Unknown{}) : chosen.mapped();
}

Item Interpreter::joined(const Expr& expr, Frame& frame) {
  const bool is_and = expr.kind == Expr::Kind::both;
  const Item first = converted("bool", evaluate(*expr.parts[0], frame));
  if (first.is_unknown()) return first;
  const auto* known = first.get<bool>();
  if (known && *known != is_and) return first;
  const Item second = converted("bool", evaluate(*expr.parts[1], frame));
  return known ? second : t_.call(is_and ? "__and__" : "__or__", {first, second});
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
  const bool is_held = first == "CONSTANTS" || frame.variables.contains(first);  // what is called is one of its methods
  if (!path.empty() && !is_held) return call_named(path, expr, frame);
  if (callee.kind == Expr::Kind::attribute) {
    const Item base = evaluate(*callee.parts[0], frame);
    auto [args, named] = arguments(expr, frame);
    if (base.is_unknown()) return Unknown{};
    if (const ObjectRef* object = base.get<ObjectRef>())
      return call_method(*object, callee.text, std::move(args), named);
    args.insert(args.begin(), base);
    return t_.call(callee.text, with_one_list(callee.text, std::move(args)), named);
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
  if (callee.find('.') == std::string::npos)
    if (std::optional<Item> made = python_builtin(callee, args)) return std::move(*made);
  for (const std::string_view inner : {"torch.nn.functional.", "torch._C._nn.", "F."})
    if (callee.starts_with(inner))
      return t_.call(std::string_view(callee).substr(inner.size()), std::move(args), named);
  if (callee.starts_with("torch.")) return t_.call(std::string_view(callee).substr(6), std::move(args), named);
  if (callee.starts_with("ops.aten.")) return t_.call(std::string_view(callee).substr(9), std::move(args), named);
  if (callee.starts_with("ops.prim.")) return primitive(std::string_view(callee).substr(9), std::move(args));
  if (callee.starts_with("ops.")) {
    std::string name = callee.substr(4);
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) name.replace(dot, 1, "::");
    return t_.call(name, std::move(args), named);
  }
  if (callee.starts_with("__torch__.")) {
    // What Ingot's own archives say by a function is one operator again.
    if (const std::string own = "ingot::" + callee.substr(10); program_.is_own() && find_row(own))
      return t_.call(own, std::move(args), named);
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

}  // namespace ingot::frontends::torch
