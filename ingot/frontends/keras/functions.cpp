// Functions of TensorFlow and keras.ops that are TensorFlow's operators under another name.
#include "ingot/frontends/keras/functions.h"

#include <algorithm>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/tensorflow_node.h"
#include "ingot/frontends/translator.h"

namespace ingot::frontends::keras {
namespace {

namespace tf = formats::tensorflow;

constexpr PythonFunction kFunctions[] = {
#define INGOT_FUNCTION(name, parameters, op, inputs, attributes) {name, parameters, op, inputs, attributes},
#include "ingot/frontends/keras/functions.def"
#undef INGOT_FUNCTION
};
static_assert(is_sorted_table(std::span<const PythonFunction>(kFunctions)), "keep the table sorted");

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// What a call gives for a parameter, which stands at `place` of the function's list.
struct Given {
  const Argument* argument = nullptr;
  Config literal{};  // where the argument is no tensor: as it is in the call, the layer's settings, or by default
};

Given given_for(const Call& call, const PythonFunction& function, std::string_view wanted) {
  const std::vector<std::string> parameters = split(function.parameters, ' ');
  for (std::size_t place = 0; place < parameters.size(); ++place) {
    const std::vector<std::string> parts = split(parameters[place], '=');
    const std::vector<std::string> names = split(parts[0], '|');
    if (names[0] != wanted) continue;
    Given given;
    if (place < call.args.size()) given.argument = &call.args[place];
    for (const std::string& name : names) {
      if (const auto found = call.kwargs.find(name); found != call.kwargs.end()) given.argument = &found->second;
      if (!given.argument && call.layer.config[name].exists()) given.literal = call.layer.config[name];
    }
    if (given.argument) given.literal = given.argument->literal;
    const bool is_absent = !given.argument || (!given.argument->tensor && given.literal.is_null());
    if (is_absent && given.literal.is_null() && parts.size() == 2) given.literal = formats::json::parse(parts[1]);
    return given;
  }
  return {};
}

/// One number for all axes, or one for each, as TensorFlow's operators have them: for four axes.
tf::AttrValue steps_of(const Call& call, const Config& value, bool is_first) {
  tf::AttrList list;
  if (const auto one = value.as_int()) list.ints.assign(2, *one);
  for (const Config& entry : value.entries()) list.ints.push_back(entry.as_int().value_or(0));
  if (list.ints.size() == 1) list.ints.assign(2, list.ints[0]);
  if (list.ints.size() == 2) {
    list.ints.insert(list.ints.begin(), 1);
    list.ints.insert(is_first ? list.ints.begin() : list.ints.end(), 1);
  }
  call.require(list.ints.size() == 4, "its windows or strides do not fit");
  return std::make_shared<const tf::AttrList>(std::move(list));
}

tf::AttrValue attribute_of(const Call& call, std::string_view name, const Config& value) {
  if (value.is_bool()) return *value.as_bool();
  if (name == "out_type" || name == "output_type") {
    const DType type = compute_type(value);
    call.require(type != DType::undefined, "it names a type that is not known");
    return tf::data_type_of(type);
  }
  if (value.is_text()) return std::string(value.text());
  if (value.is_integer()) return *value.as_int();
  if (value.is_number()) return static_cast<float>(*value.as_number());
  tf::AttrList list;
  for (const Config& entry : value.entries()) {
    call.require(entry.as_int().has_value(), "'" + std::string(name) + "' holds what is no whole number");
    list.ints.push_back(*entry.as_int());
  }
  return std::make_shared<const tf::AttrList>(std::move(list));
}

/// Of those that keras.ops calls.
bool takes_reals_alone(std::string_view op) {
  constexpr std::string_view kOfAll[] = {
      "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BroadcastTo", "FloorMod", "InTopKV2", "Invert", "LeftShift",
      "OneHot",     "OnesLike",  "Rank",       "RightShift",  "SelectV2", "Size",     "TopKV2", "ZerosLike"};
  return std::ranges::find(kOfAll, op) == std::end(kOfAll);
}

DType type_of_tensors(const Call& call) {
  DType type = DType::undefined;
  for (const Flow& flow : call.inputs)
    if (flow.value && (type == DType::undefined || is_float(flow.value->type.elem))) type = flow.value->type.elem;
  return type;
}

NodeInput input_of(Call& call, const Given& given, std::string_view name) {
  if (given.argument && given.argument->tensor) return {.tensor = given.argument->tensor->value};
  if (given.argument && has_tensor(*given.argument)) return {.tensor = sizes_of(call, *given.argument)};
  call.require(!given.literal.is_null(), "its argument '" + std::string(name) + "' is missing");
  Config value = given.literal;
  const std::string_view kind = value["class_name"].text();
  if (kind == "__numpy__" || kind == "__tensor__") value = value["config"]["value"];
  // A number beside tensors is one of theirs; what says where, or how many, is whole.
  constexpr std::string_view kOperands[] = {"x", "y", "x1", "x2"};
  const bool is_operand = std::ranges::find(kOperands, name) != std::end(kOperands);
  const DType type = is_operand ? type_of_tensors(call) : DType::undefined;
  return {.constant = literal(call, value, type)};
}

}  // namespace

std::span<const PythonFunction> all_functions() { return kFunctions; }
const PythonFunction* find_function(std::string_view name) {
  return find_translator(std::span<const PythonFunction>(kFunctions), name);
}

void call_function(Call& call, const PythonFunction& function) {
  tf::NodeDef node;
  node.op = function.op;
  std::vector<NodeInput> inputs;
  for (const std::string& name : split(function.inputs, ' ')) {
    inputs.push_back(input_of(call, given_for(call, function, name), name));
    // keras.ops makes real numbers of whole ones where the operator has real ones alone.
    NodeInput& input = inputs.back();
    if (input.tensor && function.name.starts_with("op:") && takes_reals_alone(function.op))
      input.tensor = real(call.b, input.tensor);
  }
  for (const std::string& name : split(function.attributes, ' ')) {
    const Given given = given_for(call, function, name);
    if (given.literal.is_null()) continue;
    std::string attribute = name;
    constexpr std::string_view kOfAxes[] = {"dilations", "ksize", "ksizes", "rates", "strides"};
    if (std::ranges::find(kOfAxes, name) != std::end(kOfAxes)) {
      const bool is_first = given_for(call, function, "data_format").literal.text() == "NCHW";
      node.attrs.push_back({attribute, steps_of(call, given.literal, is_first)});
      continue;
    }
    if (name == "data_format" && given.literal.text().starts_with("channels_")) {
      node.attrs.push_back({attribute, std::string(given.literal.text() == "channels_first" ? "NCHW" : "NHWC")});
      continue;
    }
    node.attrs.push_back({attribute, attribute_of(call, name, given.literal)});
  }
  const DType type = inputs.empty() || !inputs[0].tensor ? DType::undefined : inputs[0].tensor->type.elem;
  if (type != DType::undefined && function.op != "SelectV2") node.attrs.push_back({"T", tf::data_type_of(type)});
  const std::size_t outputs = function.op == "TopKV2" ? 2 : 1;
  for (IrValue* value : translate_node(call, std::move(node), inputs, outputs))
    call.outputs.push_back({value, nullptr});
}

}  // namespace ingot::frontends::keras
