#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::boosting {

struct Json;

/// One node of a tree. A branch asks `x rule threshold`; what holds goes to `yes`.
struct TreeNode {
  enum class Rule : std::uint8_t { at_most, less, greater, member, leaf };
  Rule rule = Rule::leaf;
  bool missing_goes_yes = false;
  std::int32_t feature = 0;
  std::int32_t yes = 0, no = 0;
  double threshold = 0;
  std::vector<double> values{};  // a leaf's, one or one per group; the set of a branch of rule member
};

/// A leaf that is a sum over features in place of a number. Where one of these is missing, it is the number.
struct LinearLeaf {
  double constant = 0;
  std::vector<std::int32_t> features{};
  std::vector<double> slopes{};
};

struct Tree {
  std::vector<TreeNode> nodes{};            // the first is the root
  std::vector<LinearLeaf> linear_leaves{};  // of the last nodes; empty: leaves are numbers
  std::int32_t group = 0;                   // which output a leaf of one value belongs to
  double weight = 1;                        // DART
};

/// How sums become predictions.
enum class Link : std::uint8_t {
  identity,
  sigmoid,  // of `slope` times the sum
  softmax,
  sigmoids,  // one per class, not made to sum to one
  exponential,
  square,  // with the sign of the sum
  log1p_exp,
  is_positive,          // 1 or 0
  cumulative_softplus,  // each after the first adds softplus
};

/// A boosted model of any library, as its file has it.
struct Model {
  std::string producer{};   // "XGBoost 1.7.4"
  std::string objective{};  // as the library names it
  Link link = Link::identity;
  double slope = 1;
  bool is_classifier = false;    // of `groups` classes, or of two where there is one group
  bool is_single = false;        // features and sums are float32
  bool rounds_features = false;  // features are rounded to float32, sums are double
  bool has_dictionary = false;   // the file says which texts the numbers of its categories stand for
  bool cuts_to_zero = false;     // a category between -1 and 0 is 0, not none
  bool is_average = false;       // the sum is divided by the number of rounds
  double scale = 1;              // of the sum, before the base is added
  std::int64_t features = 0, groups = 1;
  std::vector<double> base{};  // added to the sums, one per group
  std::vector<Tree> trees{};
  std::vector<double> weights{};  // a linear model: [features + 1, groups], the last row is the bias
  std::vector<std::string> feature_names{};
  std::vector<std::int64_t> zero_is_missing{};  // features of which 0 counts as missing
  std::vector<std::string> class_names{};
  std::vector<double> class_numbers{};  // in place of names
  std::int64_t rounds = 0;
  std::int64_t best_rounds = 0;           // how many of the rounds predict; 0: all
  std::vector<std::size_t> round_ends{};  // trees up to and with each round; empty: groups trees each
};

/// Refuses trees whose nodes do not form one, features that do not exist and leaves of the wrong width.
void check(const Model& model);

/// XGBoost: JSON, UBJSON (files and the snapshots inside of pickles), and the binary form before 1.0.
Model read_xgboost(const Bytes& file, Budget* budget = nullptr);
Model read_xgboost(const Json& json);
bool looks_like_xgboost_binary(const Bytes& file);
/// LightGBM: model files of text.
Model read_lightgbm(std::string_view text, Budget* budget = nullptr);
/// CatBoost: model files of JSON.
Model read_catboost(const Json& json);
/// Its own files (.cbm).
Model read_catboost_binary(const Bytes& file);
bool looks_like_catboost_binary(const Bytes& file);

}  // namespace ingot::formats::boosting
