#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/engine/named_datum.h"
#include "ingot/verify/runtime.h"

// Parts of a model, each in a runtime of its own: what `ingot partition` and `ingot split` write.

namespace ingot::verify {

/// Whether a file is a plan.
bool is_plan(const std::string& path);

struct PlanPart {
  std::string name, file, runtime;  // the runtime's title
  double milliseconds = 0;
};

struct PlanResult {
  Model ports;  // inputs and outputs of the whole, without nodes
  std::vector<engine::NamedDatum> outputs;
  std::vector<PlanPart> parts;
};

struct PlanRequest {
  std::string plan;
  driver::LoadOptions load{};
  Peers peers{};
  std::vector<std::string> inputs{};    // see driver::load_inputs
  std::optional<std::uint32_t> seed{};  // draws the inputs that are not given
};

/// Runs the parts one after the other. Files are those beside the plan. Errors name the part.
PlanResult run_plan(const PlanRequest& request);

}  // namespace ingot::verify
