// Names, literals and lines of TorchScript and Python.
#include "ingot/backends/torch/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ingot/backends/torch/carriers.h"
#include "ingot/formats/torch/scalar_type.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/known.h"

namespace ingot::backends::torch {
namespace {

/// What a variable must not be called.
constexpr std::string_view kReserved[] = {
    "CONSTANTS", "F",        "False",    "List",     "Module", "None",  "Optional", "Tensor",  "True",
    "Tuple",     "and",      "annotate", "as",       "assert", "async", "await",    "bool",    "break",
    "class",     "continue", "def",      "del",      "elif",   "else",  "except",   "finally", "float",
    "for",       "forward",  "from",     "getattr",  "global", "if",    "import",   "in",      "inf",
    "int",       "is",       "lambda",   "len",      "list",   "max",   "min",      "nan",     "nn",
    "nonlocal",  "not",      "ops",      "or",       "pass",   "print", "raise",    "range",   "return",
    "self",      "str",      "torch",    "training", "try",    "tuple", "while",    "with",    "yield"};

template <class T> std::string real_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

constexpr std::int64_t kMostInline = 8;

/// What unsigned numbers in a wider carrier do not stay in their range by.
constexpr std::string_view kLeaveRange[] = {"Add", "BitShift", "BitwiseNot", "Cast",      "CumProd", "CumSum", "MatMul",
                                            "Mul", "Pow",      "ReduceProd", "ReduceSum", "Sub",     "Sum"};

}  // namespace

std::string identifier(std::string_view name) {
  std::string made;
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter || (!made.empty() && made.back() != '_')) made += is_letter ? c : '_';
  }
  while (!made.empty() && made.back() == '_') made.pop_back();
  if (made.empty() || (made[0] >= '0' && made[0] <= '9')) made.insert(0, "v");
  if (std::ranges::find(kReserved, made) != std::end(kReserved)) made += "_";
  return made;
}

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += static_cast<unsigned char>(c) < 32 ? '_' : c;
  }
  return made + "\"";
}

std::string text_of(std::int64_t value) {
  // The smallest one has no literal in some versions: its opposite does not fit. As a bound the next one does the same.
  return std::to_string(std::max(value, -INT64_MAX));
}
std::string text_of(double value) { return real_text(value); }
std::string text_of(float value) {
  // The shortest digits of the largest float are a double beyond it, which PyTorch refuses.
  constexpr float kNearLimit = 3.4e38F;
  return std::abs(value) < kNearLimit ? real_text(value) : real_text(static_cast<double>(value));
}
std::string_view text_of_flag(bool value) { return value ? "True" : "False"; }

std::string text_of(const Ints& values) {
  std::vector<std::string> words;
  for (const std::int64_t v : values) words.push_back(text_of(v));
  return listed(words);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string listed(const std::vector<std::string>& words) { return "[" + joined(words) + "]"; }

std::string grouped(const std::string& expression) {
  int depth = 0;
  bool is_whole = expression.empty() || expression[0] != '-';
  for (const char c : expression) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    is_whole &= c != ' ' || depth > 0;
  }
  return is_whole ? expression : "(" + expression + ")";
}

std::string annotation_of(const Type& type) {
  if (type.is_sequence()) return "List[" + annotation_of(type.inner()) + "]";
  if (type.is_optional()) return "Optional[" + annotation_of(type.inner()) + "]";
  return "Tensor";
}

std::string literal(const Tensor& tensor, std::size_t at) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::boolean) return std::string(text_of_flag(tensor.to_ints().at(at) != 0));
  if (is_integer(dtype)) return text_of(tensor.to_ints().at(at));
  const double value = tensor.to_doubles().at(at);
  return dtype == DType::f64 ? text_of(value) : text_of(static_cast<float>(value));
}

std::string Script::fresh(std::string_view base) {
  const std::string wanted = identifier(base);
  std::string name = wanted;
  int& number = numbers_[wanted];  // those up to it are taken
  while (taken_.contains(name) || is_function(name)) name = fmt::format("{}_{}", wanted, ++number);
  taken_.insert(name);
  return name;
}

bool Script::is_own(const Value* value) { return value->initializer && own_ && !own_(*value).empty(); }

std::string Script::name(const Value* value) {
  const auto known = names_.find(value);
  if (known != names_.end()) return known->second;
  if (value->initializer) {
    std::string own = own_ ? own_(*value) : std::string();
    return names_[value] = own.empty() ? constant(*value->initializer) : own;
  }
  return names_[value] = fresh(value->name());
}

std::string Script::constant(const Tensor& tensor) {
  const Tensor held = carried(tensor);
  const bool has_smallest =
      held.dtype() == DType::i64 && held.size() <= kMostInline && std::ranges::count(held.to_ints(), INT64_MIN) > 0;
  if (held.rank() <= 1 && held.size() > 0 && held.size() <= kMostInline && !has_smallest) {
    std::vector<std::string> words;
    for (std::int64_t i = 0; i < held.size(); ++i) words.push_back(literal(held, static_cast<std::size_t>(i)));
    return fmt::format("torch.tensor({}, dtype={})", held.rank() == 0 ? words[0] : listed(words), type(held.dtype()));
  }
  constants_.push_back({.dtype = held.dtype(), .dims = held.dims(), .data = held.bytes()});
  return (is_source() ? "self.constant" : "CONSTANTS.c") + std::to_string(constants_.size() - 1);
}

void Script::line(const std::string& text) {
  code_.append(static_cast<std::size_t>((is_source() ? 4 : 2) * depth_), ' ');
  code_ += text + "\n";
}

std::string Script::type(DType dtype) const {
  const DType carrier = carrier_of(dtype);
  if (is_source()) return "torch." + std::string(formats::torch::type_name(carrier));
  return text_of(formats::torch::number_of(carrier));
}

std::string NodeOut::in(std::size_t i) const {
  const Value* value = node.input(i);
  std::string name = s.name(value);
  if (wide == DType::undefined || !value->type.is_tensor() || carrier_of(value->type.elem) == wide) return name;
  const bool is_data = is_float(value->type.elem) || (is_integer(elem(0)) && value->type.elem == elem(0));
  return is_data ? name + ".to(" + type(wide) + ")" : name;
}

std::string NodeOut::operand(std::size_t i) const {
  const Value *value = node.input(i), *other = node.input(1 - i);
  const Tensor* constant = ops::constant_of(value);
  const bool spreads = constant && constant->size() == 1 && !ops::constant_of(other) && other->type.shape &&
                       constant->rank() <= static_cast<std::int64_t>(other->type.shape->size());
  const DType dtype = value->type.elem;
  if (!spreads || dtype == DType::u64 || dtype == DType::boolean || dtype != other->type.elem ||
      (constant->rank() > 0 && s.is_own(value)))
    return in(i);
  const std::string number = literal(*constant);
  return number[0] == '-' ? "(" + number + ")" : number;
}

std::vector<std::string> NodeOut::all_inputs() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node.input_count(); ++i) names.push_back(in(i));
  return names;
}

std::string NodeOut::real(std::string_view name, float fallback) const {
  const float value = node.attributes.float_or(name, fallback);
  // In double the float's own value counts, not the decimal number that is meant.
  return elem() == DType::f64 ? text_of(static_cast<double>(value)) : text_of(value);
}

std::optional<Ints> NodeOut::known(std::size_t i) const {
  return has(i) ? ingot::known_ints(node.input(i)) : std::nullopt;
}

std::string NodeOut::ints(std::size_t i) const {
  if (const auto all = known(i)) return text_of(*all);
  return helped("ints", {in(i)});
}

std::string NodeOut::integer(std::size_t i) const {
  if (const auto all = known(i); all && all->size() == 1) return text_of(all->front());
  return "int(" + in(i) + ")";
}

std::string NodeOut::number(std::size_t i) const {
  if (const Tensor* value = ops::constant_of(node.input(i)); value && value->size() == 1) return literal(*value);
  return std::string(is_float(elem(i)) ? "float(" : "int(") + s.name(node.input(i)) + ")";
}

std::int64_t NodeOut::axis(std::int64_t fallback, std::size_t input) const {
  const std::int64_t a = attr("axis", fallback);
  return a < 0 && has_rank(input) ? a + rank(input) : a;
}

std::string NodeOut::call(std::string_view function, const std::vector<std::string>& args) {
  return fmt::format("{}({})", function, joined(args));
}

std::string NodeOut::out(std::size_t i) const { return node.output(i) ? s.name(node.output(i)) : s.fresh("unused"); }

void NodeOut::set(const std::string& expression, std::size_t i) const {
  const Value* output = node.output(i);
  if (!output) return;
  std::string text = expression;
  const DType made = output->type.elem;
  if (wide != DType::undefined && output->type.is_tensor() && made != wide && (is_float(made) || made == elem()))
    text = grouped(text) + ".to(" + type(made) + ")";
  const std::string mask = mask_of(made);
  if (!mask.empty() && std::ranges::binary_search(kLeaveRange, node.op)) text = grouped(text) + " & " + mask;
  s.line(s.name(output) + " = " + text);
}

}  // namespace ingot::backends::torch
