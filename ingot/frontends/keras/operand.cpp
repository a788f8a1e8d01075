// Arguments of operations: tensors, numbers, settings.
#include "ingot/frontends/keras/operand.h"

namespace ingot::frontends::keras {
namespace {

constexpr std::initializer_list<const char*> kFirst = {"x1", "x", "a", "input", "tensor", "inputs"};
constexpr std::initializer_list<const char*> kSecond = {"x2", "y", "b"};

/// What the layer itself keeps of argument `place`: constants of TensorFlowOpLayer.
Config constant_of(const Call& call, std::size_t place) {
  return call.layer.config["constants"][std::string_view(std::to_string(place))];
}

const Argument* named(const Call& call, std::size_t place) {
  // Arguments of which some are constants keep their places.
  const Config constants = call.layer.config["constants"];
  if (constants.is_object() && constants.size()) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < place; ++i) before += constant_of(call, i).exists() ? 1 : 0;
    return constant_of(call, place).exists() || place - before >= call.args.size() ? nullptr
                                                                                   : &call.args[place - before];
  }
  if (place < call.args.size()) return &call.args[place];
  for (const char* name : place == 0 ? kFirst : kSecond)
    if (const auto found = call.kwargs.find(name); found != call.kwargs.end()) return &found->second;
  return nullptr;
}

Tensor literal(const Call& call, const Config& value, DType type) {
  std::vector<double> numbers;
  Dims dims;
  bool is_whole = true;
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
    is_whole &= entry.is_integer() || entry.is_bool();
    numbers.push_back(*number);
  }
  if (type == DType::undefined) type = is_whole ? DType::i32 : DType::f32;
  if (is_float(type)) {
    std::vector<float> values(numbers.begin(), numbers.end());
    return Tensor::of<float>(dims, values);
  }
  std::vector<std::int64_t> values;
  for (const double n : numbers) values.push_back(static_cast<std::int64_t>(n));
  return Tensor::of<std::int64_t>(dims, values);
}

IrValue* value_of(Call& call, const Argument* argument, std::size_t place, DType type) {
  if (argument && argument->tensor) return argument->tensor->value;
  Config value = argument ? argument->literal : constant_of(call, place);
  if (value["class_name"].text() == "__numpy__" || value["class_name"].text() == "__tensor__")
    value = value["config"]["value"];
  call.require(value.exists(), "it is called without one of its arguments");
  IrValue* made = call.b.constant(literal(call, value, type));
  return type == DType::undefined ? made : call.b.cast(made, type);
}

}  // namespace

IrValue* operand(Call& call, std::size_t place, DType type) { return value_of(call, named(call, place), place, type); }

std::pair<IrValue*, IrValue*> pair_of(Call& call) {
  const Argument *left = named(call, 0), *right = named(call, 1);
  const DType of_left = left && left->tensor ? left->tensor->value->type.elem : DType::undefined;
  const DType of_right = right && right->tensor ? right->tensor->value->type.elem : DType::undefined;
  IrValue* x = value_of(call, left, 0, of_right);
  IrValue* y = value_of(call, right, 1, of_left);
  if (x->type.elem != y->type.elem) {  // Keras computes in the wider of the two
    const bool is_right = is_float(y->type.elem) && !is_float(x->type.elem);
    (is_right ? x : y) = call.b.cast(is_right ? x : y, is_right ? y->type.elem : x->type.elem);
  }
  return {x, y};
}

Config setting(const Call& call, std::size_t place, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = call.kwargs.find(name); found != call.kwargs.end()) return found->second.literal;
  for (const char* name : names)
    if (const Config own = call.layer.config[name]; own.exists()) return own;
  if (place < call.args.size() && !call.args[place].tensor) return call.args[place].literal;
  return constant_of(call, place);
}

}  // namespace ingot::frontends::keras
