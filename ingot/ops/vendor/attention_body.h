#pragma once
#include <optional>

#include "ingot/ops/builder.h"
#include "ingot/ops/nn/heads.h"

// Attention in plain operators, as the engine recognises it: products, a sum, a softmax. Heads come before rows.

namespace ingot::ops {

/// What split_heads made of [batch, row, head * width], back.
Value* join_heads(GraphBuilder& g, Value* x);

/// What is masked and how: all of it is added to the scores.
struct MaskParts {
  Value* mask = nullptr;    // in ONNX Runtime's forms, by its shape; int32
  Value* bias = nullptr;    // added as it is; may be null
  double filter = -10000;   // what a masked place gets
  bool is_causal = false;   // then what lies ahead gets the lowest number instead
  Value* before = nullptr;  // how many keys lie before the first row's own; null: rows are the last of all keys
};

/// The sum of masks for q [B,N,S,H] and k [B,N,T,H], which fits [B,N,S,T]; null: nothing is masked. Nothing: the mask's
/// meaning depends on sizes that are not known, or it is of a form that is not defined here.
std::optional<Value*> mask_of(GraphBuilder& g, Value* q, Value* k, const MaskParts& parts);

struct Attended {
  Value* y = nullptr;       // [B,N,S,Hv]
  Value* scores = nullptr;  // before the softmax, with everything added
};
Attended attend(GraphBuilder& g, Value* q, Value* k, Value* v, double scale, Value* mask);

/// 1 / sqrt(width of a head), unless the attribute says otherwise; nothing: the width is not known.
std::optional<double> scale_of(const Value* q, float attribute);

}  // namespace ingot::ops
