// What two models say differently.
#include "ingot/driver/diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ingot/driver/summary.h"
#include "ingot/ir/equal.h"
#include "ingot/ir/model.h"
#include "ingot/passes/infer.h"

namespace ingot::driver {
namespace {

std::string name_of_node(const Node& node) { return node.name.empty() ? node.label() : node.name; }

std::string op_of(const Node& node) { return (node.domain.empty() ? "" : node.domain + ".") + node.op; }

constexpr std::size_t kMostShown = 12;

template <class T> std::string list_text(const std::vector<T>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size() && i < kMostShown; ++i) {
    if (i) text += ", ";
    if constexpr (std::is_same_v<T, std::string>)
      text += "'" + values[i] + "'";
    else if constexpr (std::is_arithmetic_v<T>)
      text += std::to_string(values[i]);
    else
      text += "...";
  }
  return text + (values.size() > kMostShown ? ", ...]" : "]");
}

struct AttributeText {
  std::string operator()(const std::monostate&) const { return "nothing"; }
  std::string operator()(float v) const { return std::to_string(v); }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(const std::string& v) const { return "'" + v.substr(0, 60) + "'"; }
  std::string operator()(const Tensor& v) const { return v.type().str(); }
  std::string operator()(const GraphPtr&) const { return "a graph"; }
  std::string operator()(const SparseTensor& v) const { return v.type().str(); }
  std::string operator()(const Type& v) const { return v.str(); }
  template <class T> std::string operator()(const std::vector<T>& v) const { return list_text(v); }
};

/// Empty: they say the same. Else what differs.
std::string attribute_difference(const Attribute& a, const Attribute& b) {
  const std::string both = "attribute '" + a.name + "' is " + std::visit(AttributeText(), a.value) + ", and " +
                           std::visit(AttributeText(), b.value) + " in b";
  if (a.value.index() != b.value.index() || a.reference != b.reference) return both;
  return std::visit(
      [&]<class T>(const T& x) -> std::string {
        const T& y = std::get<T>(b.value);
        if constexpr (std::is_same_v<T, GraphPtr>) {
          std::string first;
          return equal(*x, *y, &first) ? "" : "in '" + a.name + "': " + first;
        } else if constexpr (std::is_same_v<T, std::vector<GraphPtr>>) {
          return x.size() == y.size() ? "" : both;
        } else {
          return x == y ? "" : both;
        }
      },
      a.value);
}

class ModelDiffer {
 public:
  ModelDiffer(const Model& a, const Model& b) : a_(a), b_(b) {}

  Difference run() {
    compare_models();
    match_constants();
    for (const Value* v : a_.graph->inputs())
      if (const Value* twin = b_.graph->find(v->name()); twin && twin->is_input()) twins_[v] = twin;
    match_nodes();
    compare_nodes();
    compare_weights();
    return std::move(found_);
  }

 private:
  void say(const std::string& what, const std::string& in_a, const std::string& in_b) {
    if (in_a != in_b) found_.model.push_back(what + " is " + in_a + ", and " + in_b + " in b");
  }

  void compare_ports(const std::vector<Summary::Port>& a, const std::vector<Summary::Port>& b,
                     const std::string& what) {
    for (const auto& port : a) {
      const auto twin = std::ranges::find(b, port.name, &Summary::Port::name);
      if (twin == b.end())
        found_.model.push_back(what + " '" + port.name + "' (" + port.type + ") is not in b");
      else
        say(what + " '" + port.name + "'", port.type, twin->type);
    }
    for (const auto& port : b)
      if (std::ranges::find(a, port.name, &Summary::Port::name) == a.end())
        found_.model.push_back(what + " '" + port.name + "' (" + port.type + ") is in b only");
  }

  void compare_models() {
    const Summary a = summarise(a_), b = summarise(b_);
    say("the IR version", std::to_string(a.ir_version), std::to_string(b.ir_version));
    say("the producer", "'" + a.producer + "'", "'" + b.producer + "'");
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> opsets;
    for (const auto& [domain, version] : a.opsets) opsets[domain].first = version;
    for (const auto& [domain, version] : b.opsets) opsets[domain].second = version;
    for (const auto& [domain, versions] : opsets)
      say("the opset of " + domain, std::to_string(versions.first), std::to_string(versions.second));
    compare_ports(a.inputs, b.inputs, "input");
    compare_ports(a.outputs, b.outputs, "output");
    std::map<std::string, std::pair<std::size_t, std::size_t>> counts;
    for (const auto& [op, count] : a.operators) counts[op].first = count;
    for (const auto& [op, count] : b.operators) counts[op].second = count;
    for (const auto& [op, count] : counts)
      if (count.first != count.second) found_.operators.push_back({op, count.first, count.second});
    for (const auto& f : a_.functions) {
      const Function* twin = b_.find_function(f->domain, f->name, f->overload);
      std::string first;
      if (!twin)
        found_.model.push_back("function '" + f->name + "' is not in b");
      else if (!equal(*f->body, *twin->body, &first))
        found_.model.push_back("function '" + f->name + "' differs: " + first);
    }
    for (const auto& f : b_.functions)
      if (!a_.find_function(f->domain, f->name, f->overload))
        found_.model.push_back("function '" + f->name + "' is in b only");
  }

  /// By name, then, where no name fits, by what they hold.
  void match_constants() {
    std::unordered_set<const Value*> taken;
    std::multimap<std::size_t, const Value*> by_size;
    for (const Value* v : b_.graph->initializers())
      if (v->initializer) by_size.emplace(v->initializer->bytes().size(), v);
    for (const Value* v : a_.graph->initializers())
      if (const Value* twin = b_.graph->find(v->name()); twin && twin->initializer && v->initializer) {
        twins_[v] = twin;
        taken.insert(twin);
      }
    for (const Value* v : a_.graph->initializers()) {
      if (twins_.contains(v) || !v->initializer) continue;
      const auto [first, last] = by_size.equal_range(v->initializer->bytes().size());
      for (auto it = first; it != last; ++it)
        if (!taken.contains(it->second) && *it->second->initializer == *v->initializer) {
          twins_[v] = it->second;
          taken.insert(it->second);
          break;
        }
      if (!twins_.contains(v)) found_.weights_only_a.push_back(v->name() + " (" + v->type.str() + ")");
    }
    for (const Value* v : b_.graph->initializers())
      if (v->initializer && !taken.contains(v)) found_.weights_only_b.push_back(v->name() + " (" + v->type.str() + ")");
  }

  void pair_up(const Node& a, const Node& b) {
    nodes_[&a] = &b;
    taken_.insert(&b);
    for (std::size_t i = 0; i < a.output_count() && i < b.output_count(); ++i)
      if (a.output(i) && b.output(i)) twins_[a.output(i)] = b.output(i);
  }

  /// What a node reads, in b's values; empty: not all of it is known there.
  std::string key_of(const Node& node, bool is_b) const {
    std::string key = op_of(node);
    for (const Value* v : node.inputs()) {
      const Value* mine = v;
      if (v && !is_b) {
        const auto found = twins_.find(v);
        if (found == twins_.end()) return {};
        mine = found->second;
      }
      key += '/' + (mine ? mine->name() : std::string());
    }
    return key;
  }

  void match_nodes() {
    std::unordered_map<std::string, const Node*> by_name;
    std::unordered_multimap<std::string, const Node*> by_key;
    for (const Node& node : b_.graph->nodes()) {
      if (!node.name.empty()) by_name.try_emplace(node.name, &node);
      by_key.emplace(key_of(node, true), &node);
    }
    for (const Node& node : a_.graph->nodes()) {
      const Value* twin = node.output() ? b_.graph->find(node.output()->name()) : nullptr;
      if (twin && twin->producer() && op_of(*twin->producer()) == op_of(node) && !taken_.contains(twin->producer()))
        pair_up(node, *twin->producer());
    }
    for (const Node& node : a_.graph->nodes()) {
      const auto found = nodes_.contains(&node) ? by_name.end() : by_name.find(node.name);
      if (found != by_name.end() && op_of(*found->second) == op_of(node) && !taken_.contains(found->second))
        pair_up(node, *found->second);
    }
    for (const Node& node : a_.graph->nodes()) {
      if (nodes_.contains(&node)) continue;
      const auto [first, last] = by_key.equal_range(key_of(node, false));
      for (auto it = first; it != last; ++it)
        if (!taken_.contains(it->second)) {
          pair_up(node, *it->second);
          break;
        }
    }
  }

  void compare_nodes() {
    for (const Node& node : a_.graph->nodes()) {
      const auto found = nodes_.find(&node);
      if (found == nodes_.end()) {
        found_.only_a.push_back(name_of_node(node) + " (" + op_of(node) + ")");
        continue;
      }
      NodeDifference difference{name_of_node(node), op_of(node), changes(node, *found->second)};
      if (difference.changes.empty())
        ++found_.same_nodes;
      else
        found_.nodes.push_back(std::move(difference));
    }
    for (const Node& node : b_.graph->nodes())
      if (!taken_.contains(&node)) found_.only_b.push_back(name_of_node(node) + " (" + op_of(node) + ")");
  }

  std::vector<std::string> changes(const Node& a, const Node& b) const {
    std::vector<std::string> lines;
    for (const Attribute& attribute : a.attributes) {
      const Attribute* twin = b.attributes.find(attribute.name);
      std::string line = twin ? attribute_difference(attribute, *twin)
                              : "attribute '" + attribute.name + "' (" + std::visit(AttributeText(), attribute.value) +
                                    ") is not in b";
      if (!line.empty()) lines.push_back(std::move(line));
    }
    for (const Attribute& attribute : b.attributes)
      if (!a.attributes.has(attribute.name))
        lines.push_back("attribute '" + attribute.name + "' (" + std::visit(AttributeText(), attribute.value) +
                        ") is in b only");
    for (std::size_t i = 0; i < std::max(a.input_count(), b.input_count()); ++i) {
      const Value *x = a.input(i), *y = b.input(i);
      const auto twin = x ? twins_.find(x) : twins_.end();
      if (x ? twin != twins_.end() && twin->second == y : !y) continue;
      lines.push_back("input " + std::to_string(i) + " is '" + (x ? x->name() : "") + "', and '" +
                      (y ? y->name() : "") + "' in b");
    }
    for (std::size_t i = 0; i < std::min(a.output_count(), b.output_count()); ++i) {
      const Value *x = a.output(i), *y = b.output(i);
      if (x && y && x->type && y->type && x->type.str() != y->type.str())
        lines.push_back("output '" + x->name() + "' is " + x->type.str() + ", and " + y->type.str() + " in b");
    }
    return lines;
  }

  void compare_weights() {
    for (const Value* v : a_.graph->initializers()) {
      const auto twin = twins_.find(v);
      // What is a weight here and has to be given there is listed with what the two do not share.
      if (twin == twins_.end() || !v->initializer || !twin->second->initializer) continue;
      if (*v->initializer == *twin->second->initializer)
        ++found_.same_weights;
      else
        found_.weights.push_back(difference_of(*v, *twin->second));
    }
  }

  static WeightDifference difference_of(const Value& a, const Value& b) {
    const Tensor &x = *a.initializer, &y = *b.initializer;
    WeightDifference d{a.name(), b.name(), x.type().str(), y.type().str()};
    d.elements = static_cast<std::uint64_t>(x.size());
    const auto is_number = [](DType t) { return is_float(t) || is_integer(t) || t == DType::boolean; };
    d.is_comparable = x.dims() == y.dims() && is_number(x.dtype()) && is_number(y.dtype());
    if (!d.is_comparable) return d;
    const std::vector<double> p = x.to_doubles(), q = y.to_doubles();
    for (std::size_t i = 0; i < p.size(); ++i) {
      d.a_norm += p[i] * p[i];
      d.b_norm += q[i] * q[i];
      const bool is_same = p[i] == q[i] || (std::isnan(p[i]) && std::isnan(q[i]));
      if (is_same) continue;
      const double distance = p[i] - q[i];
      d.norm += distance * distance;
      d.largest = std::max(d.largest, std::abs(distance));
      ++d.differing;
    }
    d.a_norm = std::sqrt(d.a_norm);
    d.b_norm = std::sqrt(d.b_norm);
    d.norm = std::sqrt(d.norm);
    return d;
  }

  const Model &a_, &b_;
  Difference found_;
  std::unordered_map<const Value*, const Value*> twins_;
  std::unordered_map<const Node*, const Node*> nodes_;
  std::unordered_set<const Node*> taken_;
};

}  // namespace

bool Difference::is_same() const {
  return model.empty() && only_a.empty() && only_b.empty() && nodes.empty() && weights_only_a.empty() &&
         weights_only_b.empty() && weights.empty() && operators.empty();
}

Difference diff(const Model& a, const Model& b) {
  Model x = a.clone(), y = b.clone();
  passes::InferOptions tolerant;
  tolerant.keep_declared = true;
  tolerant.tolerate_errors = true;
  passes::infer(x, tolerant);
  passes::infer(y, tolerant);
  return ModelDiffer(x, y).run();
}

}  // namespace ingot::driver
