#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/engine/profile.h"
#include "ingot/ir/opaque_model.h"

namespace ingot {

class Budget;
using engine::NamedDatum;
using engine::Profile;

struct SessionOptions {
  Budget* budget = nullptr;    // null: no limit on memory and time. Must outlive the session.
  int threads = 0;             // 0: as many as the machine runs at once
  bool is_fast = true;         // off: reference kernels only
  bool requires_valid = true;  // off: models that check() refuses are tried too, as by `ingot run --unchecked`
};

struct RunOptions {
  Profile* profile = nullptr;  // filled with what each node did; not shared between runs at the same time
  std::uint64_t draw = 0;      // each number gives other random numbers, the same number the same ones
};

/// A model that is ready to run, any number of times and from several threads at once. Takes what `ingot run` takes:
/// Gradient operators are expanded.
class Session {
 public:
  /// The weights are shared with the model, which may go before the session. Throws one Error that lists all operators
  /// that cannot be run.
  explicit Session(const Model& model, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Inputs by name; those with a default may be left out. Inputs are read where they are (Array::view) and never
  /// written. Returns the outputs in the model's order; one that the model passes through shares its input's memory.
  /// Errors name node and operator.
  std::vector<NamedDatum> run(const std::vector<NamedDatum>& inputs, const RunOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot
