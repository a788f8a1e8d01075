#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/ir/array.h"
#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::engine {

struct SessionOptions {
  Budget* budget = nullptr;  // null: unlimited
  int threads = 0;           // 0: as many as the machine runs at once
  bool is_fast = true;       // off: reference kernels only
};

struct NamedDatum {
  std::string name;
  Datum value;
};

/// A model that is ready to run, any number of times and from several threads at once.
class Session {
 public:
  /// Brings a copy of the model to the newest operator sets and plans it. Throws one Error that lists all
  /// operators that cannot be run.
  explicit Session(const Model& model, const SessionOptions& options = {});
  ~Session();

  /// Inputs by name; those with a default may be left out. Returns the graph's outputs in order.
  std::vector<NamedDatum> run(const std::vector<NamedDatum>& inputs) const;

  const Model& model() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace ingot::engine
