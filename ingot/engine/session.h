#pragma once
#include <functional>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ingot/engine/in_place.h"
#include "ingot/engine/inputs.h"
#include "ingot/engine/profile.h"
#include "ingot/ir/array.h"
#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::engine {

struct SessionOptions {
  Budget* budget = nullptr;          // null: no limit on memory and time. Must outlive the session.
  int threads = 0;                   // 0: as many as the machine runs at once
  bool is_fast = true;               // off: reference kernels only
  std::vector<Update> updates = {};  // what runs may write over, if they are allowed to
};

struct RunOptions {
  Profile* profile = nullptr;   // filled with what each node did
  InPlace* in_place = nullptr;  // null: nothing that comes in is written over
  std::uint64_t draw = 0;       // each number gives other random numbers, the same number the same ones
  /// Told of each output that a node makes as soon as it is made; the others are inputs and constants.
  std::function<void(std::size_t output, const Datum& value)> on_output = {};
};

/// Which kernel a node got.
struct KernelChoice {
  std::string node, op, kernel;
  std::vector<std::pair<std::string, std::string>> refusals;  // faster kernels, and why each is not for the node
};

/// A model that is ready to run, any number of times and from several threads at once.
class Session {
 public:
  /// Brings a copy of the model to the newest operator sets and plans it; the model's weights are shared, not copied.
  /// Throws one Error that lists all operators that cannot be run. Where planning needs shapes that the model leaves
  /// open, it is done by the first run with inputs of each shape.
  explicit Session(const Model& model, const SessionOptions& options = {});
  ~Session();

  /// Inputs by name; those with a default may be left out: until one is given, defaults are constants. Inputs are read where they are (Array::view) and never
  /// written, unless `in_place` allows it. Returns the graph's outputs in order; an output that the model passes
  /// through shares its input's memory. Memory is charged to the budget while the run lasts. Errors name node and
  /// operator.
  std::vector<NamedDatum> run(const std::vector<NamedDatum>& inputs, const RunOptions& options = {}) const;

  /// The model as it is run, its defaults as constants.
  const Model& model() const;

  /// The nodes in running order, those of subgraphs after those of the graphs around them. Where plans are made by
  /// runs, that of the last new shapes; none before the first run.
  std::vector<KernelChoice> kernels() const;

 private:
  enum class Defaults { constant, open };
  Session(const Model& model, const SessionOptions& options, Defaults defaults);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::engine
