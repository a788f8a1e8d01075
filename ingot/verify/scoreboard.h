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

/// Who answers: a runtime that runs the case with so much known of the inputs' shapes, or a converter, from ONNX to a
/// format and back.
struct ScoreColumn {
  std::string name;           // "ort", "tflite"
  bool is_converter = false;  // a round trip through the format `name`
  UnknownShapes shapes = UnknownShapes::none;
  std::string version{};  // of the runtime, as far as it tells

  /// "ort, symbolic shapes"; "tflite and back"
  std::string title() const;
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
  bool hides_shapes = true;  // also with named dimensions, and without a rank
  bool converts = true;      // round trips through all formats that can be written and read
  Peers peers{};
  int threads = 0;  // cases at once; 0: as many as the machine has
  Budget* budget = nullptr;
  std::function<void(std::size_t done)> on_progress{};
};

/// Runs stored cases in runtimes and through converters, and compares with the outputs that are stored.
Scoreboard score(const std::vector<TestCase>& cases, const ScoreOptions& options);

}  // namespace ingot::verify
