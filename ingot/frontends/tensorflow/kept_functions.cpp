// Calls of functions that stay calls: model-local functions of ONNX, one for each combination of argument types.
#include "ingot/frontends/tensorflow/kept_functions.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "ingot/frontends/tensorflow/translation.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/schema.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::string_view kDomain = "tensorflow.function";
constexpr std::int64_t kMostElements = 64;

/// Axes, shapes and the like tell a translator how, not what: they are part of the function, not its inputs.
bool is_setting(const Value* value) {
  const Tensor* constant = ops::constant_of(value);
  return constant && constant->size() <= kMostElements && (!is_float(constant->dtype()) || constant->dims().empty());
}

std::string content(const Tensor& tensor) {
  std::string text;
  if (tensor.dtype() != DType::string) return std::string(tensor.bytes().text());
  for (const std::string& s : tensor.strings()) text += std::to_string(s.size()) + ':' + s;
  return text;
}

bool takes_attributes(const tf::FunctionDef& function) {
  return std::ranges::any_of(function.nodes, [](const tf::NodeDef& node) {
    return std::ranges::any_of(
        node.attrs, [](const tf::Attr& attr) { return std::holds_alternative<tf::AttrPlaceholder>(attr.value); });
  });
}

/// What the function's translation depends on.
std::string key_of(const Translation& t, const tf::FunctionDef& function, const Operands& arguments,
                   const std::vector<tf::Attr>* attrs) {
  std::string key = function.name;
  if (takes_attributes(function)) key += '@' + std::to_string(reinterpret_cast<std::uintptr_t>(attrs));
  for (const Operand& argument : arguments) {
    key += '|';
    if (argument.resource) key += '#' + argument.resource->name;
    if (!argument.value) continue;
    key += argument.value->type.str();
    if (t.is_complex(argument.value)) key += 'c';
    if (is_setting(argument.value)) key += '=' + content(*ops::constant_of(argument.value));
    if (argument.value->known_ints)
      for (const Dim& d : *argument.value->known_ints) key += ',' + d.str();
  }
  return key;
}

/// ONNX wants the names of functions to be identifiers.
std::string identifier(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name.insert(name.begin(), '_');
  return name;
}

/// What the graph and those in it read from around them, in the order of reading.
Values outer_values(Graph& graph) {
  std::unordered_set<const Graph*> own;
  for_each_graph(graph, [&](Graph& g) { own.insert(&g); });
  Values found;
  std::unordered_set<const Value*> seen;
  const auto visit = [&](Value* v) {
    if (v && !own.contains(&v->graph()) && seen.insert(v).second) found.push_back(v);
  };
  for_each_graph(graph, [&](Graph& g) {
    for (const Node& node : g.nodes())
      for (Value* v : node.inputs()) visit(v);
    for (Value* v : g.outputs()) visit(v);
  });
  return found;
}

/// The graph as a function's body, with what it reads from outside as further inputs, which are returned.
Values fill_body(Function& function, Graph& graph, const OpsetImports& opsets) {
  Graph& body = *function.body;
  GraphBuilder g(body);
  Graph::ValueMap map;
  for (Value* input : graph.inputs()) {
    Value* formal = body.add_input(input->name(), input->type);
    formal->known_ints = input->known_ints;
    map[input] = formal;
  }
  const auto put_constant = [&](Value* value, const Tensor& tensor) {
    g.name_after(value->name());
    map[value] = g.constant(tensor);
  };
  Values captured;
  for (Value* value : outer_values(graph)) {
    const bool is_variable = !value->graph().parent() && is_float(value->type.elem);
    if (is_setting(value) && !is_variable) {
      put_constant(value, *ops::constant_of(value));
      continue;
    }
    Value* formal = body.add_input(body.fresh_name(value->name()), value->type);
    formal->known_ints = value->known_ints;
    map[value] = formal;
    captured.push_back(value);
  }
  for (Value* value : graph.initializers()) put_constant(value, *value->initializer);
  for (const Node& node : graph.nodes()) body.add_copy(node, map);
  for (Value* output : graph.outputs()) body.add_output(map.at(output));
  for_each_graph(body, [&](Graph& inner) {
    for (const Node& node : inner.nodes()) function.opsets.set(node.domain, opsets.version(node.domain));
  });
  return captured;
}

/// The graph as a function of the model, whose name it gives out; what it reads from outside is returned.
Values add_function(Model& model, const std::string& wanted, Graph& graph, std::string& name) {
  auto made = std::make_unique<Function>();
  made->domain = kDomain;
  const std::string plain = identifier(wanted);
  made->name = plain;
  for (int i = 1; model.find_function(kDomain, made->name); ++i) made->name = plain + "_" + std::to_string(i);
  name = made->name;
  Values captured = fill_body(*made, graph, model.opsets);
  made->opsets.set("", ops::newest_opset(""));
  model.functions.push_back(std::move(made));
  model.opsets.set(kDomain, 1);
  return captured;
}

}  // namespace

/// A function that has been written, and what a call of it gives.
struct KeptFunctions::Kept {
  struct Result {
    Operand through{};           // what does not depend on the call
    std::int32_t argument = -1;  // handed through
    std::int32_t output = -1;    // of the function
  };
  struct Output {
    Type type;
    std::shared_ptr<const std::vector<Dim>> known_ints;
    bool is_complex = false;
  };
  std::string name;
  std::vector<std::size_t> arguments;  // that are inputs of the function
  Values captured;
  std::vector<Output> outputs;
  std::vector<Result> results;
};

Operands KeptFunctions::call(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs,
                             GraphBuilder& g, const std::string& prefix) {
  if (inlined_.contains(function.name)) return t_.call(function, std::move(arguments), attrs, g.graph(), prefix);
  std::shared_ptr<Kept>& kept = kept_[key_of(t_, function, arguments, attrs)];
  if (!kept) {
    Problems problems = t_.problems();
    Notes notes = t_.notes();
    std::shared_ptr<Kept> made = translate(function, arguments, attrs, g.graph(), prefix);
    if (!made) {
      // Inside of the caller more is known of the arguments; what is still missing then is told.
      t_.problems() = std::move(problems);
      t_.notes() = std::move(notes);
      inlined_.insert(function.name);
      t_.note("function '" + function.name + "' is inlined: it cannot be translated without its caller");
      return t_.call(function, std::move(arguments), attrs, g.graph(), prefix);
    }
    kept = std::move(made);
  }
  Values inputs;
  for (const std::size_t i : kept->arguments) inputs.push_back(arguments[i].value);
  inputs.insert(inputs.end(), kept->captured.begin(), kept->captured.end());
  Node* node = kept->outputs.empty() ? nullptr : g.node(kept->name, kDomain, inputs, {}, kept->outputs.size());
  for (std::size_t i = 0; i < kept->outputs.size(); ++i) {
    const Kept::Output& output = kept->outputs[i];
    node->output(i)->type = output.type;
    node->output(i)->known_ints = output.known_ints;
    if (output.is_complex) t_.mark_complex(node->output(i));
  }
  Operands results;
  for (const Kept::Result& result : kept->results) {
    if (result.output >= 0)
      results.push_back({node->output(static_cast<std::size_t>(result.output))});
    else
      results.push_back(result.argument < 0 ? result.through : arguments[static_cast<std::size_t>(result.argument)]);
  }
  return results;
}

std::shared_ptr<KeptFunctions::Kept> KeptFunctions::translate(const tf::FunctionDef& function,
                                                              const Operands& arguments,
                                                              const std::vector<tf::Attr>* attrs, Graph& around,
                                                              const std::string& prefix) {
  auto kept = std::make_shared<Kept>();
  Graph graph(&around);
  struct Forget {  // what is marked within this graph goes with it
    std::set<const Value*>& complex;
    std::set<const Value*> before;
    ~Forget() { complex = std::move(before); }
  } forget{t_.complex_values(), t_.complex_values()};
  Operands formal = arguments;
  for (std::size_t i = 0; i < formal.size(); ++i) {
    const Value* given = formal[i].value;
    if (!given || is_setting(given)) continue;
    Value* input = graph.add_input(graph.fresh_name(function.inputs[i].name), given->type);
    input->known_ints = given->known_ints;
    if (t_.is_complex(given)) t_.mark_complex(input);
    formal[i].value = input;
    kept->arguments.push_back(i);
  }
  const std::size_t before = t_.problems().size();
  const Operands results = t_.call(function, formal, attrs, graph, prefix);
  if (t_.problems().size() != before || std::ranges::any_of(results, &Operand::is_missing)) return nullptr;
  for (const Operand& operand : results) {
    Kept::Result& result = kept->results.emplace_back();
    const auto argument = std::ranges::find(formal, operand.value, &Operand::value);
    if (operand.value && argument != formal.end()) {
      result.argument = static_cast<std::int32_t>(argument - formal.begin());
    } else if (!operand.value || &operand.value->graph() != &graph) {
      result.through = operand;
    } else if (const Tensor* constant = ops::constant_of(operand.value)) {
      GraphBuilder outside(t_.root());
      outside.name_after(prefix + "result");
      result.through = {outside.constant(*constant)};
    } else {
      const Values outputs = graph.outputs();
      const auto known = std::ranges::find(outputs, operand.value);
      result.output = static_cast<std::int32_t>(known - outputs.begin());
      if (known != outputs.end()) continue;
      graph.add_output(operand.value);
      kept->outputs.push_back({operand.value->type, operand.value->known_ints, t_.is_complex(operand.value)});
    }
  }
  if (kept->outputs.empty()) return kept;
  drop_unread(graph);
  kept->captured = add_function(t_.model(), function.name, graph, kept->name);
  return kept;
}

}  // namespace ingot::frontends::tensorflow
