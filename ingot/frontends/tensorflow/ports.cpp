// Where a graph begins and ends.
#include "ingot/frontends/tensorflow/ports.h"

#include <algorithm>
#include <set>

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/pipelines.h"
#include "ingot/frontends/tensorflow/training_nodes.h"

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

/// What a training program adds: gradients and the check of an assertion. Names are all that tells them.
bool is_added_work(const tf::NodeDef& node) {
  return is_side_work(node.op) || node.name.starts_with("gradients") ||
         node.name.find("/gradients") != std::string::npos || node.name.find("/AssertGuard/") != std::string::npos;
}

/// Nodes that save or restore, and whatever waits for them.
std::vector<bool> saving_nodes(const Body& main) {
  const std::size_t count = main.size();
  std::vector<bool> is_saving(count, false);
  std::vector<std::vector<std::size_t>> waiting(count);
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& op = main.node(static_cast<std::int32_t>(i)).op;
    is_saving[i] = op == "SaveV2" || op == "RestoreV2" || op == "SaveSlices" || op == "RestoreSlice" || op == "Save" ||
                   op == "Restore";
    if (is_saving[i]) pending.push_back(i);
    for (const Source& s : main.inputs(static_cast<std::int32_t>(i)))
      if (s.node >= 0) waiting[static_cast<std::size_t>(s.node)].push_back(i);
    for (const std::int32_t c : main.controls(static_cast<std::int32_t>(i)))
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
  return is_saving;
}

/// Ports as users write them: "tensor" or "name=tensor".
std::vector<Port> named(const std::vector<std::string>& tensors) {
  std::vector<Port> ports;
  for (const std::string& tensor : tensors) {
    const std::size_t equals = tensor.find('=');
    if (equals == std::string::npos) {
      ports.push_back({plain(tensor), tensor});
    } else {
      ports.push_back({tensor.substr(0, equals), tensor.substr(equals + 1)});
    }
  }
  return ports;
}

bool any_of_node(const std::vector<Port>& ports, const std::string& node) {
  return std::ranges::any_of(ports, [&](const Port& p) { return node_of(p.tensor) == node; });
}

/// Nobody named the outputs: what nobody reads.
void find_outputs(const Body& main, const ImportOptions& options, Ports& ports) {
  ports.are_found = true;
  ports.outputs = find_sinks(main);
  if (options.mode != ImportMode::inference) drop_beginnings(main, ports.outputs);
  if (ports.outputs.empty()) {  // a graph that was folded away: its constants are its results
    for (std::size_t i = 0; i < main.size(); ++i) {
      const tf::NodeDef& node = main.node(static_cast<std::int32_t>(i));
      if (node.op == "Const" && !any_of_node(ports.inputs, node.name)) ports.outputs.push_back({node.name, node.name});
    }
  }
  if (ports.outputs.empty())
    throw Error(Code::bad_source_graph, "the graph has no output: whatever it computes is only stored or logged")
        .hint("name the outputs with --outputs");
}

/// What a program's own pipeline brings is an input.
void add_pipeline_inputs(const Body& main, const std::vector<std::int32_t>& needed, Ports& ports, Notes& notes) {
  std::set<std::pair<std::int32_t, std::int32_t>> brought;
  for (const std::int32_t i : needed)
    for (const Source& s : main.inputs(i))
      if (s.node >= 0 && ends_pipeline(main.node(s.node).op)) brought.emplace(s.node, s.port);
  std::string names;
  for (const auto& [node, port] : brought) {
    const std::string tensor = main.node(node).name + ":" + std::to_string(port);
    const Source source{node, port};
    const bool is_known =
        std::ranges::any_of(ports.inputs, [&](const Port& p) { return main.resolve(p.tensor) == source; });
    if (is_known) continue;
    Port input{plain(tensor), tensor};
    const Type type = pipeline_type(main, node, port, input.name);
    input.dtype = type.elem;
    input.shape = type.shape;
    names += (names.empty() ? "" : ", ") + input.name;
    ports.inputs.push_back(std::move(input));
  }
  if (!names.empty()) notes.add("what the graph's own pipeline would read is an input instead: " + names);
}

}  // namespace

Ports find_ports(const Body& main, const ImportOptions& options, Notes& notes) {
  Ports ports;
  ports.inputs = options.inputs.empty() ? options.signature_inputs : named(options.inputs);
  ports.outputs = options.outputs.empty() ? options.signature_outputs : named(options.outputs);
  for (const std::vector<Port>* side : {&ports.inputs, &ports.outputs})
    for (const Port& port : *side)
      if (main.find(node_of(port.tensor)) < 0)
        throw Error(Code::unknown_name, "the graph has no node '" + node_of(port.tensor) + "'");
  if (ports.outputs.empty() && options.train_outputs.empty()) find_outputs(main, options, ports);
  // Other placeholders that outputs depend on are inputs too.
  const std::vector<std::int32_t> needed = reachable(main, ports);
  add_pipeline_inputs(main, needed, ports, notes);
  for (const std::int32_t i : needed) {
    const tf::NodeDef& node = main.node(i);
    if (node.op != "Placeholder" && node.op != "PlaceholderV2") continue;
    if (!any_of_node(ports.inputs, node.name)) ports.inputs.push_back({node.name, node.name});
  }
  return ports;
}

std::vector<Port> find_sinks(const Body& main) {
  const std::size_t count = main.size();
  std::vector<bool> is_read(count, false);
  for (std::size_t i = 0; i < count; ++i)
    for (const Source& s : main.inputs(static_cast<std::int32_t>(i)))
      if (s.node >= 0 && !is_added_work(main.node(static_cast<std::int32_t>(i))))
        is_read[static_cast<std::size_t>(s.node)] = true;
  const std::vector<bool> is_saving = saving_nodes(main);
  std::vector<Port> sinks;
  for (std::size_t i = 0; i < count; ++i) {
    const tf::NodeDef& node = main.node(static_cast<std::int32_t>(i));
    if (!is_read[i] && !is_saving[i] && !is_added_work(node)) sinks.push_back({node.name, node.name});
  }
  return sinks;
}

std::vector<std::int32_t> reachable(const Body& main, const Ports& ports) {
  std::vector<bool> seen(main.size(), false);
  std::vector<std::int32_t> stack, found;
  std::set<std::pair<std::int32_t, std::int32_t>> cut;
  for (const Port& port : ports.inputs) {
    const Source s = main.resolve(port.tensor);
    cut.emplace(s.node, s.port);
  }
  const auto visit = [&](Source s) {
    if (s.node < 0 || seen[static_cast<std::size_t>(s.node)] || cut.contains({s.node, s.port})) return;
    seen[static_cast<std::size_t>(s.node)] = true;
    stack.push_back(s.node);
  };
  for (const Port& port : ports.outputs) visit(main.resolve(port.tensor));
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    for (const Source& s : main.inputs(node)) visit(s);
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i]) found.push_back(static_cast<std::int32_t>(i));
  return found;
}

}  // namespace ingot::frontends::tensorflow
