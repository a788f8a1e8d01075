// Operators that ONNX has no words for: each becomes a function of the model, by which the way back knows it again.
#include <algorithm>
#include <cctype>

#include "ingot/formats/tflite/lone_operator.h"
#include "ingot/frontends/tflite/op.h"
#include "ingot/frontends/tflite/operator_table.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/schema.h"

namespace ingot::frontends::tflite {
namespace {

constexpr std::int64_t kMostElements = 64;

/// Amounts of padding and the like tell a translator how, not what: they are part of the function, not its inputs.
bool is_setting(const tfl::Tensor& tensor) {
  const bool is_index = tensor.type == tfl::TensorType::INT32 || tensor.type == tfl::TensorType::INT64;
  return is_index && !has_scale(tensor) && tensor_size(tensor.shape) <= kMostElements;
}

/// ONNX wants the names of functions to be identifiers.
std::string identifier(std::string name) {
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) name.erase(0, colon + 1);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name.insert(name.begin(), '_');
  return name;
}

/// A variable that stands for a function's input while the function's body is written.
class Lent {
 public:
  Lent(Variable& variable, std::int32_t tensor, Value* formal)
      : variable_(variable),
        tensor_(tensor),
        formal_(formal),
        current_(variable.current),
        was_written_(variable.is_written) {
    variable.current = formal;
  }
  ~Lent() { give_back(); }
  Lent(const Lent&) = delete;

  /// Its value as the body leaves it; null: as it was.
  Value* next() const { return variable_.current == formal_ ? nullptr : variable_.current; }
  Variable& variable() const { return variable_; }
  std::int32_t tensor() const { return tensor_; }
  void give_back() {
    if (is_back_) return;
    variable_.current = current_;
    variable_.is_written = was_written_;
    is_back_ = true;
  }

 private:
  Variable& variable_;
  std::int32_t tensor_;
  Value *formal_, *current_;
  bool was_written_, is_back_ = false;
};

void add_result(Graph& body, Value* value) {
  bool is_own = value->producer() != nullptr;
  for (const Use& use : value->uses()) is_own &= use.node != nullptr;
  if (!is_own) {
    GraphBuilder builder(body);
    value = builder.op("Identity", {value});
  }
  body.add_output(value);
}

}  // namespace

Value* Frame::shared(const std::string& name, const std::function<Tensor()>& make) {
  Value*& value = import_.shared[name];
  if (!value) value = import_.main->add_initializer(import_.main->fresh_name("tflite/" + name), make());
  Graph* outermost = &builder_.graph();
  while (outermost->parent()) outermost = outermost->parent();
  if (!outermost->is_function_body) return value;
  const auto found = std::ranges::find(shared_, name, &std::pair<std::string, Value*>::first);
  if (found != shared_.end()) return found->second;
  shared_.emplace_back(name, outermost->add_input(outermost->fresh_name(name), value->type));
  return shared_.back().second;
}

bool Frame::can_be_described(const tfl::Operator& op) const {
  if (op.options.is_unknown() || std::ranges::find(op.outputs, tfl::kNoTensor) != op.outputs.end()) return false;
  for (const auto* list : {&op.inputs, &op.outputs, &op.intermediates})
    for (const std::int32_t t : *list) {
      if (t == tfl::kNoTensor) continue;
      const tfl::Tensor& source = tensor(t);
      const bool has_details = source.quantization && source.quantization->details.index() != 0;
      if (has_details || (source.sparsity && is_setting(source))) return false;
    }
  return true;
}

void Frame::translate_as_function(const tfl::Operator& op, const Row& row, const std::string& node_name) {
  auto function = std::make_unique<Function>();
  Graph& body = *function->body;
  Frame inner(import_, index_, body);
  inner.builder_.name_after(node_name);
  std::vector<std::unique_ptr<Lent>> lent;
  std::vector<std::int32_t> inputs;
  for (const std::int32_t t : op.inputs) {
    if (t == tfl::kNoTensor || std::ranges::find(inputs, t) != inputs.end()) continue;
    const tfl::Tensor& source = tensor(t);
    const bool is_state = source.is_variable && !has_value(t);
    const bool is_known = !is_state && !has_value(t) && constant(t).has_value();
    if (is_known && is_setting(source)) continue;
    if (!is_state && !is_known && !has_value(t) && resolved(t) == t) continue;  // nothing writes it, nobody may read it
    const Type type =
        is_state ? Type::tensor(dtype(source), Shape(source.shape.begin(), source.shape.end())) : stored(t)->type;
    Value* formal = body.add_input(body.fresh_name(source.name.empty() ? "x" : source.name), type);
    inputs.push_back(t);
    if (is_state) {
      lent.push_back(std::make_unique<Lent>(state(t), t, formal));
    } else {
      formal->known_ints = stored(t)->known_ints;
      inner.set(t, formal);
    }
  }
  Op view(inner, op, row);
  row.translate(view);

  std::vector<std::int32_t> outputs;
  for (const std::int32_t t : op.outputs)
    if (t != tfl::kNoTensor && inner.has_value(t)) {
      add_result(body, inner.stored(t));
      outputs.push_back(t);
    }
  std::vector<Variable*> written;
  for (const auto& one : lent)
    if (Value* next = one->next()) {
      add_result(body, next);
      outputs.push_back(one->tensor());
      written.push_back(&one->variable());
    }
  // Layers over whole sequences start anew in each run: they do not read what the variable holds.
  std::vector<bool> is_read;
  for (const Value* formal : body.inputs()) is_read.push_back(!formal->uses().empty());
  Values arguments;
  std::vector<std::int32_t> kept;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto loan = std::ranges::find(lent, inputs[i], [](const auto& one) { return one->tensor(); });
    if (loan != lent.end()) (*loan)->give_back();
    if (loan != lent.end() && !is_read[i]) continue;
    arguments.push_back(loan == lent.end() ? stored(inputs[i]) : import_.read((*loan)->variable(), builder_.graph()));
    kept.push_back(inputs[i]);
  }
  for (const auto& [shared_name, formal] : inner.shared_) arguments.push_back(import_.shared.at(shared_name));
  std::unordered_set<const Value*> unread;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (std::ranges::find(kept, inputs[i]) == kept.end()) unread.insert(body.inputs()[i]);
  body.erase_inputs_if([&](const Value& v) { return unread.contains(&v); });

  function->domain = kTfliteDomain;
  const std::string name = identifier(tfl::describe(op.code));
  const int number = ++import_.function_names[name];
  function->name = number == 1 ? name : name + "__" + std::to_string(number);
  function->attributes = {std::string(kOperator)};
  function->opsets.set("", ops::newest_opset(""));

  std::string description = tfl::lone_operator(import_.source, source_, op, kept, outputs);
  Node* call =
      builder_.node(function->name, kTfliteDomain, arguments, {{kOperator, std::move(description)}}, outputs.size());
  std::size_t i = 0;
  for (; i < outputs.size() - written.size(); ++i) {
    call->output(i)->type = body.output(i)->type;
    call->output(i)->known_ints = body.output(i)->known_ints;
    set(outputs[i], call->output(i));
  }
  for (Variable* variable : written) {
    call->output(i)->type = body.output(i)->type;
    variable->current = call->output(i++);
    variable->is_written = true;
  }
  import_.functions.push_back(std::move(function));
}

}  // namespace ingot::frontends::tflite
