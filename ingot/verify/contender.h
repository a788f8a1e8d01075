#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/verify/runner.h"

namespace ingot::verify {

/// One of two models that are compared: a file and what runs it.
class Contender {
 public:
  /// Reads the file. Of `runtimes` the first that runs its format is taken. Without any, a reference is run by the
  /// runtime that its format is made for (ONNX without ONNX Runtime: by Ingot), a candidate by the same, except that
  /// Ingot runs ONNX, and all that nothing else here runs. Errors name the file.
  enum class Role { reference, candidate };
  Contender(const std::string& file, const std::vector<Runtime>& runtimes, const driver::LoadOptions& load,
            const Peers& peers, Role role);
  ~Contender();

  const std::string& file() const;
  const driver::Format& format() const;
  Runtime runtime() const;
  /// "TFLite 2.8.0"; the version is known after a run.
  std::string runtime_text() const;
  /// The model as Ingot reads it: its inputs and outputs are those of every runtime.
  const Model& model() const;
  /// Whether the file says that its inputs, or outputs, of 3 to 5 dimensions have their channels last, while those of
  /// the model it was made from have not.
  bool inputs_moved() const;
  bool outputs_moved() const;

  /// Runs on inputs by the model's names; `points` names further values that are wanted.
  Answer run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points = {});

  /// Goes on to the next runtime that is made for the format, where the request named none: another version may run
  /// what this one refuses. False if there is none left.
  bool try_next_runtime();

  /// The same file, run by Ingot.
  Contender in_ingot() const;

  /// The values inside that can be asked for, in running order.
  std::vector<Point> points() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::verify
