// LightGBM's models: text, a line per key.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/boosting/model.h"

namespace ingot::formats::boosting {
namespace {

using Section = std::map<std::string_view, std::string_view>;

[[noreturn]] void refuse_text(const std::string& why) {
  throw Error(Code::bad_source_graph, "the model of LightGBM " + why);
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

double to_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc::result_out_of_range) return word.find("e-") != std::string_view::npos ? 0 : HUGE_VAL;
  if (error != std::errc() || end != word.data() + word.size())
    refuse_text("holds '" + std::string(word.substr(0, 40)) + "' in place of a number");
  return value;
}

std::vector<double> numbers_of(const Section& section, std::string_view key, std::size_t count) {
  const auto found = section.find(key);
  std::vector<double> values;
  if (found != section.end())
    for (const std::string_view word : words(found->second)) values.push_back(to_number(word));
  if (values.size() != count)
    refuse_text(fmt::format("has {} values of '{}' in place of {}", values.size(), key, count));
  return values;
}

std::int64_t integer_of(const Section& section, std::string_view key, std::int64_t fallback) {
  const auto found = section.find(key);
  if (found == section.end()) return fallback;
  const double value = to_number(found->second);
  if (!(std::abs(value) < 1e9)) refuse_text("has a '" + std::string(key) + "' that is too large");
  return static_cast<std::int64_t>(value);
}

/// Bits of words of 32.
std::vector<double> category_set(const std::vector<double>& bounds, const std::vector<double>& bits, double index) {
  const auto i = static_cast<std::size_t>(index);
  if (!(index >= 0) || i + 1 >= bounds.size()) refuse_text("has a set of categories that does not exist");
  std::vector<double> set;
  for (double w = bounds[i]; w < bounds[i + 1]; ++w) {
    if (w < 0 || w >= static_cast<double>(bits.size())) refuse_text("has a set of categories that does not exist");
    const auto word = static_cast<std::uint32_t>(bits[static_cast<std::size_t>(w)]);
    for (int bit = 0; bit < 32; ++bit)
      if (word >> bit & 1) set.push_back((w - bounds[i]) * 32 + bit);
  }
  return set;
}

class TreeReader {
 public:
  TreeReader(const Section& section, Model& model) : section_(section), model_(model) {}

  Tree read() {
    const std::int64_t leaves = integer_of(section_, "num_leaves", 0);
    if (leaves < 1 || leaves > 10'000'000) refuse_text("has a tree without leaves");
    const auto count = static_cast<std::size_t>(leaves), branches = count - 1;
    const auto values = numbers_of(section_, "leaf_value", count);
    Tree tree;
    tree.nodes.resize(branches + count);
    for (std::size_t i = 0; i < count; ++i) tree.nodes[branches + i].values = {values[i]};
    if (integer_of(section_, "is_linear", 0) != 0) tree.linear_leaves = linear_leaves(count);
    if (branches == 0) return tree;
    const auto features = numbers_of(section_, "split_feature", branches),
               splits = numbers_of(section_, "threshold", branches),
               left = numbers_of(section_, "left_child", branches),
               right = numbers_of(section_, "right_child", branches),
               kinds = section_.contains("decision_type") ? numbers_of(section_, "decision_type", branches)
                                                          : std::vector<double>(branches);
    read_sets();
    for (std::size_t i = 0; i < branches; ++i) {
      TreeNode& node = tree.nodes[i];
      node.feature = static_cast<std::int32_t>(features[i]);
      node.yes = child(left[i], branches);
      node.no = child(right[i], branches);
      decide(node, static_cast<unsigned>(kinds[i]), splits[i]);
    }
    return tree;
  }

 private:
  std::vector<LinearLeaf> linear_leaves(std::size_t count) const {
    const auto constants = numbers_of(section_, "leaf_const", count),
               sizes = numbers_of(section_, "num_features", count);
    double total = 0;
    for (const double size : sizes) {
      if (!(size >= 0) || size > static_cast<double>(model_.features)) refuse_text("has a leaf of too many features");
      total += size;
    }
    const auto features = numbers_of(section_, "leaf_features", static_cast<std::size_t>(total)),
               slopes = numbers_of(section_, "leaf_coeff", static_cast<std::size_t>(total));
    std::vector<LinearLeaf> leaves;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      LinearLeaf leaf{.constant = constants[i]};
      for (const std::size_t end = at + static_cast<std::size_t>(sizes[i]); at < end; ++at) {
        if (!(features[at] >= 0) || features[at] >= static_cast<double>(model_.features))
          refuse_text("has a leaf of a feature that does not exist");
        leaf.features.push_back(static_cast<std::int32_t>(features[at]));
        leaf.slopes.push_back(slopes[at]);
      }
      leaves.push_back(std::move(leaf));
    }
    return leaves;
  }
  static std::int32_t child(double number, std::size_t branches) {
    if (!(std::abs(number) < 1e9)) refuse_text("leads to a node that does not exist");
    const auto at = static_cast<std::int32_t>(number);
    return at >= 0 ? at : static_cast<std::int32_t>(branches) + ~at;
  }
  void read_sets() {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_of(section_, "num_cat", 0)));
    if (count == 0) return;
    bounds_ = numbers_of(section_, "cat_boundaries", count + 1);
    const auto found = section_.find("cat_threshold");
    if (found == section_.end()) refuse_text("has sets of categories, but no 'cat_threshold'");
    for (const std::string_view word : words(found->second)) bits_.push_back(to_number(word));
  }
  /// decision_type: bit 0 a set, bit 1 missing goes left, bits 2 and 3 what is missing: nothing, zero, NaN.
  void decide(TreeNode& node, unsigned kind, double split) {
    if (kind & 1) {
      node.rule = TreeNode::Rule::member;
      node.values = category_set(bounds_, bits_, split);
      node.missing_goes_yes = false;
      return;
    }
    node.rule = TreeNode::Rule::at_most;
    node.threshold = split;
    const unsigned missing = kind >> 2 & 3;
    // Where nothing is missing, NaN counts as zero.
    node.missing_goes_yes = missing == 0 ? 0 <= split : (kind & 2) != 0;
    if (missing == 1) model_.zero_is_missing.push_back(node.feature);
  }

  const Section& section_;
  Model& model_;
  std::vector<double> bounds_, bits_;
};

struct Objective {
  std::string_view name;
  Link link;
  bool is_classifier;
};
constexpr Objective kObjectives[] = {
    {"binary", Link::sigmoid, true},
    {"cross_entropy", Link::sigmoid, false},
    {"cross_entropy_lambda", Link::log1p_exp, false},
    {"custom", Link::identity, false},
    {"fair", Link::identity, false},
    {"gamma", Link::exponential, false},
    {"huber", Link::identity, false},
    {"lambdarank", Link::identity, false},
    {"mape", Link::identity, false},
    {"multiclass", Link::softmax, true},
    {"multiclassova", Link::sigmoids, true},
    {"none", Link::identity, false},
    {"poisson", Link::exponential, false},
    {"quantile", Link::identity, false},
    {"rank_xendcg", Link::identity, false},
    {"regression", Link::identity, false},
    {"regression_l1", Link::identity, false},
    {"regression_l2", Link::identity, false},
    {"tweedie", Link::exponential, false},
    {"xendcg", Link::identity, false},
    {"xentlambda", Link::log1p_exp, false},
    {"xentropy", Link::sigmoid, false},
};

void read_objective(std::string_view line, Model& model) {
  const auto parts = words(line);
  if (parts.empty()) return;
  model.objective = parts[0];
  const auto* row = std::ranges::find(kObjectives, parts[0], &Objective::name);
  if (row == std::end(kObjectives))
    throw Error(Code::unsupported_setting, "the objective '" + model.objective + "' is not known");
  model.link = row->link;
  model.is_classifier = row->is_classifier;
  for (const std::string_view part : parts) {
    if (part == "sqrt") model.link = Link::square;
    if (part.starts_with("sigmoid:")) model.slope = to_number(part.substr(8));
  }
}

/// A file that was cut off between two trees looks whole, but its head tells how long each tree is.
void require_whole(const Section& head, std::size_t trees) {
  if (!head.contains("max_feature_idx")) refuse_text("does not say how many columns it reads");
  const auto sizes = head.find("tree_sizes");
  if (sizes == head.end()) return;  // of older versions
  if (const std::size_t stated = words(sizes->second).size(); stated != trees)
    refuse_text(fmt::format("has {} trees, where its head states {}: it was cut off, or joined", trees, stated));
}

}  // namespace

Model read_lightgbm(std::string_view text, Budget* budget) {
  Model model;
  model.producer = "LightGBM";
  model.cuts_to_zero = true;
  std::vector<Section> sections(1);
  bool is_average = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line == "end of trees") break;
    if (line.starts_with("Tree=")) {
      sections.emplace_back();
      if (budget) budget->poll();
    }
    is_average |= line == "average_output";
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos)
      sections.back()[line.substr(0, equals)] = line.substr(equals + 1);
  }
  const Section& head = sections[0];
  require_whole(head, sections.size() - 1);
  if (const auto version = head.find("version"); version != head.end())
    model.producer += " (file " + std::string(version->second) + ")";
  model.features = integer_of(head, "max_feature_idx", -1) + 1;
  model.groups =
      std::max<std::int64_t>(1, integer_of(head, "num_tree_per_iteration", integer_of(head, "num_class", 1)));
  if (const auto objective = head.find("objective"); objective != head.end()) read_objective(objective->second, model);
  if (const auto names = head.find("feature_names"); names != head.end())
    for (const std::string_view name : words(names->second)) model.feature_names.emplace_back(name);
  for (std::size_t i = 1; i < sections.size(); ++i) {
    model.trees.push_back(TreeReader(sections[i], model).read());
    model.trees.back().group = static_cast<std::int32_t>((i - 1) % static_cast<std::size_t>(model.groups));
  }
  model.rounds = std::ssize(model.trees) / model.groups;
  model.is_average = is_average;
  // Leaves of forests held predictions until files of version 3.
  if (const auto version = head.find("version"); is_average && version != head.end() && version->second == "v2")
    model.link = Link::identity;
  std::ranges::sort(model.zero_is_missing);
  model.zero_is_missing.erase(std::unique(model.zero_is_missing.begin(), model.zero_is_missing.end()),
                              model.zero_is_missing.end());
  check(model);
  return model;
}

}  // namespace ingot::formats::boosting
