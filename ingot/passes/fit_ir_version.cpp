// What each IR version can hold, and how to make do with an older one.
#include "ingot/passes/fit_ir_version.h"

#include <algorithm>
#include <unordered_map>

#include "ingot/base/error.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {

std::int64_t ir_version_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return 4;
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return 9;
    case DType::u4:
    case DType::i4:
      return 10;
    case DType::f4e2m1:
      return 11;
    case DType::f8e8m0:
      return 12;
    case DType::u2:
    case DType::i2:
      return 13;
    default:
      return 3;
  }
}

namespace {

class Need {
 public:
  IrNeed result;

  void at_least(std::int64_t version, const std::string& why) {
    if (version > result.version) result = {version, why};
  }
  void type(const Type& t, const std::string& where) {
    if (t.kind == Type::Kind::optional) at_least(8, "the optional type of " + where);
    if (t.kind == Type::Kind::sparse_tensor) at_least(8, "the sparse type of " + where);
    if (t.kind != Type::Kind::map)
      at_least(ir_version_of(t.elem), "the element type " + std::string(name_of(t.elem)) + " of " + where);
    if (t.element) type(*t.element, where);
  }
  void value(const Value& v) {
    if (v.is_declared) type(v.type, "'" + v.name() + "'");
    if (!v.metadata.empty()) at_least(10, "the metadata of '" + v.name() + "'");
    if (v.initializer) tensor(*v.initializer, "'" + v.name() + "'");
    if (v.sparse_initializer) {
      at_least(6, "the sparse initializer '" + v.name() + "'");
      tensor(v.sparse_initializer->values, "'" + v.name() + "'");
    }
  }
  void tensor(const Tensor& t, const std::string& where) {
    at_least(ir_version_of(t.dtype()), "the element type " + std::string(name_of(t.dtype())) + " of " + where);
    if (t.notes && !t.notes->metadata.empty()) at_least(10, "the metadata of tensor " + where);
  }
  void attribute(const Attribute& a, const Node& node) {
    const std::string where = "attribute '" + a.name + "' of " + node.label();
    if (const auto* t = std::get_if<Tensor>(&a.value)) tensor(*t, where);
    if (const auto* ts = std::get_if<std::vector<Tensor>>(&a.value))
      for (const Tensor& t : *ts) tensor(t, where);
    if (const auto type = a.type(); type == AttrType::sparse_tensor || type == AttrType::sparse_tensors)
      at_least(6, where);
    if (const auto type = a.type(); type == AttrType::type_proto || type == AttrType::type_protos) at_least(8, where);
  }
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\\')
      out += "\\\\";
    else
      out += c;
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

std::size_t move_node_metadata_to_model(Model& model) {
  std::string lines;
  std::size_t count = 0;
  for (const GraphPlace& place : all_graphs(model)) {
    for (Node& node : place.graph->nodes()) {
      for (const auto& [key, value] : node.metadata) {
        lines += escaped(node.name) + '\t' + escaped(key) + '\t' + escaped(value) + '\n';
        ++count;
      }
      node.metadata.clear();
    }
  }
  if (count) model.metadata.emplace_back(kNodeMetadataProperty, std::move(lines));
  return count;
}

/// What Ingot's frontends noted at values; others' metadata stays, for the user to decide.
std::size_t drop_own_value_notes(Model& model) {
  std::size_t count = 0;
  const auto drop = [&](Value* v) {
    if (v) count += std::erase_if(v->metadata, [](const auto& entry) { return entry.first.starts_with("ingot."); });
  };
  for (const GraphPlace& place : all_graphs(model)) {
    for (Value* v : place.graph->inputs()) drop(v);
    for (Value* v : place.graph->initializers()) drop(v);
    for (const Node& node : place.graph->nodes())
      for (Value* v : node.outputs()) drop(v);
  }
  return count;
}

}  // namespace

IrNeed needed_ir_version(const Model& model) {
  Need need;
  if (!model.training.empty()) need.at_least(7, "the training information");
  if (!model.functions.empty()) need.at_least(8, "the functions of the model");
  if (!model.device_configurations.empty()) need.at_least(11, "the device configurations");
  for (const auto& f : model.functions) {
    if (!f->attribute_defaults.empty()) need.at_least(9, "the attribute defaults of function '" + f->name + "'");
    if (!f->overload.empty() || !f->metadata.empty())
      need.at_least(10, "the overload or metadata of function '" + f->name + "'");
  }
  for (const GraphPlace& place : all_graphs(model)) {
    const Graph& graph = *place.graph;
    if (!graph.quantization.empty()) need.at_least(5, "the quantization annotations");
    if (!graph.metadata.empty()) need.at_least(10, "the metadata of graph '" + graph.name + "'");
    for (const Value* v : graph.inputs()) need.value(*v);
    for (const Value* v : graph.initializers()) {
      if (!v->is_input()) need.at_least(4, "initializers that are not inputs");
      need.value(*v);
    }
    for (const Node& node : graph.nodes()) {
      if (!node.metadata.empty()) need.at_least(10, "the metadata of " + node.label());
      if (!node.overload.empty()) need.at_least(10, "the overload of " + node.label());
      if (!node.device_configurations.empty()) need.at_least(11, "the device configuration of " + node.label());
      for (const Value* v : node.outputs())
        if (v) need.value(*v);
      for (const Attribute& a : node.attributes) need.attribute(a, node);
    }
  }
  return need.result;
}

void take_defaults_for_constants(Model& model) {
  if (model.ir_version >= 4) return;
  // Before IR version 3 files did not say which operators they mean: there was one set of them.
  if (model.opsets.empty() && model.ir_version < 3) model.opsets.set("", 1);
  model.ir_version = 4;
  model.graph->close_defaults();
}

std::vector<std::string> fit_ir_version(Model& model, std::int64_t ir_version) {
  std::vector<std::string> done;
  if (ir_version < 8 && !model.functions.empty()) {
    const std::size_t count = model.functions.size();
    inline_functions(model);
    done.push_back("inlined " + std::to_string(count) + " functions: IR " + std::to_string(ir_version) + " has none");
  }
  if (ir_version < 10) {
    if (const std::size_t count = move_node_metadata_to_model(model))
      done.push_back("moved " + std::to_string(count) + " metadata entries of nodes into the model's property " +
                     std::string(kNodeMetadataProperty) + ": IR " + std::to_string(ir_version) + " has none on nodes");
  }
  if (ir_version < 10) {
    if (const std::size_t count = drop_own_value_notes(model))
      done.push_back("dropped " + std::to_string(count) + " notes of values, which only the way back reads: IR " +
                     std::to_string(ir_version) + " has none");
  }
  if (ir_version < 4) {
    std::size_t count = 0;
    for (Value* v : model.graph->initializers()) {
      if (v->is_input()) continue;
      model.graph->set_is_input(v, true);
      v->is_declared = true;
      ++count;
    }
    if (count)
      done.push_back("listed " + std::to_string(count) + " initializers as inputs: IR " + std::to_string(ir_version) +
                     " wants that");
  }
  const IrNeed need = needed_ir_version(model);
  if (need.version > ir_version)
    throw Error(Code::bad_ir_version, "IR version " + std::to_string(ir_version) + " cannot hold " + need.why +
                                          ", which needs IR version " + std::to_string(need.version))
        .hint("choose a newer target");
  model.ir_version = ir_version;
  return done;
}

void restore_node_metadata(Model& model) {
  const auto it = std::find_if(model.metadata.begin(), model.metadata.end(),
                               [](const auto& entry) { return entry.first == kNodeMetadataProperty; });
  if (it == model.metadata.end()) return;
  std::unordered_map<std::string, Metadata> by_node;
  std::string_view rest = it->second;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t first = line.find('\t'), second = first == line.npos ? first : line.find('\t', first + 1);
    if (second == line.npos) continue;
    by_node[unescaped(line.substr(0, first))].emplace_back(unescaped(line.substr(first + 1, second - first - 1)),
                                                           unescaped(line.substr(second + 1)));
  }
  for (const GraphPlace& place : all_graphs(model))
    for (Node& node : place.graph->nodes())
      if (const auto found = by_node.find(node.name); found != by_node.end() && node.metadata.empty())
        node.metadata = found->second;
  model.metadata.erase(it);
}

}  // namespace ingot::passes
