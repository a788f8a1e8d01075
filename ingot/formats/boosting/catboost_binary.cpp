// CatBoost's own files: "CBM1", a size, and a flatbuffer. Read by a few lines of our own, every offset checked.
#include <bit>
#include <cstring>

#include "ingot/base/error.h"
#include "ingot/formats/boosting/catboost_trees.h"
#include "ingot/formats/boosting/json.h"
#include "ingot/formats/boosting/model.h"

namespace ingot::formats::boosting {
namespace {

constexpr std::string_view kMagic = "CBM1";

[[noreturn]] void damaged(const char* what) {
  throw Error(Code::bad_source_graph, std::string("the CatBoost file is damaged: ") + what);
}

template <class T> T load(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) damaged("it ends too early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// Where an offset that is stored leads.
std::size_t follow(std::string_view bytes, std::size_t at) { return at + load<std::uint32_t>(bytes, at); }

struct Table;

struct Vector {
  std::string_view bytes{};
  std::size_t begin = 0, count = 0;

  std::size_t size() const { return count; }
  template <class T> T at(std::size_t i) const { return load<T>(bytes, begin + i * sizeof(T)); }
  template <class T> std::vector<T> all() const {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = at<T>(i);
    return values;
  }
  Table table(std::size_t i) const;
};

/// A table: its fields by their numbers in the schema, which never change.
struct Table {
  std::string_view bytes{};
  std::size_t begin = 0;

  /// 0: it is not there.
  std::size_t place(std::size_t field) const {
    const auto back = load<std::int32_t>(bytes, begin);
    const auto table = static_cast<std::int64_t>(begin) - back;
    if (table < 0) damaged("a table lies outside of it");
    const auto at = static_cast<std::size_t>(table);
    const std::size_t entry = 4 + 2 * field;
    if (entry + 2 > load<std::uint16_t>(bytes, at)) return 0;
    const auto offset = load<std::uint16_t>(bytes, at + entry);
    return offset ? begin + offset : 0;
  }
  template <class T> T number(std::size_t field, T fallback) const {
    const std::size_t at = place(field);
    return at ? load<T>(bytes, at) : fallback;
  }
  Table table(std::size_t field) const {
    const std::size_t at = place(field);
    if (!at) damaged("a part is missing");
    return {bytes, follow(bytes, at)};
  }
  template <class T> Vector vector(std::size_t field) const {
    const std::size_t at = place(field);
    if (!at) return {};
    const std::size_t start = follow(bytes, at);
    const std::size_t count = load<std::uint32_t>(bytes, start);
    if (count > (bytes.size() - start - 4) / sizeof(T)) damaged("a list is longer than the file");
    return {bytes, start + 4, count};
  }
  std::string text(std::size_t field) const {
    const Vector v = vector<char>(field);
    return std::string(bytes.substr(v.begin, v.count));
  }
};

Table Vector::table(std::size_t i) const { return {bytes, follow(bytes, begin + 4 * i)}; }

// Numbers of fields in CatBoost's schema.
enum CoreField { kTrees = 1, kInfo = 2 };
enum TreesField {
  kDimension = 0,
  kSplits = 1,
  kSizes = 2,
  kOffsets = 3,
  kCategories = 4,
  kFloats = 5,
  kOneHot = 6,
  kCtr = 7,
  kLeaves = 8,
  kSteps = 10,
  kLeafIds = 11,
  kTexts = 12,
  kEstimated = 13,
  kScale = 14,
  kBias = 15,
  kBiases = 16,
  kEmbeddings = 18
};
enum FloatField { kFlatIndex = 2, kBorders = 3, kFeatureId = 4, kMissing = 5 };
constexpr std::int8_t kMissingIsTrue = 2;

/// What the trees may ask, in the order of their numbers.
struct Questions {
  std::vector<TreeNode> all{};  // without children
};

Questions questions_of(const Table& trees, Model& model) {
  for (const auto& [field, what] :
       {std::pair{kCategories, "categorical features, which CatBoost hashes"},
        std::pair{kOneHot, "categorical features, which CatBoost hashes"},
        std::pair{kCtr, "categorical features, which CatBoost hashes"}, std::pair{kTexts, "features of texts"},
        std::pair{kEstimated, "features of texts"}, std::pair{kEmbeddings, "features of embeddings"}})
    if (trees.vector<std::uint32_t>(static_cast<std::size_t>(field)).size() > 0)
      throw Error(Code::unsupported_setting, std::string("the model has ") + what)
          .hint("encode them in a pipeline in front");
  Questions questions;
  const Vector floats = trees.vector<std::uint32_t>(kFloats);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const Table feature = floats.table(i);
    const auto place = feature.number<std::int32_t>(kFlatIndex, -1);
    if (place < 0 || place > 100'000'000) throw Error(Code::bad_reference, "a feature has a place that is none");
    model.features = std::max<std::int64_t>(model.features, place + std::int64_t{1});
    if (std::string name = feature.text(kFeatureId); !name.empty()) model.feature_names.push_back(std::move(name));
    const bool missing_goes_yes = feature.number<std::int8_t>(kMissing, 0) == kMissingIsTrue;
    for (const float border : feature.vector<float>(kBorders).all<float>())
      questions.all.push_back({.rule = TreeNode::Rule::greater,
                               .missing_goes_yes = missing_goes_yes,
                               .feature = place,
                               .threshold = border});
  }
  return questions;
}

TreeNode question(const Questions& questions, std::int32_t number) {
  if (number < 0 || std::cmp_greater_equal(number, questions.all.size()))
    throw Error(Code::bad_reference, "a split asks for a feature that does not exist");
  return questions.all[static_cast<std::size_t>(number)];
}

std::vector<double> leaf_values(const Vector& values, std::size_t leaf, std::size_t width) {
  if (leaf > values.size() / width || values.size() - leaf * width < width) damaged("a leaf is missing");
  std::vector<double> made(width);
  for (std::size_t i = 0; i < width; ++i) made[i] = values.at<double>(leaf * width + i);
  return made;
}

/// Steps to the left and right from node to node; a step of 0 ends at the leaf of the node where it is taken.
void add_step_tree(const Table& trees, const Questions& questions, std::size_t root, std::size_t end, std::size_t width,
                   Model& model) {
  const Vector steps = trees.vector<std::uint32_t>(kSteps), ids = trees.vector<std::uint32_t>(kLeafIds);
  const Vector splits = trees.vector<std::int32_t>(kSplits), values = trees.vector<double>(kLeaves);
  if (end > steps.size() || end > ids.size() || end > splits.size() || root >= end) damaged("a tree has no nodes");
  Tree tree;
  tree.nodes.resize(end - root);
  const auto leaf = [&](std::size_t at) {
    tree.nodes.push_back({.values = leaf_values(values, ids.at<std::uint32_t>(at) / width, width)});
    return static_cast<std::int32_t>(tree.nodes.size() - 1);
  };
  for (std::size_t at = root; at < end; ++at) {
    const auto step = steps.at<std::uint32_t>(at);
    const std::size_t left = step & 0xffff, right = step >> 16;
    if (!left && !right) {
      tree.nodes[at - root].values = leaf_values(values, ids.at<std::uint32_t>(at) / width, width);
      continue;
    }
    TreeNode node = question(questions, splits.at<std::int32_t>(at));
    if (at + left >= end || at + right >= end) damaged("a step leads out of its tree");
    node.no = left ? static_cast<std::int32_t>(at + left - root) : leaf(at);
    node.yes = right ? static_cast<std::int32_t>(at + right - root) : leaf(at);
    tree.nodes[at - root] = std::move(node);
  }
  model.trees.push_back(std::move(tree));
}

void add_trees(const Table& trees, const Questions& questions, std::size_t width, Model& model) {
  const auto sizes = trees.vector<std::int32_t>(kSizes).all<std::int32_t>();
  const Vector splits = trees.vector<std::int32_t>(kSplits), values = trees.vector<double>(kLeaves);
  const bool is_oblivious = trees.vector<std::uint32_t>(kSteps).size() == 0;
  std::size_t split = 0, leaf = 0;
  for (const std::int32_t size : sizes) {
    if (size < 0 || std::cmp_greater(size, splits.size() - split)) damaged("a tree has more splits than there are");
    const auto depth = static_cast<std::size_t>(size);
    if (!is_oblivious) {
      add_step_tree(trees, questions, split, split + depth, width, model);
      split += depth;
      continue;
    }
    if (depth > kMostObliviousSplits) damaged("a tree is too deep");
    std::vector<TreeNode> levels;
    for (std::size_t i = 0; i < depth; ++i) levels.push_back(question(questions, splits.at<std::int32_t>(split + i)));
    std::vector<double> leaves;
    for (std::size_t i = 0; i < std::size_t{1} << depth; ++i) {
      const auto one = leaf_values(values, leaf++, width);
      leaves.insert(leaves.end(), one.begin(), one.end());
    }
    model.trees.push_back(oblivious_tree(levels, leaves, width));
    split += depth;
  }
}

void read_info(const Table& core, Model& model) {
  const Vector info = core.vector<std::uint32_t>(kInfo);
  for (std::size_t i = 0; i < info.size(); ++i) {
    const Table entry = info.table(i);
    const std::string key = entry.text(0), value = entry.text(1);
    if (key == "params") model.objective = catboost_loss(parse_json(value));
    if (key == "class_params") read_catboost_classes(parse_json(value), model);
  }
}

}  // namespace

bool looks_like_catboost_binary(const Bytes& file) { return file.text().starts_with(kMagic); }

Model read_catboost_binary(const Bytes& file) {
  const std::string_view text = file.text();
  if (!text.starts_with(kMagic)) damaged("it begins otherwise");
  const std::size_t size = load<std::uint32_t>(text, kMagic.size());
  if (size > text.size() - 8) damaged("it ends too early");
  const std::string_view bytes = text.substr(8, size);
  const Table core{bytes, follow(bytes, 0)};
  Model model;
  model.producer = "CatBoost";
  model.rounds_features = true;
  const Table trees = core.table(kTrees);
  const auto width = static_cast<std::size_t>(std::max(1, trees.number<std::int32_t>(kDimension, 1)));
  model.groups = static_cast<std::int64_t>(width);
  add_trees(trees, questions_of(trees, model), width, model);
  read_info(core, model);
  model.scale = trees.number<double>(kScale, 1);
  model.base = trees.vector<double>(kBiases).all<double>();
  if (model.base.empty()) model.base.assign(width, trees.number<double>(kBias, 0));
  if (model.base.size() != width) damaged("it has more outputs than biases");
  finish_catboost(model);
  return model;
}

}  // namespace ingot::formats::boosting
