#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/verify/peer.h"
#include "ingot/verify/runtime.h"

namespace ingot::verify {

/// A value inside a model where it can be compared with another: the output of one of its operators.
struct Point {
  std::string name;    // of the value, as the file has it
  std::string op;      // what computes it, in the words of its framework; may be empty
  std::string source;  // the value that it stands for in the model that this one was converted from; may be empty
};

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

  struct Answer {
    std::string error{};  // empty: it ran
    std::vector<engine::NamedDatum> outputs{};
    std::vector<engine::NamedDatum> points{};  // those asked for, in order
  };
  /// Runs on inputs by the model's names; `points` names further values that are wanted.
  Answer run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points = {});

  /// Goes on to the next runtime that is made for the format, where the request named none: another version may run
  /// what this one refuses. False if there is none left.
  bool try_next_runtime();

  /// The values inside that can be asked for, in running order.
  std::vector<Point> points() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs a model in Ingot; further values can be asked for as above.
Contender::Answer run_in_ingot(const Model& model, const std::vector<engine::NamedDatum>& inputs,
                               const std::vector<std::string>& points, Budget* budget);

}  // namespace ingot::verify
