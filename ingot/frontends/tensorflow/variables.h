#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/frontends/tensorflow/body.h"
#include "ingot/frontends/tensorflow/import.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// The variables that a graph asks for: initializers of the model, and what a training step makes of them.
class Variables {
 public:
  Variables(Graph& graph, const Body& main, const ImportOptions& options, const ModelFiles& files, Budget& budget)
      : graph_(graph), main_(main), options_(options), files_(files), budget_(budget) {}

  /// Refuses a variable that no file holds the value of; where the model is to learn, such a one begins as zeros.
  Value* get(const Resource& resource);
  bool has(const Value* variable) const;
  /// By the names of their nodes.
  const std::map<std::string, Value*>& all() const { return variables_; }
  /// Others take their places, as graphs are split.
  template <class F> void replace(const F& now) {
    for (auto& [name, variable] : variables_) variable = now(variable);
  }

  /// After a step the variable has this value.
  void update(Value* variable, Value* next) { updates_.insert_or_assign(variable, next); }
  /// Its value after a step; null: it does not change.
  Value* updated(Value* variable) const;
  const std::unordered_map<Value*, Value*>& updates() const { return updates_; }

  /// The names of those without a stored value.
  std::vector<std::string> take_blank() { return std::move(blank_); }

 private:
  std::optional<Tensor> zeros(const Resource& resource) const;

  Graph& graph_;
  const Body& main_;
  const ImportOptions& options_;
  const ModelFiles& files_;
  Budget& budget_;
  std::map<std::string, Value*> variables_;
  std::unordered_map<Value*, Value*> updates_;
  std::vector<std::string> blank_;
};

}  // namespace ingot::frontends::tensorflow
