// Arguments of operations: tensors, numbers, settings.
#include "ingot/frontends/keras/operand.h"

#include <algorithm>
#include <cmath>

namespace ingot::frontends::keras {
namespace {

constexpr std::initializer_list<const char*> kFirst = {"x1",     "x",      "a",     "input",  "tensor",
                                                       "inputs", "values", "value", "images", "input_tensor"};
constexpr std::initializer_list<const char*> kSecond = {"x2", "y", "b", "bias"};

template <class T> Tensor tensor_of(const Dims& dims, const std::vector<double>& numbers) {
  std::vector<T> values;
  for (const double n : numbers) values.push_back(static_cast<T>(n));
  return Tensor::of<T>(dims, values);
}

bool is_whole(const Config& value) {
  if (!value.is_list()) return value.is_integer() || value.is_bool();
  return std::ranges::all_of(value.entries(), is_whole);
}

IrValue* value_of(Call& call, const Argument* argument, DType type) {
  if (argument && argument->tensor) return argument->tensor->value;
  Config value = argument ? argument->literal : Config();
  if (value["class_name"].text() == "__numpy__" || value["class_name"].text() == "__tensor__")
    value = value["config"]["value"];
  call.require(value.exists(), "it is called without one of its arguments");
  // Of whole numbers and one with a fraction Keras makes real ones.
  if (type != DType::undefined && !is_float(type) && !is_whole(value)) type = DType::f32;
  IrValue* made = call.b.constant(literal(call, value, type));
  return type == DType::undefined ? made : call.b.cast(made, type);
}

}  // namespace

const Argument* argument_of(const Call& call, std::size_t place, std::initializer_list<const char*> names) {
  if (place < call.args.size()) return &call.args[place];
  for (const char* name : names)
    if (const auto found = call.kwargs.find(name); found != call.kwargs.end()) return &found->second;
  return nullptr;
}

Tensor literal(const Call& call, const Config& value, DType type) {
  std::vector<double> numbers;
  Dims dims;
  std::vector<Config> level{value};
  while (level.front().is_list()) {
    dims.push_back(static_cast<std::int64_t>(level.front().size()));
    std::vector<Config> next;
    for (const Config& entry : level) {
      call.require(entry.size() == level.front().size(), "a constant is no tensor");
      for (Config inner : entry.entries()) next.push_back(std::move(inner));
    }
    call.require(!next.empty() && dims.size() < 16, "a constant is no tensor");
    level = std::move(next);
  }
  for (const Config& entry : level) {
    const auto number = entry.as_number();
    call.require(number.has_value(), "an argument is neither a tensor nor a number");
    numbers.push_back(*number);
  }
  if (type == DType::undefined) type = is_whole(value) ? DType::i32 : DType::f32;
  const double most = type == DType::i32 ? 2147483647.0 : 9.2e18;
  const auto fits = [&](double n) { return std::abs(n) <= most; };
  call.require(is_float(type) || std::ranges::all_of(numbers, fits), "a constant is too large");
  if (type == DType::f64) return tensor_of<double>(dims, numbers);
  if (is_float(type)) return tensor_of<float>(dims, numbers);
  return type == DType::i32 ? tensor_of<std::int32_t>(dims, numbers) : tensor_of<std::int64_t>(dims, numbers);
}

IrValue* operand_named(Call& call, std::size_t place, std::initializer_list<const char*> names, DType type) {
  return value_of(call, argument_of(call, place, names), type);
}

IrValue* operand(Call& call, std::size_t place, DType type) {
  return value_of(call, argument_of(call, place, place == 0 ? kFirst : kSecond), type);
}

std::pair<IrValue*, IrValue*> pair_of(Call& call) {
  const Argument *left = argument_of(call, 0, kFirst), *right = argument_of(call, 1, kSecond);
  const DType of_left = left && left->tensor ? left->tensor->value->type.elem : DType::undefined;
  const DType of_right = right && right->tensor ? right->tensor->value->type.elem : DType::undefined;
  IrValue* x = value_of(call, left, of_right);
  IrValue* y = value_of(call, right, of_left);
  if (x->type.elem != y->type.elem) {  // Keras computes in the wider of the two
    const bool is_right = is_float(y->type.elem) && !is_float(x->type.elem);
    (is_right ? x : y) = call.b.cast(is_right ? x : y, is_right ? y->type.elem : x->type.elem);
  }
  return {x, y};
}

bool has_tensor(const Argument& argument) {
  std::vector<Flow> tensors;
  collect(argument, tensors);
  return !tensors.empty();
}

/// Sizes of which some are computed, as one list.
IrValue* sizes_of(Call& call, const Argument& stated) {
  GraphBuilder& b = call.b;
  if (stated.tensor) return b.cast(stated.tensor->value, DType::i64);
  Values parts;
  for (const Argument& size : stated.list)
    parts.push_back(size.tensor ? b.reshape(b.cast(size.tensor->value, DType::i64), {1})
                                : b.ints({size.literal.as_int().value_or(-1)}));
  return b.concat(parts, 0);
}

IrValue* first(Call& call) { return operand(call, 0, DType::undefined); }

IrValue* number_like(GraphBuilder& b, const IrValue* x, double value) { return b.scalar(value, x->type.elem); }

IrValue* number(GraphBuilder& b, IrValue* x) { return x->type.elem == DType::boolean ? b.cast(x, DType::i32) : x; }

IrValue* real(GraphBuilder& b, IrValue* x) { return is_float(x->type.elem) ? x : b.cast(x, DType::f32); }

std::int64_t rank_needed(const Call& call, const IrValue* x) {
  const auto rank = rank_of(x);
  call.require(rank.has_value(), "the rank of its input is not known");
  return *rank;
}

Ints ints_of(const Config& stated) {
  Ints values;
  if (const auto one = stated.as_int()) values.push_back(*one);
  for (const Config& entry : stated.entries()) values.push_back(entry.as_int().value_or(0));
  return values;
}

Ints counted_from_front(const Call& call, Ints axes, std::int64_t rank) {
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    call.require(axis >= 0 && axis < rank, "its axis lies outside the input");
  }
  return axes;
}

Along along(Call& call, std::size_t place, std::int64_t otherwise, bool may_be_flat) {
  IrValue* x = first(call);
  const Config axis = setting(call, place, {"axis"});
  if (axis.is_null() && may_be_flat) return {call.b.reshape(x, {-1}), 0};
  return {x, axis.as_int().value_or(otherwise)};
}

Config setting(const Call& call, std::size_t place, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = call.kwargs.find(name); found != call.kwargs.end()) return found->second.literal;
  for (const char* name : names)
    if (const Config own = call.layer.config[name]; own.exists()) return own;
  if (place < call.args.size() && !call.args[place].tensor) return call.args[place].literal;
  return {};
}

}  // namespace ingot::frontends::keras
