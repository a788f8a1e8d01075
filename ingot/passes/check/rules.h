#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/passes/check/place.h"
#include "ingot/passes/check/report.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::ops {
struct Schema;
}

// The rules of ONNX, one file per subject. Each function looks at the whole model.
namespace ingot::passes::rules {

/// The imports of a model or function, for many look-ups.
class Imports {
 public:
  /// A model from before IR 3 cannot say its imports: it means version 1 of ai.onnx.
  Imports(const OpsetImports& imports, std::int64_t ir_version);
  /// 0: not imported.
  std::int64_t version(std::string_view domain) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> versions_;
};

struct Context {
  Context(const Model& checked, const CheckOptions& how);

  const Imports& imports(const GraphPlace& place) const { return imports_of(place.function); }
  const Imports& imports_of(const Function* function) const;  // null: the model's
  /// As inferred; where it is not, as stated.
  const Type& type_of(const Value& value) const;

  const Model& model;
  const CheckOptions& options;
  Report report;
  Places places;
  FunctionIndex functions;
  std::vector<GraphPlace> graphs;
  /// Empty: only what the model states is known.
  std::optional<InferredTypes> inferred;
  /// What inference found, with the place of the node; reported last, and only where nothing else explains it.
  struct Finding {
    Problem problem;
    std::string node_place;
  };
  std::vector<Finding> findings;
  /// A name is defined twice in one graph: what is found by name is not to be trusted.
  bool is_ambiguous = false;

 private:
  Imports model_imports_;
  std::unordered_map<const Function*, Imports> function_imports_;
};

void check_versions(Context& c);     // IR version, imports, domains in use
void check_ir_features(Context& c);  // what the IR version stated does not have yet
void check_names(Context& c);        // definitions, scopes, order
void check_functions(Context& c);    // signatures, recursion
void check_operators(Context& c);    // existence, number of inputs and outputs
void check_attributes(Context& c);
void check_stated_types(Context& c);
void check_tensors(Context& c);      // initializers, tensors in attributes
void check_annotations(Context& c);  // metadata and quantization annotations
void check_devices(Context& c);

/// Finds the types for the rules below; notes what inference refuses and what it finds to be other than stated.
void infer(Context& c);
void check_outputs(Context& c);
void check_type_constraints(Context& c);
/// Of what ONNX Runtime has in every operator set, as the standard has it since a later one: files that its tools made
/// say so, and mean the same. Null: it is no such operator.
const ops::Schema* schema_ahead_of(const Node& node);
void check_subgraphs(Context& c);
void check_training(Context& c);
void report_inference(Context& c);

/// Nodes of this very graph that form a cycle, along the data, the first repeated at the end; empty if there is none.
std::vector<const Node*> find_cycle(const Graph& graph);

/// "1 input", "2 inputs"
std::string counted(std::size_t n, std::string_view noun);

}  // namespace ingot::passes::rules
