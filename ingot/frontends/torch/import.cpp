// From an archive to a model: inputs, what the code does, outputs; and what could not be translated.
#include "ingot/frontends/torch/import.h"

#include <fmt/format.h>

#include <set>

#include "ingot/base/error.h"
#include "ingot/formats/torch/interface_file.h"
#include "ingot/frontends/torch/finish.h"
#include "ingot/frontends/torch/interface.h"
#include "ingot/frontends/torch/interpreter.h"
#include "ingot/frontends/torch/module_reader.h"
#include "ingot/ops/known.h"

namespace ingot::frontends::torch {
namespace {

constexpr int kMostRestarts = 64;

Item root_of(const formats::torch::Saved& saved, ModuleReader& reader) {
  Item root = reader.read(saved.root(), "");
  const ObjectRef* object = root.get<ObjectRef>();
  if (!object || !(*object)->type) throw Error(Code::bad_source_graph, "the archive holds no module with code");
  return root;
}

const script::Function& method_of(const Object& root, const std::string& wanted) {
  const std::string name = wanted.empty() ? "forward" : wanted;
  if (const script::Function* method = find_method(*root.type, name)) return *method;
  std::string known;
  for (const script::Function& f : root.type->methods) known += (known.empty() ? "" : ", ") + f.name;
  throw Error(Code::unknown_name, fmt::format("the module '{}' has no method '{}'", root.type->name, name))
      .hint(known.empty() ? "it has none at all" : "--signature names another one: " + known);
}

/// Whether the user says something of an argument, or of a part of it.
bool is_told_of(const std::vector<InputFacts>& facts, const std::string& name) {
  return std::ranges::any_of(facts, [&](const InputFacts& f) {
    return (f.is_told || f.value) && (f.name == name || f.name.starts_with(name + "_"));
  });
}

/// What a caller must give is an input, and what the user tells of; the rest has its defaults.
NamedItems make_inputs(Translation& t, const script::Function& method, std::vector<InputFacts>& facts) {
  for (const InputFacts& fact : facts)
    if (fact.value &&
        std::ranges::find(method.parameters, fact.name, &script::Parameter::name) == method.parameters.end())
      throw Error(Code::unknown_name, fmt::format("'{}' takes no '{}'", method.name, fact.name));
  NamedItems args;
  for (std::size_t i = 1; i < method.parameters.size(); ++i) {
    const script::Parameter& parameter = method.parameters[i];
    if (parameter.otherwise && !is_told_of(facts, parameter.name))
      t.notes.add(fmt::format("the argument '{}' has its default value", parameter.name));
    else
      args.emplace_back(parameter.name, make_input(t, parameter, facts));
  }
  return args;
}

/// Where the code refuses what was guessed of an input's rank, one axis more is tried.
bool guess_again(std::vector<InputFacts>& facts) {
  for (InputFacts& fact : facts) {
    if (!fact.is_guess || !fact.shape || fact.shape->size() >= 4) continue;
    fact.shape->insert(fact.shape->begin(), Dim());
    return true;
  }
  return false;
}

/// What the archive itself says of inputs, where the user says nothing.
void add_stated(std::vector<InputFacts>& facts, const formats::torch::InterfaceFile& stated) {
  for (const auto& input : stated.inputs) {
    InputFacts& fact = facts_of(facts, input.name);
    if (fact.dtype == DType::undefined) fact.dtype = input.dtype;
    if (fact.shape || !input.shape) continue;
    fact.shape.emplace();
    for (const auto& size : *input.shape)
      fact.shape->push_back(size.number >= 0 ? Dim(size.number) : Dim::symbol(size.name));
  }
}

/// Refuses shapes and types that were told of inputs which there are not.
void check_told(const std::vector<InputFacts>& facts, const Graph& graph) {
  for (const InputFacts& fact : facts) {
    if (!fact.is_told || fact.value ||
        std::ranges::any_of(graph.inputs(), [&](const Value* v) { return v->name() == fact.name; }))
      continue;
    std::string known;
    for (const Value* input : graph.inputs()) known += (known.empty() ? "" : ", ") + input->name();
    throw Error(Code::unknown_name, fmt::format("the model has no input '{}'", fact.name))
        .hint("its inputs are: " + known);
  }
}

/// The parameters of a module and those inside it, each once.
void add_parameters(const Object& module, std::set<const void*>& seen, std::vector<Parameter>& found) {
  if (!module.type || !seen.insert(&module).second) return;
  for (const std::string& name : module.type->parameters) {
    const auto held = module.attributes.find(name);
    const TensorRef* tensor = held == module.attributes.end() ? nullptr : held->second.get<TensorRef>();
    if (tensor && (*tensor)->value && seen.insert(tensor->get()).second)
      found.push_back({(*tensor)->value->name(), (*tensor)->requires_grad});
  }
  for (const script::Field& field : module.type->fields) {
    const auto held = module.attributes.find(field.name);
    const ObjectRef* inner = held == module.attributes.end() ? nullptr : held->second.get<ObjectRef>();
    if (inner) add_parameters(**inner, seen, found);
  }
}

/// A tensor of the file that the code left changed.
struct Changed {
  std::string name;
  Value* now = nullptr;  // null: it is no plain tensor any more
};

std::vector<Changed> changed_tensors(Translation& t, const ObjectRef& root) {
  std::vector<Changed> found;
  for (const Journal::Change& change : t.journal.end()) {
    if (const auto* tensor = std::get_if<TensorRef>(&change.place.owner)) {
      const Value* before = change.before.tensor;
      if (before && before->initializer && !before->producer() && !before->name().starts_with("CONSTANTS."))
        found.push_back({before->name(), t.read(*tensor)});
      continue;
    }
    const auto* owner = std::get_if<ObjectRef>(&change.place.owner);
    if (!owner || ((*owner)->path.empty() && *owner != root)) continue;
    const Item& now = (*owner)->attributes[change.place.attribute];
    const TensorRef* tensor = now.get<TensorRef>();
    found.push_back({(*owner)->path.empty() ? change.place.attribute : (*owner)->path + "." + change.place.attribute,
                     tensor ? t.read(*tensor) : nullptr});
  }
  return found;
}

/// What was changed goes out beside the results; false: it must come in too, so that the translation begins anew.
bool add_state(Translation& t, const std::vector<Changed>& changed, std::set<std::string>& state) {
  bool is_complete = true;
  for (const Changed& one : changed) {
    const Value* stored = t.main().find(one.name);
    const bool is_held = stored && stored->initializer;
    if (is_held && one.now && state.insert(one.name).second) is_complete = false;
    if (is_held && one.now && stored->is_input()) add_state_output(t, one.name, one.now);
  }
  return is_complete;
}

Imported translate(const formats::torch::Archive& archive, const ImportOptions& options, std::vector<InputFacts>& facts,
                   std::set<std::string>& state) {
  Imported result;
  result.model = empty_model("main");
  Model& model = result.model;
  Translation t(*model.graph, options.allow_custom, options.budget);
  Program program(archive);
  const formats::torch::Saved data = archive.saved("data"), constants = archive.saved("constants");
  t.is_trainable = options.is_trainable;
  ModuleReader reader(t, program, data, state), constant_reader(t, program, constants, state);
  const Item root = root_of(data, reader);
  const ObjectRef& module = *root.get<ObjectRef>();
  model.graph->name = module->type->name;
  std::vector<Item> listed;
  for (const formats::pickle::Ref constant : formats::pickle::items_of(constants.root()))
    listed.push_back(constant_reader.read(*constant, fmt::format("CONSTANTS.c{}", listed.size())));
  for (const Item& constant : listed)
    if (const TensorRef* tensor = constant.get<TensorRef>()) (*tensor)->is_number = rank_of((*tensor)->value) == 0;

  Interpreter interpreter(t, program, std::move(listed));
  for (const ModuleReader* from : {&constant_reader, &reader})
    for (const ObjectRef& object : from->restored())
      (void)interpreter.call_method(object, "__setstate__", {object->attributes["__state__"]}, {});
  std::set<const void*> seen;
  add_parameters(*module, seen, result.parameters);
  const script::Function& method = method_of(*module, options.method);
  const NamedItems args = make_inputs(t, method, facts);
  check_told(facts, *model.graph);
  t.journal.begin();
  Item output;
  try {
    output = interpreter.call_method(module, method.name, {}, args);
  } catch (const Raised& raised) {
    if (guess_again(facts)) throw Demand{};
    throw Error(Code::bad_source_graph, "the code raises an exception for these inputs: " + raised.message)
        .hint("--input-shape tells the shapes of inputs");
  }
  t.problems.throw_if_any(
      "--allow-custom NAME keeps an operator as a custom node; --input-shape tells the shapes of inputs");
  const std::vector<Changed> changed = changed_tensors(t, module);
  t.name_after("output", "");
  add_outputs(t, output);
  if (const auto stated = formats::torch::interface_of(archive); stated && options.method.empty())
    name_outputs(*model.graph, stated->outputs);
  if (options.keeps_state && !add_state(t, changed, state)) throw Demand{};
  put_state_last(*model.graph);
  for (const Changed& one : changed)
    if (!state.contains(one.name))
      t.notes.add(fmt::format("the module changes '{}' while it runs; the model begins each run with the file's value",
                              one.name));
  finish(model);
  result.notes = t.notes.take();
  return result;
}

}  // namespace

Imported import_script(const formats::torch::Archive& archive, const ImportOptions& options) {
  std::vector<InputFacts> facts;
  for (const auto& [name, shape] : options.input_shapes)
    facts.push_back({.name = name, .shape = shape, .is_told = true});
  for (const auto& [name, dtype] : options.input_types) {
    if (dtype == DType::string)
      throw Error(Code::bad_usage, fmt::format("'{}' cannot be of strings: PyTorch has no tensors of them", name));
    facts_of(facts, name).dtype = dtype;
    facts_of(facts, name).is_told = true;
  }
  for (const auto& [name, value] : options.input_values) facts_of(facts, name).value = value;
  const auto stated = formats::torch::interface_of(archive);
  if (stated && options.method.empty()) add_stated(facts, *stated);
  std::set<std::string> state;
  for (int i = 0;; ++i) {
    try {
      return translate(archive, options, facts, state);
    } catch (const Demand& demand) {
      if (i > kMostRestarts)
        throw Error(Code::shape_needed, "the shapes of the inputs cannot be found out")
            .hint("--input-shape tells them");
      if (demand.input.empty()) continue;
      if (demand.is_new) {
        (void)facts_of(facts, demand.input);
        continue;
      }
      const auto known = std::ranges::find(facts, demand.input, &InputFacts::name);
      if (known == facts.end()) throw Error(Code::internal, "an input is asked for that there is not");
      if (demand.shape) {
        known->shape = demand.shape;
        known->is_guess = demand.is_guess;
      }
      if (demand.dtype != DType::undefined) known->dtype = demand.dtype;
    }
  }
}

}  // namespace ingot::frontends::torch
