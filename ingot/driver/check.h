#pragma once
#include <vector>

#include "ingot/ir/opaque_model.h"
#include "ingot/passes/check/check.h"

namespace ingot::driver {

using passes::Problem;
using passes::Severity;

/// Is it valid ONNX: every problem, with its place.
std::vector<Problem> check(const Model& model, Budget* budget = nullptr);

/// Refuses a model that is not valid, in the words of check().
void require_valid(const Model& model, Budget* budget = nullptr);

/// Where a model comes from that Ingot made.
struct Made {
  bool is_imported = false;       // the shapes that it states are Ingot's too: they must be those that follow
  bool has_given_shapes = false;  // inputs got the shapes that the user asked for, which need not fit
};
/// What Ingot itself made of a valid model must be valid: if it is not, that is a bug, and the nodes are named. Types and
/// shapes that do not fit in what was imported are the file's own, as far as anyone can tell.
void require_sound(const Model& model, const Made& made, Budget* budget = nullptr);

}  // namespace ingot::driver
