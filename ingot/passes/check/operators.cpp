// Operators: that they exist in the imported operator set, and how many inputs and outputs they have.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ingot/base/similar_word.h"
#include "ingot/ops/extra_operators.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

using ops::ParamOption;
using ops::ParamSchema;
using ops::Schema;

std::string nearest_operator(std::string_view domain, std::string_view name) {
  std::vector<std::string> known;
  for (const Schema& s : ops::all_schemas())
    if (s.domain == normal_domain(domain)) known.emplace_back(s.name);
  return similar_word(name, known);
}

/// The domain in which an operator of this name exists; for those who forget "ai.onnx.ml".
const Schema* elsewhere(std::string_view name) {
  for (const Schema& s : ops::all_schemas())
    if (s.name == name) return &s;
  return nullptr;
}

/// Experiments of the first releases that later ones dropped. Old models have them, and ONNX's checker lets them be.
constexpr std::string_view kExperiments[] = {"ATen",
                                             "Affine",
                                             "ConstantFill",
                                             "Crop",
                                             "DynamicSlice",
                                             "GRUUnit",
                                             "GivenTensorFill",
                                             "ImageScaler",
                                             "ParametricSoftplus",
                                             "Scale",
                                             "ScaledTanh"};

bool is_experiment(const Node& node) {
  return normal_domain(node.domain).empty() && std::ranges::find(kExperiments, node.op) != std::end(kExperiments);
}

class OperatorRules {
 public:
  explicit OperatorRules(Context& c) : c_(c) {}

  void run() {
    for (const GraphPlace& place : c_.graphs) {
      const Imports& imports = c_.imports(place);
      for (const Node& node : place.graph->nodes()) {
        if (node.op.empty()) {
          c_.report.error(Code::bad_name, c_.places.of(node), "the node names no operator", "set its op_type");
          continue;
        }
        if (node.input_count() == 0 && node.output_count() == 0) {
          c_.report.error(Code::bad_arity, c_.places.of(node), "the node has neither inputs nor outputs",
                          "remove the node, or connect it");
          continue;
        }
        if (c_.functions.find(node)) continue;
        const std::int64_t version = imports.version(node.domain);
        if (version == 0) continue;  // the missing import is reported
        if (const Schema* schema = schema_of(node, version)) check_arity(node, *schema);
      }
    }
  }

 private:
  const Schema* schema_of(const Node& node, std::int64_t version) {
    const Schema* known = ops::schema_for(node.domain, node.op, version);
    if (known && !known->experimental && !known->deprecated) return known;
    const auto key = std::to_string(version) + op_name(node.domain, node.op);
    const auto [it, is_first] = verdicts_.try_emplace(key);
    if (is_first) it->second = judge(node, version);
    return it->second;
  }

  const Schema* judge(const Node& node, std::int64_t version) {
    const Schema* schema = ops::schema_for(node.domain, node.op, version);
    const std::string set = fmt::format("opset {} of {}", version, domain_name(node.domain));
    if (!schema && is_experiment(node)) {
      c_.report.warning(Code::experimental_operator, c_.places.of(node),
                        fmt::format("operator {} was an experiment and never became part of ONNX", quoted(node.op)),
                        "express it by other operators");
      return nullptr;
    }
    if (const Schema* later = schema ? nullptr : schema_ahead_of(node)) {
      c_.report.warning(Code::experimental_operator, c_.places.of(node),
                        fmt::format("operator {} is part of ONNX since opset {}; ONNX Runtime alone knows it in {}",
                                    quoted(node.op), later->since, set),
                        fmt::format("convert the model to opset {} or a newer one", later->since));
      return later;
    }
    if (schema && schema->experimental)
      c_.report.warning(
          Code::experimental_operator, c_.places.of(node),
          fmt::format("operator {} is an experiment: it may change, or never be part of ONNX", quoted(node.op)),
          "keep to the programs that know it");
    if (!schema) {
      if (ops::is_standard_domain(normal_domain(node.domain)))
        c_.report.error(Code::unknown_operator, c_.places.of(node),
                        fmt::format("operator {} does not exist in {}", quoted(node.op), set), advice(node));
      else if (!ops::is_extra_operator(node.domain, node.op))
        c_.report.warning(Code::unknown_operator, c_.places.of(node),
                          fmt::format("operator {} of domain {} is not known, so its nodes are not checked",
                                      quoted(node.op), quoted(node.domain)),
                          "define it as a function of the model, or ignore this");
      return nullptr;
    }
    if (schema->deprecated) {
      c_.report.error(
          Code::deprecated_operator, c_.places.of(node),
          fmt::format("operator {} must not be used since opset {}", quoted(node.op), schema->since),
          fmt::format("import opset {} of {}, or replace the operator", schema->since - 1, domain_name(node.domain)));
      return nullptr;
    }
    return schema;
  }

  static std::string advice(const Node& node) {
    const auto versions = ops::versions_of(node.domain, node.op);
    if (!versions.empty())
      return fmt::format("it exists since opset {}: convert the model to that or a newer one", versions.front().since);
    const std::string near = nearest_operator(node.domain, node.op);
    if (!near.empty()) return fmt::format("did you mean {}?", quoted(near));
    if (const Schema* other = elsewhere(node.op))
      return fmt::format("domain {} has it: set the node's domain", quoted(domain_name(other->domain)));
    return "a custom operator needs a domain of its own";
  }

  void check_arity(const Node& node, const Schema& schema) {
    check_count(node, node.input_count(), schema.min_inputs, schema.max_inputs, "input");
    if (check_count(node, node.output_count(), schema.min_outputs, schema.max_outputs, "output")) {
      const auto allowed = schema.allowed_output_counts;
      if (!allowed.empty() && std::ranges::find(allowed, static_cast<int>(node.output_count())) == allowed.end())
        c_.report.error(Code::bad_arity, c_.places.of(node),
                        fmt::format("{} given, but the operator gives {}", counted(node.output_count(), "output"),
                                    fmt::join(allowed, " or ")),
                        "give it one of these numbers of outputs");
    }
    for (std::size_t i = 0; i < node.input_count(); ++i)
      if (!node.input(i)) check_absence(node, schema.input(i), i, "input");
    for (std::size_t i = 0; i < node.output_count(); ++i)
      if (!node.output(i)) check_absence(node, schema.output(i), i, "output");
  }

  bool check_count(const Node& node, std::size_t count, int least, int most, std::string_view what) {
    const auto n = static_cast<std::int64_t>(count);
    if (n >= least && n <= most) return true;
    const std::string expected = most == ops::kUnbounded ? fmt::format("at least {}", least)
                                 : least == most         ? fmt::format("{}", least)
                                                         : fmt::format("{} to {}", least, most);
    c_.report.error(Code::bad_arity, c_.places.of(node),
                    fmt::format("{} given, but the operator has {}", counted(count, what), expected),
                    fmt::format("compare the {}s with the operator's definition", what));
    return false;
  }

  void check_absence(const Node& node, const ParamSchema* formal, std::size_t i, std::string_view what) {
    if (!formal || formal->option == ParamOption::optional) return;
    if (formal->option == ParamOption::single)
      c_.report.error(Code::bad_arity, c_.places.of(node),
                      fmt::format("{} {} ({}) must be given, but its name is empty", what, i, quoted(formal->name)),
                      fmt::format("name the {}", what));
    else if (what == "input")
      c_.report.warning(Code::bad_arity, c_.places.of(node),
                        fmt::format("input {}, one of {}, has an empty name", i, quoted(formal->name)),
                        "leave it out of the list");
  }

  Context& c_;
  /// What is said of an operator is said once; null: its nodes need no further look.
  std::unordered_map<std::string, const Schema*> verdicts_;
};

}  // namespace

const Schema* schema_ahead_of(const Node& node) {
  const bool is_ahead = normal_domain(node.domain).empty() && node.op == "LayerNormalization";
  return is_ahead ? ops::newest_schema(node.domain, node.op) : nullptr;
}

void check_operators(Context& c) { OperatorRules(c).run(); }

}  // namespace ingot::passes::rules
