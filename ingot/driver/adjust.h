#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/options.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/passes/half.h"

namespace ingot {
class Budget;
}

namespace ingot::driver {

/// Refuses names that are not the model's inputs, and shapes that contradict what it says.
void set_input_shapes(Model& model, const InputShapes& shapes);

/// What can be asked of a model in memory, whatever it came from and becomes.
struct AdjustOptions {
  std::optional<std::int64_t> opset{};  // of ai.onnx; the other standard domains follow the release that brought it
  std::string target{};                 // "ort-1.15", "onnx-1.12": opsets and IR version of that program
  InputShapes input_shapes{};
  std::optional<Dim> batch{};  // of the inputs, and of all that follows from it
  Renames renames{};
  bool infer_types = false;                   // write the types of all values
  AutoCast auto_cast = AutoCast::none;        // for element types that the operator set asked for lacks
  bool standard = false;                      // operators of others become ONNX's own
  std::optional<passes::HalfOptions> half{};  // compute in half precision
  Budget* budget = nullptr;                   // of what is run to prove that another batch means the same
};

struct AdjustReport {
  std::vector<std::string> notes;  // every change that was not asked for by name, a line each
  std::size_t nodes_changed = 0, nodes_added = 0;
  std::optional<passes::HalfReport> half{};
};

/// Refuses an operator set beside a program that brings its own.
void refuse_two_targets(const AdjustOptions& options);

/// Changes a model as asked. Nothing asked, nothing changed.
AdjustReport adjust(Model& model, const AdjustOptions& options);

}  // namespace ingot::driver
