// Where a graph begins and ends: inputs, outputs, and what is in between without a translation.
#include <algorithm>
#include <set>

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/constants.h"
#include "ingot/frontends/tensorflow/pipelines.h"
#include "ingot/frontends/tensorflow/table.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

std::string node_of(const std::string& tensor) { return tensor.substr(0, tensor.find(':')); }

/// A tensor's name as people write it: without ":0".
std::string plain(const std::string& tensor) {
  return tensor.ends_with(":0") ? tensor.substr(0, tensor.size() - 2) : tensor;
}

/// Whether the operator only works when the program that made the graph saves, logs or initialises.
bool is_side_work(std::string_view op) {
  constexpr std::string_view kSideWork[] = {
      "Assert",
      "Assign",
      "AssignAddVariableOp",
      "AssignSubVariableOp",
      "AssignVariableOp",
      "Const",
      "FileWriter",
      "ImportEvent",
      "Iterator",
      "IteratorV2",
      "MakeIterator",
      "NoOp",
      "OneShotIterator",
      "Placeholder",
      "Print",
      "PrintV2",
      "RestoreV2",
      "SaveV2",
      "ShardedFilename",
      "Stack",
      "VarHandleOp",
      "VariableV2",
      "WriteFile",
      "WriteScalarSummary",
      "WriteSummary",
      "MergeV2Checkpoints",
      "Variable",
      "PlaceholderV2",
      "InitializeTableV2",
      "LookupTableImportV2",
      "InitializeTableFromTextFileV2",
      "Restore",
      "RestoreSlice",
      "Save",
      "SaveSlices",
      "VarIsInitializedOp",
      "IsVariableInitialized",
      "InitializeTable",
      "InitializeTableFromTextFile",
      "HashTableV2",
      "HashTable",
      "MutableHashTableV2",
      "TensorArrayCloseV3",
      "Send",
      "_Send",
      "_Retval",
  };
  return std::ranges::find(kSideWork, op) != std::end(kSideWork) || op.ends_with("Summary") ||
         op.ends_with("SummaryV2") || op.starts_with("Apply") || op.starts_with("ResourceApply") ||
         op.starts_with("SparseApply") || op.starts_with("ResourceSparseApply") || op.starts_with("Queue") ||
         op.ends_with("Queue") || op.ends_with("QueueV2") || op.find("Dataset") != op.npos;
}

/// The first graphs wrote the shape of a placeholder without a shape as that of a scalar.
constexpr std::int64_t kFirstProducerWithScalars = 24;

template <class T> const T* attr_of(const tf::NodeDef& node, std::string_view name) {
  const tf::AttrValue* attr = node.find(name);
  return attr ? std::get_if<T>(attr) : nullptr;
}

Shape named_dims(const tf::TensorShape& shape, const std::string& name) {
  Shape dims;
  for (std::size_t i = 0; i < shape.dims.size(); ++i)
    dims.push_back(shape.dims[i] < 0 ? Dim::symbol(name + "_" + std::to_string(i)) : Dim(shape.dims[i]));
  return dims;
}

/// What a node says about its first output.
Type stated_type(const tf::NodeDef& node, std::int32_t port, std::int64_t producer, const std::string& name) {
  if (const auto* tensor = attr_of<std::shared_ptr<const tf::TensorProto>>(node, "value"); tensor && node.op == "Const")
    return Type::tensor(tf::dtype_of((*tensor)->dtype), named_dims((*tensor)->shape, name));
  Type type = Type::tensor(DType::undefined);
  for (const std::string_view key : {"dtype", "T", "DstT", "out_type", "output_type"})
    if (const auto* t = attr_of<tf::DataType>(node, key); t && type.elem == DType::undefined)
      type.elem = tf::dtype_of(*t);
  const tf::TensorShape* shape = attr_of<tf::TensorShape>(node, "shape");
  if (const auto* list = attr_of<std::shared_ptr<const tf::AttrList>>(node, "_output_shapes"))
    if (static_cast<std::size_t>(port) < (*list)->shapes.size())
      shape = &(*list)->shapes[static_cast<std::size_t>(port)];
  const bool is_old_unknown = shape && shape->dims.empty() && producer < kFirstProducerWithScalars;
  if (shape && !shape->unknown_rank && !is_old_unknown) type.shape = named_dims(*shape, name);
  return type;
}

}  // namespace

void Translation::find_ports() {
  const auto named = [&](const std::vector<std::string>& tensors) {
    std::vector<Port> ports;
    for (const std::string& tensor : tensors) {
      const std::size_t equals = tensor.find('=');  // name=tensor
      if (equals == std::string::npos) {
        ports.push_back({plain(tensor), tensor});
      } else {
        ports.push_back({tensor.substr(0, equals), tensor.substr(equals + 1)});
      }
    }
    return ports;
  };
  inputs_ = options_.inputs.empty() ? options_.signature_inputs : named(options_.inputs);
  outputs_ = options_.outputs.empty() ? options_.signature_outputs : named(options_.outputs);
  for (const std::vector<Port>* ports : {&inputs_, &outputs_})
    for (const Port& port : *ports)
      if (main_->find(node_of(port.tensor)) < 0)
        throw Error(Code::unknown_name, "the graph has no node '" + node_of(port.tensor) + "'");
  const bool has_training = !options_.train_outputs.empty();
  if (outputs_.empty() && !has_training) {
    found_outputs_ = true;
    find_sinks();
    if (options_.mode != ImportMode::inference) drop_beginnings();
  }
  if (outputs_.empty() && !has_training) {  // a graph that was folded away: its constants are its results
    for (std::size_t i = 0; i < main_->size(); ++i) {
      const tf::NodeDef& node = main_->node(static_cast<std::int32_t>(i));
      const bool is_input = std::ranges::any_of(inputs_, [&](const Port& p) { return node_of(p.tensor) == node.name; });
      if (node.op == "Const" && !is_input) outputs_.push_back({node.name, node.name});
    }
  }
  if (outputs_.empty() && !has_training)
    throw Error(Code::bad_source_graph, "the graph has no output: whatever it computes is only stored or logged")
        .hint("name the outputs with --outputs");
  // Other placeholders that outputs depend on are inputs too, and what a program's own pipeline brings.
  const std::vector<std::int32_t> needed = reachable();
  std::set<std::pair<std::int32_t, std::int32_t>> brought;
  for (const std::int32_t i : needed)
    for (const Source& s : main_->inputs(i))
      if (s.node >= 0 && ends_pipeline(main_->node(s.node).op)) brought.emplace(s.node, s.port);
  std::string names;
  for (const auto& [node, port] : brought) {
    const std::string tensor = main_->node(node).name + ":" + std::to_string(port);
    const Source source{node, port};
    const bool is_known =
        std::ranges::any_of(inputs_, [&](const Port& p) { return main_->resolve(p.tensor) == source; });
    if (is_known) continue;
    Port input{plain(tensor), tensor};
    const Type type = pipeline_type(*main_, node, port, input.name);
    input.dtype = type.elem;
    input.shape = type.shape;
    names += (names.empty() ? "" : ", ") + input.name;
    inputs_.push_back(std::move(input));
  }
  if (!names.empty()) note("what the graph's own pipeline would read is an input instead: " + names);
  for (const std::int32_t i : needed) {
    const tf::NodeDef& node = main_->node(i);
    if (node.op != "Placeholder" && node.op != "PlaceholderV2") continue;
    const bool is_known = std::ranges::any_of(inputs_, [&](const Port& p) { return node_of(p.tensor) == node.name; });
    if (!is_known) inputs_.push_back({node.name, node.name});
  }
}

namespace {

/// What a training program adds: gradients and the check of an assertion. Names are all that tells them.
bool is_added_work(const tf::NodeDef& node) {
  return is_side_work(node.op) || node.name.starts_with("gradients") ||
         node.name.find("/gradients") != std::string::npos || node.name.find("/AssertGuard/") != std::string::npos;
}

}  // namespace

/// Nodes whose value nobody reads, apart from those that save, log, initialise or train.
void Translation::find_sinks() {
  const std::size_t count = main_->size();
  std::vector<bool> is_read(count, false), is_saving(count, false);
  for (std::size_t i = 0; i < count; ++i)
    for (const Source& s : main_->inputs(static_cast<std::int32_t>(i)))
      if (s.node >= 0 && !is_added_work(main_->node(static_cast<std::int32_t>(i))))
        is_read[static_cast<std::size_t>(s.node)] = true;
  // What waits for a saving or restoring node is part of that work.
  std::vector<std::vector<std::size_t>> waiting(count);
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& op = main_->node(static_cast<std::int32_t>(i)).op;
    is_saving[i] = op == "SaveV2" || op == "RestoreV2" || op == "SaveSlices" || op == "RestoreSlice" || op == "Save" ||
                   op == "Restore";
    if (is_saving[i]) pending.push_back(i);
    for (const Source& s : main_->inputs(static_cast<std::int32_t>(i)))
      if (s.node >= 0) waiting[static_cast<std::size_t>(s.node)].push_back(i);
    for (const std::int32_t c : main_->controls(static_cast<std::int32_t>(i)))
      waiting[static_cast<std::size_t>(c)].push_back(i);
  }
  while (!pending.empty()) {
    const std::size_t saving = pending.back();
    pending.pop_back();
    for (const std::size_t i : waiting[saving]) {
      if (is_saving[i]) continue;
      is_saving[i] = true;
      pending.push_back(i);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const tf::NodeDef& node = main_->node(static_cast<std::int32_t>(i));
    if (!is_read[i] && !is_saving[i] && !is_added_work(node)) outputs_.push_back({node.name, node.name});
  }
}

std::vector<std::int32_t> Translation::reachable() const {
  std::vector<bool> seen(main_->size(), false);
  std::vector<std::int32_t> stack, found;
  std::set<std::pair<std::int32_t, std::int32_t>> cut;
  for (const Port& port : inputs_) {
    const Source s = main_->resolve(port.tensor);
    cut.emplace(s.node, s.port);
  }
  const auto visit = [&](Source s) {
    if (s.node < 0 || seen[static_cast<std::size_t>(s.node)] || cut.contains({s.node, s.port})) return;
    seen[static_cast<std::size_t>(s.node)] = true;
    stack.push_back(s.node);
  };
  for (const Port& port : outputs_) visit(main_->resolve(port.tensor));
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    for (const Source& s : main_->inputs(node)) visit(s);
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i]) found.push_back(static_cast<std::int32_t>(i));
  return found;
}

/// All operators without a translation, also in functions, so that one message names them all.
void Translation::check_operators() {
  std::set<std::string_view> called;
  std::vector<const tf::FunctionDef*> functions;
  const auto check = [&](const tf::NodeDef& node) {
    const auto call = [&](const std::string& name) {
      const tf::FunctionDef* function = find_function(name);
      if (function && called.insert(function->name).second) functions.push_back(function);
    };
    for (const tf::Attr& attr : node.attrs) {
      if (const auto* f = std::get_if<std::shared_ptr<const tf::FunctionName>>(&attr.value)) call((*f)->name);
      if (const auto* l = std::get_if<std::shared_ptr<const tf::AttrList>>(&attr.value))
        for (const auto& f : (*l)->functions) call(f->name);
    }
    constexpr std::string_view kOldFlow[] = {"Exit", "Merge", "RefExit", "RefMerge"};
    if (find_function(node.op)) return call(node.op);
    if (find_translator(node.op) || custom_domain(node.op) ||
        std::ranges::find(kOldFlow, node.op) != std::end(kOldFlow))
      return;
    is_bad_graph_ = false;
    fail(node, "there is no translation");
  };
  for (const std::int32_t i : reachable()) check(main_->node(i));
  for (std::size_t i = 0; i < functions.size(); ++i) {
    // Only what a function's results need: the rest is there for its side effects.
    const Body& body = body_of(*functions[i]);
    std::vector<bool> seen(body.size(), false);
    std::vector<std::int32_t> stack;
    const auto visit = [&](Source s) {
      if (s.node < 0 || seen[static_cast<std::size_t>(s.node)]) return;
      seen[static_cast<std::size_t>(s.node)] = true;
      stack.push_back(s.node);
    };
    for (const auto& [name, value] : functions[i]->returns) visit(body.resolve(value));
    while (!stack.empty()) {
      const std::int32_t node = stack.back();
      stack.pop_back();
      check(body.node(node));
      for (const Source& s : body.inputs(node)) visit(s);
    }
  }
}

void Translation::add_input(const Port& port) {
  const Source source = main_->resolve(port.tensor);
  Type type = stated_type(main_->node(source.node), source.port, graph_.producer, port.name);
  if (port.dtype != DType::undefined) type.elem = port.dtype;
  if (port.shape) type.shape = port.shape;
  for (const auto& [name, shape] : options_.input_shapes) {
    if (name != port.name) continue;
    Shape wanted = shape;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].is_unknown() && type.shape && type.shape->size() == wanted.size()) wanted[i] = (*type.shape)[i];
    type.shape = std::move(wanted);
  }
  if (type.elem == DType::undefined)
    throw Error(Code::unsupported_setting, "the element type of input '" + port.name + "' is not known");
  Value* input = model_.graph->add_input(port.name, std::move(type));
  input->is_declared = true;
  cuts_[{source.node, source.port}] = input;
}

}  // namespace ingot::frontends::tensorflow
