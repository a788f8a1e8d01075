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

/// A variable whose value is a function's input while the function's body is written, then again what it was.
class ScopedVariable {
 public:
  ScopedVariable(Variable& variable, std::int32_t tensor, Value* formal)
      : variable_(variable),
        tensor_(tensor),
        formal_(formal),
        current_(variable.current),
        was_written_(variable.is_written) {
    variable.current = formal;
  }
  ~ScopedVariable() { restore(); }
  ScopedVariable(const ScopedVariable&) = delete;

  /// Its value as the body leaves it; null: as it was.
  Value* next() const { return variable_.current == formal_ ? nullptr : variable_.current; }
  Variable& variable() const { return variable_; }
  std::int32_t tensor() const { return tensor_; }
  void restore() {
    if (is_restored_) return;
    variable_.current = current_;
    variable_.is_written = was_written_;
    is_restored_ = true;
  }

 private:
  Variable& variable_;
  std::int32_t tensor_;
  Value *formal_, *current_;
  bool was_written_, is_restored_ = false;
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

/// The inputs of a function's body: the tensors that they stand for, and the variables among them.
struct Formals {
  std::vector<std::int32_t> tensors{};
  std::vector<std::unique_ptr<ScopedVariable>> variables{};
};

Formals add_inputs(Graph& body, Frame& inner, Frame& outer, const tfl::Operator& op) {
  Formals formals;
  for (const std::int32_t t : op.inputs) {
    if (t == tfl::kNoTensor || std::ranges::find(formals.tensors, t) != formals.tensors.end()) continue;
    const tfl::Tensor& source = outer.tensor(t);
    const bool is_state = source.is_variable && !outer.has_value(t);
    const bool is_known = !is_state && !outer.has_value(t) && outer.constant(t).has_value();
    if (is_known && is_setting(source)) continue;
    const bool is_made = is_state || is_known || outer.has_value(t) || outer.resolved(t) != t;
    if (!is_made) continue;  // nothing writes it, nobody may read it
    const Type type = is_state ? Type::tensor(outer.dtype(source), Shape(source.shape.begin(), source.shape.end()))
                               : outer.stored(t)->type;
    Value* formal = body.add_input(body.fresh_name(source.name.empty() ? "x" : source.name), type);
    formals.tensors.push_back(t);
    if (is_state) {
      formals.variables.push_back(std::make_unique<ScopedVariable>(outer.state(t), t, formal));
    } else {
      formal->known_ints = outer.stored(t)->known_ints;
      inner.set(t, formal);
    }
  }
  return formals;
}

/// The outputs of a function's body: the tensors that they stand for; of the last of them, variables.
struct Results {
  std::vector<std::int32_t> tensors{};
  std::vector<Variable*> written{};
};

Results add_outputs(Graph& body, Frame& inner, const tfl::Operator& op, const Formals& formals) {
  Results results;
  for (const std::int32_t t : op.outputs)
    if (t != tfl::kNoTensor && inner.has_value(t)) {
      add_result(body, inner.stored(t));
      results.tensors.push_back(t);
    }
  for (const auto& scoped : formals.variables)
    if (Value* next = scoped->next()) {
      add_result(body, next);
      results.tensors.push_back(scoped->tensor());
      results.written.push_back(&scoped->variable());
    }
  return results;
}

/// What a call passes, and the tensors that it stands for.
struct Arguments {
  Values values{};
  std::vector<std::int32_t> tensors{};
};

/// Restores the variables, and drops those that the body does not read: layers over whole sequences start anew in each
/// run, whatever the variable holds.
Arguments pass_arguments(Graph& body, Frame& outer, Formals& formals) {
  Arguments arguments;
  std::unordered_set<const Value*> unread;
  for (std::size_t i = 0; i < formals.tensors.size(); ++i) {
    const std::int32_t t = formals.tensors[i];
    const auto scoped = std::ranges::find(formals.variables, t, [](const auto& one) { return one->tensor(); });
    const bool is_variable = scoped != formals.variables.end();
    if (is_variable) (*scoped)->restore();
    if (is_variable && body.inputs()[i]->uses().empty()) {
      unread.insert(body.inputs()[i]);
      continue;
    }
    arguments.values.push_back(is_variable ? outer.import().read((*scoped)->variable(), outer.builder().graph())
                                           : outer.stored(t));
    arguments.tensors.push_back(t);
  }
  body.erase_inputs_if([&](const Value& v) { return unread.contains(&v); });
  return arguments;
}

std::string function_name(Import& import, const tfl::Operator& op) {
  const std::string name = identifier(tfl::describe(op.code));
  const int number = ++import.function_names[name];
  return number == 1 ? name : name + "__" + std::to_string(number);
}

}  // namespace

Value* Frame::shared(const std::string& name, const std::function<Tensor()>& make) {
  Value*& value = import_.shared[name];
  if (!value) value = import_.main->add_initializer(import_.main->fresh_name("tflite/" + name), make());
  Graph& outermost = outermost_of(builder_.graph());
  if (!outermost.is_function_body) return value;
  const auto found = std::ranges::find(shared_, name, &std::pair<std::string, Value*>::first);
  if (found != shared_.end()) return found->second;
  shared_.emplace_back(name, outermost.add_input(outermost.fresh_name(name), value->type));
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
  Formals formals = add_inputs(body, inner, *this, op);
  Op view(inner, op, row);
  row.translate(view);
  const Results results = add_outputs(body, inner, op, formals);
  Arguments arguments = pass_arguments(body, *this, formals);
  for (const auto& [shared_name, formal] : inner.shared_) arguments.values.push_back(import_.shared.at(shared_name));

  function->domain = kTfliteDomain;
  function->name = function_name(import_, op);
  function->attributes = {std::string(kOperator)};
  function->opsets.set("", ops::newest_opset(""));

  std::string description = tfl::lone_operator(import_.source, source_, op, arguments.tensors, results.tensors);
  Node* call = builder_.node(function->name, kTfliteDomain, arguments.values, {{kOperator, std::move(description)}},
                             results.tensors.size());
  std::size_t i = 0;
  for (; i < results.tensors.size() - results.written.size(); ++i) {
    call->output(i)->type = body.output(i)->type;
    call->output(i)->known_ints = body.output(i)->known_ints;
    set(results.tensors[i], call->output(i));
  }
  for (Variable* variable : results.written) {
    call->output(i)->type = body.output(i)->type;
    variable->current = call->output(i++);
    variable->is_written = true;
  }
  import_.functions.push_back(std::move(function));
}

}  // namespace ingot::frontends::tflite
