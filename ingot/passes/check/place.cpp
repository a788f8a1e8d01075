// Where a problem is, in words.
#include "ingot/ir/has_default.h"
#include "ingot/passes/check/place.h"

#include <fmt/format.h>

#include <iterator>

namespace ingot::passes::rules {
namespace {

constexpr std::size_t kLongestName = 100;

std::string printable(std::string_view name) {
  const std::string text = quoted(name);
  return text.substr(1, text.size() - 2);
}

std::string node_label(const Node& node) {
  std::string label;
  if (!node.name.empty()) {
    label = "node " + quoted(node.name);
  } else {
    label = "a node without a name";
    for (std::size_t i = 0; i < node.output_count(); ++i) {
      if (!node.output(i)) continue;
      label = "the node that makes " + quoted(node.output(i)->name());
      break;
    }
  }
  return label + " (" + printable(op_name(node.domain, node.op)) + ")";
}

std::unordered_map<const Graph*, std::string> roots_of(const Model& model) {
  std::unordered_map<const Graph*, std::string> roots;
  roots.emplace(model.graph.get(), "");
  for (const auto& f : model.functions) roots.emplace(f->body.get(), function_name(*f));
  for (std::size_t i = 0; i < model.training.size(); ++i) {
    const TrainingInfo& t = model.training[i];
    if (t.initialization) roots.emplace(t.initialization.get(), fmt::format("training info {}, initialization", i));
    if (t.algorithm) roots.emplace(t.algorithm.get(), fmt::format("training info {}, algorithm", i));
  }
  return roots;
}

}  // namespace

std::string quoted(std::string_view name) {
  std::string text = "'";
  const bool cut = name.size() > kLongestName;
  std::size_t length = cut ? kLongestName : name.size();
  while (cut && length > 0 && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80) --length;
  for (const char c : name.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F)
      text += c;
    else
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", byte);
  }
  return text + (cut ? "...'" : "'");
}

std::string op_name(std::string_view domain, std::string_view op) {
  domain = normal_domain(domain);
  return domain.empty() ? std::string(op) : fmt::format("{}.{}", domain, op);
}

std::string domain_name(std::string_view domain) {
  domain = normal_domain(domain);
  return domain.empty() ? "ai.onnx" : std::string(domain);
}

std::string function_name(const Function& function) {
  std::string name = op_name(function.domain, function.name);
  if (!function.overload.empty()) name += ':' + function.overload;
  return "function " + quoted(name);
}

Places::Places(const Model& model) : roots_(roots_of(model)) {}

void Places::forget_nested() {
  holders_.clear();
  searched_.clear();
}

void name_roots(Model& model) {
  for (auto& [graph, place] : roots_of(model)) const_cast<Graph*>(graph)->name = place;
}

const Places::Holder* Places::holder(const Graph& graph) {
  if (!graph.parent() || roots_.contains(&graph)) return nullptr;
  if (searched_.insert(graph.parent()).second) {
    for (const Node& node : graph.parent()->nodes()) {
      for (const Attribute& a : node.attributes) {
        if (const auto* one = std::get_if<GraphPtr>(&a.value)) holders_[one->get()] = {&node, a.name};
        if (const auto* many = std::get_if<std::vector<GraphPtr>>(&a.value))
          for (std::size_t i = 0; i < many->size(); ++i)
            holders_[(*many)[i].get()] = {&node, fmt::format("{}[{}]", a.name, i)};
      }
    }
  }
  const auto it = holders_.find(&graph);
  return it == holders_.end() ? nullptr : &it->second;
}

std::string Places::prefix(const Graph& graph) {
  // From the inside out: each graph is held by a node of the next.
  std::vector<std::string> parts;
  const Graph* g = &graph;
  for (const Holder* h = holder(*g); h; h = holder(*g)) {
    parts.push_back(node_label(*h->node) + ", " + printable(h->attribute));
    g = &h->node->graph();
  }
  const auto root = roots_.find(g);
  const std::string& start = root == roots_.end() ? g->name : root->second;
  if (!start.empty()) parts.push_back(start);
  std::string text;
  for (auto it = parts.rbegin(); it != parts.rend(); ++it) text += (text.empty() ? "" : ": ") + *it;
  return text;
}

std::string Places::of(const Graph& graph) {
  std::string text = prefix(graph);
  return text.empty() ? "graph" : text;
}

std::string Places::in(const Graph& graph, std::string_view what) {
  std::string text = prefix(graph);
  if (!text.empty()) text += ": ";
  return text.append(what);
}

std::string Places::of(const Node& node) { return in(node.graph(), node_label(node)); }

std::string Places::of(const Value& value) {
  const bool is_constant = has_default(value);
  const std::string_view kind = value.is_input() ? "input " : is_constant ? "initializer " : "value ";
  return in(value.graph(), std::string(kind) + quoted(value.name()));
}

}  // namespace ingot::passes::rules
