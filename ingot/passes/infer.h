#pragma once
#include <functional>

#include "ingot/ir/model.h"
#include "ingot/ops/infer.h"

namespace ingot {
class Error;
}

namespace ingot::passes {

struct InferOptions {
  /// Types that the file states stay as they are; only what is not stated is filled in.
  bool keep_declared = false;
  /// A node that refuses its inputs keeps unknown outputs; off: the error is thrown.
  bool tolerate_errors = false;
  Budget* budget = nullptr;
  std::function<void(const ops::Contradiction&)> on_contradiction;
  std::function<void(const Node&, const Error&)> on_error;  // implies tolerance
};

/// Infers types, shapes and small integer values of all values in the model's graphs, whatever their opset:
/// an older model is inferred on a copy in the newest operator sets, value by value of the same name.
void infer(Model& model, const InferOptions& options = {});

/// Types that were inferred without changing the model: pointers into the copy that inference worked on.
struct InferredTypes {
  Model copy;
  std::unordered_map<const Value*, const Type*> types;
};
/// `copy` is a copy of the model; its nodes, or what they become in the newest operator sets, are those that the
/// callbacks see.
InferredTypes infer_types(const Model& model, Model copy, const InferOptions& options = {});

}  // namespace ingot::passes
