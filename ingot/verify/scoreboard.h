#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ingot/verify/runtime.h"
#include "ingot/verify/test_case.h"
#include "ingot/verify/test_variant.h"

namespace ingot {
class Budget;
}

namespace ingot::verify {

/// Who answers: a runtime that runs the case with so much known of the inputs' shapes, or in another operator set; or a
/// converter, from ONNX to a format and back.
struct ScoreColumn {
  std::string name;           // "ort", "tflite"
  bool is_converter = false;  // a round trip through the format `name`
  UnknownShapes shapes = UnknownShapes::none;
  std::int64_t opset = 0;              // the case is brought to this one first; 0: as it is
  std::vector<std::string> command{};  // of a runtime that the user brings
  std::string version{};               // of the runtime, as far as it tells

  /// "ort, named dimensions"; "ort, opset 17"; "tflite and back"
  std::string title() const;
};

/// A runtime that the user brings: a program that speaks as docs/scoreboard.md says.
struct OwnRuntime {
  std::string name;
  std::vector<std::string> command;  // an absolute path and arguments
};

struct ScoreCell {
  enum class Outcome { not_run, passed, failed, unsupported };
  Outcome outcome = Outcome::not_run;
  std::string reason{};
};

/// One stored case and what all columns made of it.
struct ScoreLine {
  std::string name;
  std::string op;  // with its domain unless ai.onnx; empty: the model has more than one node
  std::int64_t opset = 0;
  std::vector<std::string> types;  // of its inputs
  std::vector<ScoreCell> cells;    // one per column
};

struct Scoreboard {
  std::vector<ScoreColumn> columns;
  std::vector<ScoreLine> lines;
};

struct ScoreOptions {
  std::vector<Runtime> runtimes = {Runtime::ingot};
  std::vector<OwnRuntime> own{};
  std::vector<std::int64_t> opsets{};  // also brought to these
  bool hides_shapes = true;            // also with named dimensions, and without a rank
  bool converts = true;                // round trips through all formats that can be written and read
  Peers peers{};
  int threads = 0;  // cases at once; 0: as many as the machine has
  Budget* budget = nullptr;
  /// Where the work in progress is kept, so that a run that ended goes on from there; empty: nowhere. Whoever has
  /// written the result removes it.
  std::string journal{};
  bool anew = false;  // whatever the journal says
  std::function<void(std::size_t done)> on_progress{};
};

/// Runs stored cases in runtimes and through converters, and compares with the outputs that are stored. Cases that were
/// at work when an earlier run ended are looked at alone, and not again when they end the program a second time.
Scoreboard score(const std::vector<TestCase>& cases, const ScoreOptions& options);

}  // namespace ingot::verify
