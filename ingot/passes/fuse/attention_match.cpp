// Finds attention by its softmax and walks outwards.
#include "ingot/passes/fuse/attention_match.h"

#include <cmath>
#include <limits>

namespace ingot::passes::fuse {
namespace {

/// What is as far below every score as this counts for nothing behind a softmax.
constexpr double kFarBelow = -1000;

/// value = x * number, or x / number, of a node that only `reader` reads.
struct Scaled {
  Value* x = nullptr;
  double number = 1;
};

Scaled before_number(Value* value, const Node& reader) {
  if (const Node* product = own_maker(value, "Mul", reader)) {
    const WithNumber parts = split_lone_number(*product);
    if (parts.other) return {parts.other, parts.number};
  }
  if (const Node* quotient = own_maker(value, "Div", reader)) {
    const auto divisor = number_of(quotient->input(1));
    if (divisor && *divisor != 0 && split_lone_number(*quotient).place == 0 && split_lone_number(*quotient).other)
      return {quotient->input(0), 1 / *divisor};
  }
  return {};
}

class Matcher {
 public:
  std::optional<SpelledAttention> match(const Node& mix) {
    const Node* softmax = own_maker(mix.input(0), "Softmax", mix);
    if (!softmax || !is_float_tensor(softmax->input(0))) return std::nullopt;
    const std::int64_t rank = rank_of(softmax->input(0)), axis = softmax->attributes.int_or("axis", -1);
    if ((rank != 3 && rank != 4) || (axis != -1 && axis != rank - 1) || rank_of(mix.input(1)) != rank)
      return std::nullopt;
    const Node* product = before_scores(softmax);
    if (!product || rank_of(product->input(0)) != rank || rank_of(product->input(1)) != rank) return std::nullopt;
    found_.q = without_number(product->input(0), *product);
    found_.v = mix.input(1);
    found_.k = without_number(product->input(1), *product);
    if (const Node* turn = maker(found_.k, "Transpose"); turn && is_turn(*turn, rank)) {
      found_.k = without_number(turn->input(0), *turn);
    } else {
      found_.is_k_turned = true;
    }
    return fits(rank) && !(found_.scale == 0) ? std::optional(found_) : std::nullopt;
  }

 private:
  static bool is_turn(const Node& turn, std::int64_t rank) {
    return rank == 4 ? has_perm(turn, {0, 1, 3, 2}) : has_perm(turn, {0, 2, 1});
  }

  Value* without_number(Value* value, const Node& reader) {
    const Scaled scaled = before_number(value, reader);
    if (!scaled.x) return value;
    found_.scale *= scaled.number;
    return scaled.x;
  }

  /// Walks from the softmax back to q k^T, noting what is added, chosen and multiplied on the way.
  const Node* before_scores(const Node* reader) {
    Value* scores = reader->input(0);
    bool is_scaled = false;
    for (int steps = 0; steps < 6; ++steps) {
      if (const Node* product = own_maker(scores, "MatMul", *reader)) return product;
      if (const Scaled scaled = before_number(scores, *reader); scaled.x) {
        found_.scale *= scaled.number;
        is_scaled = true;
        reader = scores->producer();
        scores = scaled.x;
        continue;
      }
      const Node* node = is_scaled ? nullptr : scores->producer();
      if (!node || !is_read_only_by(scores, *reader)) return nullptr;
      Value* inner = node->is("Add") ? before_sum(*node) : node->is("Where") ? before_choice(*node) : nullptr;
      if (!inner) return nullptr;
      reader = node;
      scores = inner;
    }
    return nullptr;
  }

  /// Whether products, numbers and choices alone lead to it, as to scores.
  static bool may_be_scores(const Value* v, const Node& reader) {
    const Node* node = v ? v->producer() : nullptr;
    if (!node || !is_read_only_by(v, reader) || !may_have_same_shape(v, reader.output())) return false;
    for (int steps = 0; node && steps < 6; ++steps) {
      if (node->is("MatMul")) return true;
      if (node->is("Where")) {
        node = number_of(node->input(2)) ? node->input(1)->producer() : node->input(2)->producer();
      } else if (node->is("Mul") || node->is("Div")) {
        node = split_number(*node).other ? split_number(*node).other->producer() : nullptr;
      } else if (node->is("Add")) {
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
          if (may_be_scores(node->input(i), *node)) return true;
        return false;
      } else {
        return false;
      }
    }
    return false;
  }

  Value* before_sum(const Node& sum) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      Value* bias = sum.input(1 - i);
      if (!may_be_scores(sum.input(i), sum) || rank_of(bias) < 0 || !is_float_tensor(bias)) continue;
      found_.biases.push_back(bias);
      return sum.input(i);
    }
    return nullptr;
  }

  Value* before_choice(const Node& choice) {
    for (const bool is_inverted : {false, true}) {
      Value* scores = choice.input(is_inverted ? 2 : 1);
      const auto other = number_of(choice.input(is_inverted ? 1 : 2));
      if (!other || !(*other <= kFarBelow) || !may_be_scores(scores, choice)) continue;
      found_.choices.push_back({choice.input(0), *other, is_inverted});
      return scores;
    }
    return nullptr;
  }

  /// Batch and heads agree without broadcasting.
  bool fits(std::int64_t rank) const {
    for (const Value* value : {found_.k, found_.v})
      for (std::int64_t axis = 0; axis < rank - 2; ++axis)
        if (!may_be_same(dim_of(found_.q, axis), dim_of(value, axis))) return false;
    return true;
  }

  SpelledAttention found_;
};

}  // namespace

std::optional<SpelledAttention> match_attention(const Node& mix) { return Matcher().match(mix); }

}  // namespace ingot::passes::fuse
