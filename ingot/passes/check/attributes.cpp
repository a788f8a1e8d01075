// Attributes: known to the operator, of its type, complete, and references only where there is something to refer to.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ingot/ops/schema.h"
#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

using ops::AttrSchema;
using ops::Schema;

constexpr std::string_view kTypeNames[] = {"nothing",
                                           "a float",
                                           "an int",
                                           "a string",
                                           "a tensor",
                                           "a graph",
                                           "a list of floats",
                                           "a list of ints",
                                           "a list of strings",
                                           "a list of tensors",
                                           "a list of graphs",
                                           "a sparse tensor",
                                           "a list of sparse tensors",
                                           "a type",
                                           "a list of types"};

/// A file may state a type of a newer ONNX.
bool is_known(AttrType type) { return static_cast<std::size_t>(type) < std::size(kTypeNames); }

std::string_view name_of(AttrType type) {
  return is_known(type) ? kTypeNames[static_cast<std::size_t>(type)] : "of a type that Ingot does not know";
}

bool is_internal(std::string_view name) { return name.starts_with("__"); }

std::unordered_set<std::string_view> declared_by(const Function& f) {
  std::unordered_set<std::string_view> names(f.attributes.begin(), f.attributes.end());
  for (const Attribute& a : f.attribute_defaults) names.insert(a.name);
  return names;
}

class AttributeRules {
 public:
  explicit AttributeRules(Context& c) : c_(c) {}

  void run() {
    for (const GraphPlace& place : c_.graphs) {
      if (place.function != function_) enter(place.function);
      const Imports& imports = c_.imports(place);
      for (const Node& node : place.graph->nodes()) {
        if (!node.attributes.empty()) check_list(node);
        if (c_.functions.find(node)) continue;
        const Schema* schema = ops::schema_for(node.domain, node.op, imports.version(node.domain));
        if (schema && !schema->deprecated) compare(node, *schema);
      }
    }
  }

 private:
  void enter(const Function* function) {
    function_ = function;
    declared_ = function ? declared_by(*function) : std::unordered_set<std::string_view>();
  }

  void check_list(const Node& node) {
    std::vector<std::string_view> names;
    for (const Attribute& a : node.attributes) {
      if (a.name.empty())
        c_.report.error(Code::bad_name, c_.places.of(node), "an attribute has no name", "name it, or remove it");
      else
        names.push_back(a.name);
      if (a.is_reference())
        check_reference(node, a);
      else if (a.value.index() == 0)
        c_.report.error(Code::bad_attribute, c_.places.of(node),
                        is_known(a.type()) ? fmt::format("attribute {} has no value", quoted(a.name))
                                           : fmt::format("attribute {} is {}", quoted(a.name), name_of(a.type())),
                        "give it a value, or remove it");
    }
    std::ranges::sort(names);
    for (std::size_t i = 1; i < names.size(); ++i)
      if (names[i] == names[i - 1])
        c_.report.error(Code::bad_attribute, c_.places.of(node),
                        fmt::format("attribute {} is given twice", quoted(names[i])), "remove one of them");
  }

  void check_reference(const Node& node, const Attribute& a) {
    if (!function_) {
      c_.report.error(Code::bad_attribute, c_.places.of(node),
                      fmt::format("attribute {} refers to {}, but the node is not in a function", quoted(a.name),
                                  quoted(a.reference)),
                      "give the attribute a value");
      return;
    }
    if (!declared_.contains(a.reference))
      c_.report.error(Code::bad_attribute, c_.places.of(node),
                      fmt::format("attribute {} refers to {}, which the function does not declare", quoted(a.name),
                                  quoted(a.reference)),
                      "declare the attribute in the function");
    if (a.value.index() != 0)
      c_.report.error(
          Code::bad_attribute, c_.places.of(node),
          fmt::format("attribute {} has a value although it refers to {}", quoted(a.name), quoted(a.reference)),
          "keep either the value or the reference");
  }

  void compare(const Node& node, const Schema& schema) {
    for (const Attribute& a : node.attributes) {
      const AttrSchema* known = schema.attribute(a.name);
      if (!known) {
        if (!schema.unchecked_attributes && !is_internal(a.name) && !a.name.empty()) report_unknown(node, a, schema);
        continue;
      }
      const AttrType type = a.is_reference() ? a.reference_type : a.type();
      if (type != AttrType::undefined && type != known->type && is_known(type))
        c_.report.error(
            Code::bad_attribute, c_.places.of(node),
            fmt::format("attribute {} is {}, but must be {}", quoted(a.name), name_of(type), name_of(known->type)),
            "correct the type of the attribute");
    }
    for (const AttrSchema& known : schema.attributes)
      if (known.required && !node.attributes.has(known.name))
        c_.report.error(Code::missing_attribute, c_.places.of(node),
                        fmt::format("attribute {} ({}) is missing", quoted(known.name), name_of(known.type)),
                        "add it: the operator has no default for it");
  }

  void report_unknown(const Node& node, const Attribute& a, const Schema& schema) {
    std::string hint = "remove it, or check its spelling";
    for (const Schema& other : ops::versions_of(node.domain, node.op)) {
      if (!other.attribute(a.name)) continue;
      if (other.since > schema.since) {
        hint = fmt::format("it exists since opset {}: convert the model to that or a newer one", other.since);
        break;
      }
      hint = fmt::format("it existed up to opset {}: remove it, or import an older opset", last_with(other, a.name));
    }
    c_.report.error(Code::bad_attribute, c_.places.of(node),
                    fmt::format("the operator has no attribute {} in opset version {}", quoted(a.name), schema.since),
                    std::move(hint));
  }

  /// The last opset in which the operator still has the attribute that `with` has.
  static int last_with(const Schema& with, std::string_view attribute) {
    for (const Schema& s : ops::versions_of(with.domain, with.name))
      if (s.since > with.since && !s.attribute(attribute)) return s.since - 1;
    return with.since;
  }

  Context& c_;
  const Function* function_ = nullptr;
  std::unordered_set<std::string_view> declared_;
};

}  // namespace

void check_attributes(Context& c) { AttributeRules(c).run(); }

}  // namespace ingot::passes::rules
