#pragma once
#include <span>

#include "ingot/ops/compute.h"

// What the models of ai.onnx.ml share at run time: rows of features in, scores and labels out, computed in double.

namespace ingot::ops {

/// Input 0, [N, C] or [C] for one example, in double.
struct Examples {
  std::int64_t count = 0, features = 0;
  Array values;

  static Examples of(KernelContext& c);
  std::span<const double> row(std::int64_t i) const {
    return values.data<double>().subspan(static_cast<std::size_t>(i * features), static_cast<std::size_t>(features));
  }
};

enum class PostTransform { none, softmax, logistic, softmax_zero, probit };

/// The attribute post_transform; refuses others.
PostTransform post_transform_of(const KernelContext& c);
/// Transforms the scores of one example. SOFTMAX_ZERO leaves zeros as they are.
void transform_scores(std::span<double> scores, PostTransform transform);
/// The same as ONNX Runtime does it: a single score is only ever changed by PROBIT.
void transform_targets(std::span<double> scores, PostTransform transform);
/// Two scores from one, `scores[0]`, for a model of two labels, as ONNX Runtime makes them: [1 - s, s] where s is taken
/// for a probability, else [-s, s]; by LOGISTIC always the sigmoids of the latter; by PROBIT [probit(s), 0].
void spread_score(std::span<double> scores, PostTransform transform, bool is_probability);

/// A list of floats, in double; empty where it is absent.
std::vector<double> floats_of(const KernelContext& c, std::string_view name);

double dot(std::span<const double> a, std::span<const double> b);

/// Labels by their place, from the list of strings if there is one, else from that of integers.
class Labels {
 public:
  Labels(const KernelContext& c, std::string_view strings, std::string_view ints);
  std::size_t size() const { return strings_ ? strings_->size() : ints_ ? ints_->size() : 0; }
  /// Output 0: the label at the place of each example; refuses places without a label.
  void put(KernelContext& c, std::span<const std::size_t> places) const;

 private:
  const std::vector<std::string>* strings_ = nullptr;
  const std::vector<std::int64_t>* ints_ = nullptr;
};

/// Where the first of the highest scores is; there must be one.
std::size_t highest(std::span<const double> scores);

}  // namespace ingot::ops
