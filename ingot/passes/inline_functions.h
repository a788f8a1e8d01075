#pragma once
#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::passes {

/// Replaces calls of model-local functions by their bodies, nested ones too, and drops the functions. Nobody knows
/// types in bodies: what infers or needs them comes afterwards. Bodies in other versions of operator sets are brought
/// to the model's. `keep`, if given, says which functions stay calls. Throws on recursion and when the budget's nodes
/// run out.
void inline_functions(Model& model, Budget* budget = nullptr,
                      const std::function<bool(const Function&)>& keep = nullptr);

/// Replaces one call by the function's body, which must not call itself. Returns the number of nodes added.
/// The nodes stand before the call's old place.
std::size_t inline_call(Node& call, const Function& function);

/// Gives the attributes that refer to the function's attributes the values of the call, or their defaults;
/// without either they are dropped.
void resolve_references(Graph& body, const Function& function, const Node& call);

/// The body as one call knows it: its references resolved, its inputs with the types of the call's.
std::unique_ptr<Graph> body_as_called(const Function& function, const Node& call);

/// Functions by (domain, name, overload), for models with many of them.
class FunctionIndex {
 public:
  explicit FunctionIndex(const Model& model);
  const Function* find(const Node& node) const;

 private:
  std::unordered_map<std::string, const Function*> by_key_;
};

}  // namespace ingot::passes
