// What inference has to say about a model, and the types that operators allow.
#include <fmt/format.h>

#include <unordered_set>

#include "ingot/ir/lean_copy.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/check/rules.h"
namespace ingot::passes::rules {
namespace {

using ops::ParamOption;
using ops::ParamSchema;
using ops::Schema;
using ops::TypeConstraint;

bool is_limit(Code code) { return static_cast<int>(code) / 100 == 12; }

Code problem_code(Code code) {
  const int group = static_cast<int>(code) / 100;
  return group == 3 || group == 4 ? code : Code::inference_failed;
}

Type without_shapes(const Type& type) {
  Type t = type;
  t.shape.reset();
  if (t.element) t.element = std::make_shared<const Type>(without_shapes(*t.element));
  return t;
}

bool may_be_same(const Type& a, const Type& b) {
  if (a.is_tensor() && b.is_tensor())
    return a.elem == b.elem || a.elem == DType::undefined || b.elem == DType::undefined;
  return may_match(without_shapes(a), without_shapes(b));
}

/// The types of one node against its operator's.
class NodeTypes {
 public:
  NodeTypes(Context& c, const Node& node, const Schema& schema) : c_(c), node_(node), schema_(schema) {}

  void check() {
    for (std::size_t i = 0; i < node_.input_count(); ++i)
      if (node_.input(i) && schema_.input(i)) look(*node_.input(i), *schema_.input(i), "input");
    for (std::size_t i = 0; i < node_.output_count(); ++i)
      if (node_.output(i) && schema_.output(i) && is_certain(*node_.output(i)))
        look(*node_.output(i), *schema_.output(i), "output");
  }

 private:
  /// Inference speaks of the newest version of an operator. Where an older one gives another type, conversion inserts a
  /// Cast, but only for values that are used.
  static bool is_certain(const Value& output) { return output.is_declared || !output.uses().empty(); }

  struct Bound {
    const TypeConstraint* constraint;
    const Value* value;
    const Type* type;
    std::string_view what;
  };

  void look(const Value& value, const ParamSchema& formal, std::string_view what) {
    // A wrong input makes outputs of the same type wrong.
    const Type& type = c_.type_of(value);
    if (!type || formal.type == refused_) return;
    if (!formal.type->allows(type)) {
      refused_ = formal.type;
      const std::string text = fmt::format("{} {} is {}, but {} allows {}", what, quoted(value.name()),
                                           type.schema_name(), quoted(formal.name), formal.type->str());
      // PyTorch wrote shapes as constants before operator set 9 allowed it, and every runtime takes them.
      if (node_.is("Constant"))
        c_.report.warning(Code::type_mismatch, c_.places.of(node_), text, advice(type, formal, what));
      else
        c_.report.error(Code::type_mismatch, c_.places.of(node_), text, advice(type, formal, what));
      return;
    }
    if (formal.option == ParamOption::variadic && !formal.homogeneous) return;
    for (const Bound& b : bound_) {
      if (b.constraint != formal.type) continue;
      if (!may_be_same(*b.type, type))
        c_.report.error(Code::type_mismatch, c_.places.of(node_),
                        fmt::format("{} {} is {}, but {} {} is {}: the operator wants one type ({}) for both", what,
                                    quoted(value.name()), type.schema_name(), b.what, quoted(b.value->name()),
                                    b.type->schema_name(), formal.type->name),
                        "insert a Cast, or correct the type that is stated");
      return;
    }
    bound_.push_back({formal.type, &value, &type, what});
  }

  std::string advice(const Type& type, const ParamSchema& formal, std::string_view what) const {
    for (const Schema& later : ops::versions_of(node_.domain, node_.op)) {
      if (later.since <= schema_.since) continue;
      for (const ParamSchema& other : what == "input" ? later.inputs : later.outputs)
        if (other.name == formal.name && other.type->allows(type))
          return fmt::format("the operator allows it since opset {}: convert the model, or insert a Cast", later.since);
    }
    return "insert a Cast, or correct the type that is stated";
  }

  Context& c_;
  const Node& node_;
  const Schema& schema_;
  std::vector<Bound> bound_;
  const TypeConstraint* refused_ = nullptr;
};

/// Whether the version that the model imports could give the inferred type at all: an older Dropout gives a mask of
/// floats, the newest one, which is inferred, of booleans.
bool is_of_version(const ops::Contradiction& found, const Context& c) {
  const Schema* schema =
      ops::schema_for(found.node->domain, found.node->op, c.imports_of(nullptr).version(found.node->domain));
  const ParamSchema* formal = schema ? schema->output(found.value->output_index()) : nullptr;
  return !formal || formal->type->allows(found.inferred);
}

/// Sizes that are stated as negative numbers are meant to be unknown.
void forget_negative_sizes(const Model& model) {
  const auto forget = [](Value& v) {
    if (!v.type.shape) return;
    for (Dim& d : *v.type.shape)
      if (d.is_known() && d.value() < 0) d = Dim();
  };
  for (const GraphPlace& place : all_graphs(model)) {
    for (Value* v : place.graph->inputs()) forget(*v);
    for (const Node& node : place.graph->nodes())
      for (std::size_t i = 0; i < node.output_count(); ++i)
        if (node.output(i)) forget(*node.output(i));
  }
}

}  // namespace

void infer(Context& c) {
  if (!c.options.infer || c.is_ambiguous) return;
  Model copy = lean_copy(c.model);
  name_roots(copy);
  forget_negative_sizes(copy);
  Places places;
  InferOptions options;
  options.budget = c.options.budget;
  std::unordered_set<std::string> known;
  const auto note = [&](Problem problem, std::string node_place) {
    if (known.insert(problem.place + '\n' + problem.message).second)
      c.findings.push_back({std::move(problem), std::move(node_place)});
  };
  const auto is_enough = [&] { return c.findings.size() >= c.options.most_problems; };
  options.on_error = [&](const Node& node, const Error& error) {
    if (is_limit(error.code())) throw error;
    if (is_enough()) return;
    places.forget_nested();
    std::string place = places.of(node);
    std::string hint = error.hint_text();
    if (hint.empty())
      hint = "compare the types and shapes of the inputs, and the attributes, with the operator's definition";
    note({problem_code(error.code()), Severity::error, place, error.message(), std::move(hint)}, place);
  };
  options.on_contradiction = [&](const ops::Contradiction& found) {
    if (is_enough() || !is_of_version(found, c)) return;
    places.forget_nested();
    std::string maker = places.of(*found.node);
    // Shapes that an exporter did not bring up to date are common, and runtimes go on with a warning.
    const Severity severity = may_be_same(found.stated, found.inferred) ? Severity::warning : Severity::error;
    note({Code::shape_contradiction, severity, places.of(*found.value),
          fmt::format("it is stated to be {}, but {} gives {} ({})", found.stated.str(), maker, found.inferred.str(),
                      found.why),
          "remove the stated type or correct it"},
         maker);
  };
  c.inferred = infer_types(c.model, std::move(copy), options);
}

void report_inference(Context& c) {
  // What is wrong with the node is said; that it cannot be inferred then is no news.
  for (auto& [problem, node_place] : c.findings) {
    if (c.report.has_error_at(node_place)) continue;
    if (problem.severity == Severity::warning)
      c.report.warning(problem.code, std::move(problem.place), std::move(problem.message), std::move(problem.hint));
    else
      c.report.error(problem.code, std::move(problem.place), std::move(problem.message), std::move(problem.hint));
  }
}

void check_type_constraints(Context& c) {
  for (const GraphPlace& place : c.graphs) {
    const Imports& imports = c.imports(place);
    for (const Node& node : place.graph->nodes()) {
      if (c.functions.find(node)) continue;
      const Schema* schema = ops::schema_for(node.domain, node.op, imports.version(node.domain));
      if (!schema) schema = schema_ahead_of(node);
      if (schema && !schema->deprecated) NodeTypes(c, node, *schema).check();
    }
  }
}

}  // namespace ingot::passes::rules
