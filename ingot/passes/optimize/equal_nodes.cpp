// What is computed or stored twice is there once.
#include "ingot/passes/optimize/equal_nodes.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ingot/ops/generator/random.h"
#include "ingot/ops/schema.h"

namespace ingot::passes {
namespace {

/// A text that two attributes share exactly when they say the same; empty: not comparable.
class KeyWriter {
 public:
  bool add(const Attribute& a) {
    add(std::string_view(a.name));
    text_ += static_cast<char>(a.value.index());
    return !a.is_reference() && std::visit([&](const auto& v) { return put(v); }, a.value);
  }
  void add(const void* address) { bytes(&address, sizeof address); }
  void add(std::string_view word) {
    const std::size_t size = word.size();
    bytes(&size, sizeof size);
    text_ += word;
  }
  std::string take() { return std::move(text_); }

 private:
  void bytes(const void* data, std::size_t size) { text_.append(static_cast<const char*>(data), size); }
  template <class T> void list(const std::vector<T>& v) {
    const std::size_t size = v.size();
    bytes(&size, sizeof size);
    bytes(v.data(), v.size() * sizeof(T));
  }
  bool put(float v) { return bytes(&v, sizeof v), true; }
  bool put(std::int64_t v) { return bytes(&v, sizeof v), true; }
  bool put(const std::string& v) { return add(std::string_view(v)), true; }
  bool put(const std::vector<float>& v) { return list(v), true; }
  bool put(const std::vector<std::int64_t>& v) { return list(v), true; }
  bool put(const std::vector<std::string>& v) {
    put(std::ssize(v));
    for (const std::string& s : v) add(std::string_view(s));
    return true;
  }
  bool put(const Tensor& v) {
    constexpr std::size_t kMostBytes = 4096;
    if (v.dtype() == DType::string || v.bytes().size() > kMostBytes) return false;
    const auto type = static_cast<std::int64_t>(v.dtype());
    bytes(&type, sizeof type);
    put(v.dims());
    text_ += ':';
    bytes(v.bytes().data(), v.bytes().size());
    return true;
  }
  template <class T> bool put(const T&) { return false; }

  std::string text_;
};

std::string key_of(const Node& node) {
  if (ops::is_random(node) || node.output_count() == 0) return {};
  // What nothing is known of may do more than its outputs tell.
  if (!ops::newest_schema(node.domain, node.op)) return {};
  KeyWriter key;
  key.add(node.op);
  key.add(node.domain);
  for (std::size_t i = 0; i < node.input_count(); ++i) key.add(static_cast<const void*>(node.input(i)));
  key.add("/");
  std::vector<const Attribute*> sorted;
  for (const Attribute& a : node.attributes) sorted.push_back(&a);
  std::ranges::sort(sorted, {}, [](const Attribute* a) { return std::string_view(a->name); });
  for (const Attribute* a : sorted)
    if (!key.add(*a)) return {};
  for (const Value* v : node.outputs()) key.add(v ? "+" : "-");
  return key.take();
}

bool names_port(const Value& v) {
  return std::ranges::any_of(v.uses(), [](const Use& use) { return !use.node; });
}

std::size_t share_constants(Graph& graph) {
  std::map<std::string, Value*> known;
  std::size_t count = 0;
  for (Value* v : graph.initializers()) {
    if (!v->initializer || v->is_input() || names_port(*v) || v->uses().empty()) continue;
    KeyWriter key;
    if (!key.add(Attribute("", AttrValue(*v->initializer)))) continue;
    const auto [it, is_new] = known.try_emplace(key.take(), v);
    if (is_new) continue;
    graph.replace_all_uses(v, it->second);
    ++count;
  }
  graph.erase_initializers_if([](const Value& v) { return !v.is_input() && v.uses().empty(); });
  return count;
}

}  // namespace

std::size_t share_equal(Graph& graph) {
  std::size_t count = share_constants(graph);
  const auto order = topological_order(graph);
  if (!order) return count;
  std::map<std::string, Node*> known;
  for (Node* node : *order) {
    std::string key = key_of(*node);
    if (key.empty()) continue;
    const auto [it, is_new] = known.try_emplace(std::move(key), node);
    if (is_new) continue;
    const Values outputs = node->outputs();
    // A second output of the graph needs a value of its own.
    if (std::ranges::any_of(outputs, [](const Value* v) { return v && names_port(*v); })) continue;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i]) graph.replace_all_uses(outputs[i], it->second->output(i));
    graph.erase(node);
    ++count;
  }
  return count;
}

}  // namespace ingot::passes
