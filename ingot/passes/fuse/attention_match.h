#pragma once
#include <optional>

#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {

/// softmax(q k^T * scale + bias) v, as spelled out by nodes that only each other read.
struct SpelledAttention {
  Value *q = nullptr, *k = nullptr, *v = nullptr;  // [batch, heads, row, width], or [batch, row, width]
  bool is_k_turned = false;                        // k has its last two axes swapped
  double scale = 1;
  Values biases;  // added to the scores, each of rank 1 to q's
  struct Choice {
    Value* keeps;      // a condition
    double otherwise;  // what stands where it does not hold
    bool is_inverted;  // it stands where it holds
  };
  std::vector<Choice> choices;
  bool has_rank_3() const { return rank_of(q) == 3; }
};

/// Of the product with the values, the last node of an attention.
std::optional<SpelledAttention> match_attention(const Node& mix);

}  // namespace ingot::passes::fuse
