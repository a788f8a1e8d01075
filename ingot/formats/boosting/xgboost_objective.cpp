// XGBoost's objectives.
#include "ingot/formats/boosting/xgboost_objective.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ingot/base/error.h"

namespace ingot::formats::boosting {
namespace {

enum class Base { identity, logit, log };
struct Row {
  std::string_view name;
  Base base;
  Link link;
  bool is_classifier;
};

constexpr Row kObjectives[] = {
    {"binary:hinge", Base::identity, Link::is_positive, true},
    {"binary:logistic", Base::logit, Link::sigmoid, true},
    {"binary:logitraw", Base::identity, Link::identity, false},
    {"count:poisson", Base::log, Link::exponential, false},
    {"multi:softmax", Base::identity, Link::softmax, true},
    {"multi:softprob", Base::identity, Link::softmax, true},
    {"rank:map", Base::identity, Link::identity, false},
    {"rank:ndcg", Base::identity, Link::identity, false},
    {"rank:pairwise", Base::identity, Link::identity, false},
    {"reg:absoluteerror", Base::identity, Link::identity, false},
    {"reg:expectileerror", Base::identity, Link::identity, false},
    {"reg:gamma", Base::log, Link::exponential, false},
    {"reg:linear", Base::identity, Link::identity, false},
    {"reg:logistic", Base::logit, Link::sigmoid, false},
    {"reg:pseudohubererror", Base::identity, Link::identity, false},
    {"reg:quantileerror", Base::identity, Link::identity, false},
    {"reg:squarederror", Base::identity, Link::identity, false},
    {"reg:squaredlogerror", Base::identity, Link::identity, false},
    {"reg:tweedie", Base::log, Link::exponential, false},
    {"survival:aft", Base::log, Link::exponential, false},
    {"survival:cox", Base::log, Link::exponential, false},
};

double margin(Base base, double score) {
  if (base == Base::log) return std::log(score);
  // XGBoost computes it in float.
  if (base == Base::logit) return -std::log(1.0f / static_cast<float>(score) - 1.0f);
  return score;
}

double inverse_softplus(double y) { return y + std::log(-std::expm1(-y)); }

}  // namespace

void set_xgboost_objective(Model& model, std::vector<double> base_scores) {
  const auto* row = std::ranges::find(kObjectives, model.objective, &Row::name);
  if (row == std::end(kObjectives))
    throw Error(Code::unsupported_setting, "the objective '" + model.objective + "' is not known")
        .hint("--raw-scores gives the sums of the leaves");
  model.link = row->link;
  model.is_classifier = row->is_classifier;
  constexpr std::int64_t kMostGroups = 1'000'000;
  if (model.groups > kMostGroups) throw Error(Code::bad_source_graph, "the model has more than 1,000,000 outputs");
  if (base_scores.empty()) base_scores = {0.5};
  if (base_scores.size() == 1) base_scores.resize(static_cast<std::size_t>(model.groups), base_scores[0]);
  if (std::cmp_not_equal(base_scores.size(), model.groups))
    throw Error(Code::bad_source_graph, "the model does not have one base score per output");
  model.base.clear();
  const bool is_cumulative = model.objective == "reg:expectileerror" && model.groups > 1;
  for (std::size_t i = 0; i < base_scores.size(); ++i) {
    const bool follows = is_cumulative && i > 0;
    constexpr double kLeastStep = 1e-6;
    model.base.push_back(follows ? inverse_softplus(std::max(base_scores[i] - base_scores[i - 1], kLeastStep))
                                 : margin(row->base, base_scores[i]));
  }
  if (is_cumulative) model.link = Link::cumulative_softplus;
}

}  // namespace ingot::formats::boosting
