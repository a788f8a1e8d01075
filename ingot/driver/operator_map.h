#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::driver {

/// What operators of the source are called in the result: a file that --map-ops names (docs/plugins.md has its form).
class OperatorMap {
 public:
  OperatorMap() = default;
  explicit OperatorMap(const std::string& file, Budget* budget);

  /// Nodes that are to be renamed are to be kept until then.
  void allow(std::vector<std::string>& custom) const;
  /// What they are called afterwards: "Op:domain".
  std::vector<std::string> names_after() const;
  /// Renames nodes everywhere in the model, functions too; gives a line for each operator that was found.
  std::vector<std::string> apply(Model& model) const;

 private:
  struct Row {
    std::string from, op, domain;
    std::int64_t version = 1;                                        // of the domain, where the model has none
    std::map<std::string, std::optional<std::string>> attributes{};  // to another name, or away
    std::function<void(Attributes&)> set{};                          // gives each node what it needs besides
  };
  std::vector<Row> rows_;
};

}  // namespace ingot::driver
