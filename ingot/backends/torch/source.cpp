// ONNX -> a Python module with layers of torch.nn.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "ingot/backends/torch/carriers.h"
#include "ingot/backends/torch/forward.h"
#include "ingot/backends/torch/layers.h"
#include "ingot/backends/torch/python_file.h"
#include "ingot/backends/torch/source_tree.h"
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::backends::torch {
namespace {

using formats::torch::NamedTensor;
using formats::torch::type_name;

/// Layers, tensors and their names while the code that uses them is written.
class ModuleWriter {
 public:
  explicit ModuleWriter(const Prepared& prepared) : prepared_(prepared) {
    for_each_graph(*prepared.model.graph, [&](Graph& graph) {
      for (const Node& node : graph.nodes()) plan(node);
    });
    for (const Value* value : prepared.model.graph->initializers())
      if (value->initializer && prepared.holdings.has(value->name()) && !claims_.contains(value))
        tree_.reserve(value->name());
  }

  /// The code that names a tensor of the module, which is part of it from then on.
  std::string own(const Value& value) {
    if (const auto claim = claims_.find(&value); claim != claims_.end()) {
      const Claim& c = claim->second;
      return tree_.expression(c.path, true) + "." + c.field + (c.is_transposed ? ".t()" : "");
    }
    if (!prepared_.holdings.has(value.name())) return {};
    const auto [known, is_new] = paths_.try_emplace(&value, value.name());
    if (is_new) {
      known->second = free_path(value.name(), [&](const std::string& path) {
        return !taken_.contains(SourceTree::state_name(path));
      });
      add_tensor(known->second, *value.initializer, prepared_.holdings.parameters.contains(value.name()), value.name());
    }
    return tree_.expression(known->second);
  }

  bool write(const NodeOut& n) const {
    const auto call = calls_.find(&n.node);
    if (call == calls_.end()) return false;
    if (call->second.input) n.set(tree_.expression(call->second.path, true) + "(" + n.s.name(call->second.input) + ")");
    return true;
  }

  void add_constants(const std::vector<formats::torch::StoredTensor>& constants) {
    for (std::size_t i = 0; i < constants.size(); ++i) {
      const auto& c = constants[i];
      add_tensor(fmt::format("constant{}", i), Tensor(c.dtype, c.dims, c.data), false, {});
    }
  }

  std::vector<std::string> statements() const { return tree_.statements(); }
  std::vector<NamedTensor> take_tensors() { return std::move(tensors_); }
  const std::map<std::string, std::string>& other_names() const { return other_names_; }

 private:
  struct Call {
    std::string path;
    const Value* input;  // null: another node's layer says it
  };
  struct Claim {
    std::string path, field, made;
    bool is_transposed;
  };

  void store(const std::string& name, const Tensor& tensor, const std::string& original) {
    const Tensor held = carried(tensor);
    taken_.insert(name);
    tensors_.push_back({.name = name, .dtype = held.dtype(), .dims = held.dims(), .data = held.bytes()});
    if (!original.empty() && original != name) other_names_[name] = original;
  }

  void add_tensor(const std::string& path, const Tensor& tensor, bool is_parameter, const std::string& original) {
    tree_.add_tensor(path, tensor, is_parameter);
    store(SourceTree::state_name(path), tensor, original);
  }

  void plan(const Node& node) {
    auto layer = layer_of(node, [&](const Value& v) { return prepared_.holdings.has(v.name()); });
    if (!layer) return;
    if (const DType dtype = layer->fields[0].tensor.dtype(); dtype != DType::f32)
      layer->made.insert(layer->made.size() - 1, ", dtype=torch." + std::string(type_name(dtype)));
    std::string path = known_path(*layer);
    const bool is_new = path.empty();
    if (is_new) {
      for (const Layer::Field& f : layer->fields)
        if (f.value && claims_.contains(f.value)) return;  // shared with a layer that is another one
      path = free_path(path_of(node, *layer), [&](const std::string& wanted) {
        return layer_paths_.insert(SourceTree::state_name(wanted + ".weight")).second;
      });
      tree_.add_layer(path, layer->made);
      for (const Layer::Field& f : layer->fields) claim(path, *layer, f);
    }
    calls_[&node] = {path, layer->input};
    for (const Node* part : layer->parts) calls_[part] = {path, nullptr};
  }

  void claim(const std::string& path, const Layer& layer, const Layer::Field& field) {
    if (field.value) claims_[field.value] = {path, field.name, layer.made, field.is_transposed};
    store(SourceTree::state_name(path + "." + field.name), field.tensor, field.value ? field.value->name() : "");
  }

  /// The layer that has just these tensors already; empty: there is none.
  std::string known_path(const Layer& layer) const {
    std::string path;
    for (const Layer::Field& f : layer.fields) {
      if (!f.value) continue;
      const auto claim = claims_.find(f.value);
      if (claim == claims_.end() || claim->second.made != layer.made || claim->second.field != f.name) return {};
      if (!path.empty() && claim->second.path != path) return {};
      path = claim->second.path;
    }
    return path;
  }

  /// The path, with a number behind it where it is taken.
  std::string free_path(const std::string& wanted, const std::function<bool(const std::string&)>& is_free) {
    std::string path = wanted;
    // Many names may be one name as Python writes them.
    for (int& next = next_numbers_[SourceTree::state_name(wanted)]; !is_free(path);)
      path = fmt::format("{}_{}", wanted, ++next);
    return path;
  }

  const Prepared& prepared_;
  SourceTree tree_;
  std::map<const Node*, Call> calls_;
  std::map<const Value*, Claim> claims_;
  std::map<const Value*, std::string> paths_;
  std::set<std::string> taken_, layer_paths_;
  std::unordered_map<std::string, int> next_numbers_;  // of paths that are one in Python
  std::vector<NamedTensor> tensors_;
  std::map<std::string, std::string> other_names_;  // in the state dictionary -> in ONNX
};

}  // namespace

Source to_source(const Model& source, const ExportOptions& options) {
  Prepared prepared = prepare(source, options);
  ModuleWriter writer(prepared);
  Script script(Dialect::source, [&](const Value& value) { return writer.own(value); });
  script.layer = [&](const NodeOut& n) { return writer.write(n); };
  const Signature signature = write_forward(script, *prepared.model.graph);
  writer.add_constants(script.constants());

  Source made{.code = {}, .weights = {}, .notes = std::move(prepared.notes)};
  PythonFile file("The network '" + source.graph->name + "' in PyTorch. Written by Ingot.");
  file.add_functions(script.functions());
  file.add_module(writer.statements(), signature, script.code());
  file.add_names(writer.other_names());
  file.add_loading();
  made.code = file.text();
  made.weights.tensors = writer.take_tensors();
  made.weights.metadata["format"] = "pt";
  return made;
}

}  // namespace ingot::backends::torch
