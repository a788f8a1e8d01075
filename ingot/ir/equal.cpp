// Structural comparison of models, with the place of the first difference.
#include "ingot/ir/equal.h"

#include <cstring>
#include <unordered_map>

namespace ingot {
namespace {

/// Walks two models in step and stops at the first difference.
class Comparison {
 public:
  bool models(const Model& a, const Model& b);
  bool graphs(const Graph& a, const Graph& b);
  std::string place() const { return difference_; }

 private:
  bool differ(const std::string& what);
  bool same(const std::string& what, const std::string& a, const std::string& b);
  bool same(const std::string& what, std::int64_t a, std::int64_t b);
  bool same(const std::string& what, const Metadata& a, const Metadata& b);
  bool same(const std::string& what, const OpsetImports& a, const OpsetImports& b);
  bool same(const std::string& what, const Type& a, const Type& b);
  bool same(const std::string& what, const ValueInfo& a, const ValueInfo& b);
  bool values(const Value& a, const Value& b);
  bool links(const std::string& what, const Value* a, const Value* b);
  bool nodes(const Node& a, const Node& b);
  bool attributes(const Attribute& a, const Attribute& b);
  bool optional_graphs(const std::string& what, const Graph* a, const Graph* b);
  bool functions(const Function& a, const Function& b);
  bool training(const TrainingInfo& a, const TrainingInfo& b);

  /// Adds a part of the place for as long as it lives.
  struct Inside {
    Inside(Comparison& c, const std::string& part) : comparison(c), length(c.path_.size()) { c.path_ += part + ": "; }
    ~Inside() { comparison.path_.resize(length); }
    Comparison& comparison;
    std::size_t length;
  };

  std::string path_, difference_;
  std::unordered_map<const Value*, const Value*> twin_;
};

bool Comparison::differ(const std::string& what) {
  if (difference_.empty()) difference_ = path_ + what;
  return false;
}

bool Comparison::same(const std::string& what, const std::string& a, const std::string& b) {
  return a == b || differ(what + " is '" + a + "' in one and '" + b + "' in the other");
}

bool Comparison::same(const std::string& what, std::int64_t a, std::int64_t b) {
  return a == b || differ(what + " is " + std::to_string(a) + " in one and " + std::to_string(b) + " in the other");
}

bool Comparison::same(const std::string& what, const Metadata& a, const Metadata& b) { return a == b || differ(what); }

bool Comparison::same(const std::string& what, const OpsetImports& a, const OpsetImports& b) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i)
    equal = a[i].domain == b[i].domain && a[i].version == b[i].version && a[i].unknown == b[i].unknown;
  return equal || differ(what);
}

bool Comparison::same(const std::string& what, const Type& a, const Type& b) {
  return a == b || differ(what + " is " + a.str() + " in one and " + b.str() + " in the other");
}

bool Comparison::same(const std::string& what, const ValueInfo& a, const ValueInfo& b) {
  const Inside inside(*this, what);
  return same("name", a.name, b.name) && same("type", a.type, b.type) &&
         same("doc_string", a.doc_string, b.doc_string) && same("metadata", a.metadata, b.metadata) &&
         same("unknown fields", a.unknown, b.unknown);
}

bool Comparison::values(const Value& a, const Value& b) {
  twin_[&a] = &b;
  const Inside inside(*this, "value '" + a.name() + "'");
  if (!same("name", a.name(), b.name()) || !same("type", a.type, b.type) ||
      !same("doc_string", a.doc_string, b.doc_string) || !same("metadata", a.metadata, b.metadata) ||
      !same("unknown fields", a.unknown, b.unknown) || !same("is_input", a.is_input(), b.is_input()) ||
      !same("is_declared", a.is_declared, b.is_declared))
    return false;
  if (a.initializer != b.initializer) return differ("initializer");
  const bool both = a.sparse_initializer && b.sparse_initializer;
  if (both ? *a.sparse_initializer != *b.sparse_initializer : a.sparse_initializer != b.sparse_initializer)
    return differ("sparse initializer");
  return true;
}

bool Comparison::links(const std::string& what, const Value* a, const Value* b) {
  if (!a || !b) return a == b || differ(what + " is absent in one");
  const auto it = twin_.find(a);
  if (it != twin_.end())
    return it->second == b || differ(what + " is '" + a->name() + "' in one and '" + b->name() + "' in the other");
  // Of graphs around the two that are compared: those are not known here, names are.
  if (!a->is_undefined() && !b->is_undefined()) return same(what, a->name(), b->name());
  if (!a->is_undefined() || !b->is_undefined()) return differ(what + " has a source in one only");
  return values(*a, *b);
}

// Bits, not numbers: NaN is itself, and zeros have a sign.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool Comparison::attributes(const Attribute& a, const Attribute& b) {
  const Inside inside(*this, "attribute '" + a.name + "'");
  if (!same("name", a.name, b.name) || !same("doc_string", a.doc_string, b.doc_string) ||
      !same("unknown fields", a.unknown, b.unknown) || !same("reference", a.reference, b.reference) ||
      !same("type", static_cast<int>(a.type()), static_cast<int>(b.type())) ||
      !same("kind", static_cast<std::int64_t>(a.value.index()), static_cast<std::int64_t>(b.value.index())))
    return false;
  return std::visit(
      [&]<class T>(const T& v) {
        const T& other = std::get<T>(b.value);
        if constexpr (std::is_same_v<T, GraphPtr>) {
          return optional_graphs("graph", v.get(), other.get());
        } else if constexpr (std::is_same_v<T, std::vector<GraphPtr>>) {
          if (v.size() != other.size()) return differ("number of graphs");
          for (std::size_t i = 0; i < v.size(); ++i)
            if (!optional_graphs("graph " + std::to_string(i), v[i].get(), other[i].get())) return false;
          return true;
        } else if constexpr (std::is_same_v<T, float>) {
          return same_bits({v}, {other}) || differ("value");
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          return same_bits(v, other) || differ("value");
        } else {
          return v == other || differ("value");
        }
      },
      a.value);
}

bool Comparison::optional_graphs(const std::string& what, const Graph* a, const Graph* b) {
  const Inside inside(*this, what);
  if (!a || !b) return a == b || differ("absent in one");
  return graphs(*a, *b);
}

bool Comparison::nodes(const Node& a, const Node& b) {
  const Inside inside(*this, a.label());
  if (!same("name", a.name, b.name) || !same("domain", a.domain, b.domain) || !same("operator", a.op, b.op) ||
      !same("overload", a.overload, b.overload) || !same("doc_string", a.doc_string, b.doc_string) ||
      !same("metadata", a.metadata, b.metadata) ||
      !same("device configurations", a.device_configurations, b.device_configurations) ||
      !same("unknown fields", a.unknown, b.unknown) ||
      !same("number of inputs", static_cast<std::int64_t>(a.input_count()), static_cast<std::int64_t>(b.input_count())))
    return false;
  for (std::size_t i = 0; i < a.input_count(); ++i)
    if (!links("input " + std::to_string(i), a.input(i), b.input(i))) return false;
  if (a.attributes.size() != b.attributes.size()) return differ("number of attributes");
  auto other = b.attributes.begin();
  for (const Attribute& attribute : a.attributes)
    if (!attributes(attribute, *other++)) return false;
  return true;
}

bool Comparison::graphs(const Graph& a, const Graph& b) {
  const Inside inside(*this, "graph '" + a.name + "'");
  if (!same("name", a.name, b.name) || !same("doc_string", a.doc_string, b.doc_string) ||
      !same("metadata", a.metadata, b.metadata) || !same("unknown fields", a.unknown, b.unknown))
    return false;
  if (a.inputs().size() != b.inputs().size()) return differ("number of inputs");
  if (a.initializers().size() != b.initializers().size()) return differ("number of initializers");
  if (a.node_count() != b.node_count()) return differ("number of nodes");
  if (a.output_count() != b.output_count()) return differ("number of outputs");
  if (a.stray_infos.size() != b.stray_infos.size()) return differ("number of stray value infos");
  if (a.quantization.size() != b.quantization.size()) return differ("number of quantization annotations");

  for (std::size_t i = 0; i < a.inputs().size(); ++i)
    if (!values(*a.inputs()[i], *b.inputs()[i])) return false;
  for (std::size_t i = 0; i < a.initializers().size(); ++i)
    if (!values(*a.initializers()[i], *b.initializers()[i])) return false;
  // All definitions before all uses: a graph may be unsorted.
  const Node* other = b.first();
  for (const Node& node : a.nodes()) {
    if (node.output_count() != other->output_count()) return differ("number of outputs of " + node.label());
    for (std::size_t i = 0; i < node.output_count(); ++i) {
      const Value *x = node.output(i), *y = other->output(i);
      if (x && y ? !values(*x, *y) : x != y) return differ("outputs of " + node.label());
    }
    other = other->next();
  }
  other = b.first();
  for (const Node& node : a.nodes()) {
    if (!nodes(node, *other)) return false;
    other = other->next();
  }
  for (std::size_t i = 0; i < a.output_count(); ++i)
    if (!links("output " + std::to_string(i), a.output(i), b.output(i))) return false;
  for (std::size_t i = 0; i < a.stray_infos.size(); ++i)
    if (!same("stray value info", a.stray_infos[i], b.stray_infos[i])) return false;
  for (std::size_t i = 0; i < a.quantization.size(); ++i) {
    const QuantizationAnnotation &x = a.quantization[i], &y = b.quantization[i];
    if (x.tensor_name != y.tensor_name || x.parameters != y.parameters || x.unknown != y.unknown)
      return differ("quantization annotation of '" + x.tensor_name + "'");
  }
  return true;
}

bool Comparison::functions(const Function& a, const Function& b) {
  const Inside inside(*this, "function '" + a.name + "'");
  if (!same("name", a.name, b.name) || !same("domain", a.domain, b.domain) ||
      !same("overload", a.overload, b.overload) || !same("doc_string", a.doc_string, b.doc_string) ||
      !same("opset imports", a.opsets, b.opsets) || !same("metadata", a.metadata, b.metadata) ||
      !same("unknown fields", a.unknown, b.unknown))
    return false;
  if (a.attributes != b.attributes) return differ("attributes");
  if (a.attribute_defaults.size() != b.attribute_defaults.size()) return differ("number of attributes with a default");
  for (std::size_t i = 0; i < a.attribute_defaults.size(); ++i)
    if (!attributes(a.attribute_defaults[i], b.attribute_defaults[i])) return false;
  return graphs(*a.body, *b.body);
}

bool Comparison::training(const TrainingInfo& a, const TrainingInfo& b) {
  const Inside inside(*this, "training info");
  return optional_graphs("initialization", a.initialization.get(), b.initialization.get()) &&
         optional_graphs("algorithm", a.algorithm.get(), b.algorithm.get()) &&
         same("initialization binding", a.initialization_binding, b.initialization_binding) &&
         same("update binding", a.update_binding, b.update_binding) && same("unknown fields", a.unknown, b.unknown);
}

bool Comparison::models(const Model& a, const Model& b) {
  if (!same("ir_version", a.ir_version, b.ir_version) || !same("opset imports", a.opsets, b.opsets) ||
      !same("producer_name", a.producer_name, b.producer_name) ||
      !same("producer_version", a.producer_version, b.producer_version) || !same("domain", a.domain, b.domain) ||
      !same("model_version", a.model_version, b.model_version) || !same("doc_string", a.doc_string, b.doc_string) ||
      !same("metadata", a.metadata, b.metadata) || !same("unknown fields", a.unknown, b.unknown) ||
      !graphs(*a.graph, *b.graph))
    return false;
  if (a.functions.size() != b.functions.size()) return differ("number of functions");
  for (std::size_t i = 0; i < a.functions.size(); ++i)
    if (!functions(*a.functions[i], *b.functions[i])) return false;
  if (a.training.size() != b.training.size()) return differ("number of training infos");
  for (std::size_t i = 0; i < a.training.size(); ++i)
    if (!training(a.training[i], b.training[i])) return false;
  if (a.device_configurations.size() != b.device_configurations.size())
    return differ("number of device configurations");
  for (std::size_t i = 0; i < a.device_configurations.size(); ++i) {
    const DeviceConfiguration &x = a.device_configurations[i], &y = b.device_configurations[i];
    if (x.name != y.name || x.device_count != y.device_count || x.devices != y.devices || x.unknown != y.unknown)
      return differ("device configuration '" + x.name + "'");
  }
  return true;
}

}  // namespace

bool equal(const Model& a, const Model& b, std::string* first_difference) {
  Comparison comparison;
  const bool result = comparison.models(a, b);
  if (first_difference) *first_difference = comparison.place();
  return result;
}

bool equal(const Graph& a, const Graph& b, std::string* first_difference) {
  Comparison comparison;
  const bool result = comparison.graphs(a, b);
  if (first_difference) *first_difference = comparison.place();
  return result;
}

}  // namespace ingot
