// The binary form in which XGBoost stored models before JSON.
#include <fmt/format.h>

#include "ingot/base/byte_reader.h"
#include "ingot/base/error.h"
#include "ingot/formats/boosting/xgboost_objective.h"

namespace ingot::formats::boosting {
namespace {

constexpr std::uint64_t kLearnerBytes = 136, kTreeModelBytes = 160, kTreeBytes = 148, kNodeBytes = 20, kStatBytes = 16,
                        kLinearBytes = 136;

std::string read_text(ByteReader& in) {
  const std::uint64_t size = in.u64();
  const auto bytes = in.bytes(size);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<double> read_floats(ByteReader& in) {
  const std::uint64_t count = in.u64();
  if (count > in.remaining() / 4) throw Error(Code::bad_reference, "a list is longer than the file");
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = in.f32();
  return values;
}

Tree read_tree_bytes(ByteReader& in) {
  ByteReader head(in.bytes(kTreeBytes), in.offset());
  head.skip(4);
  const std::int64_t count = head.i32();
  head.skip(12);
  const std::int32_t leaf_vector = head.i32();
  if (count < 1 || std::cmp_greater(count, in.remaining() / (kNodeBytes + kStatBytes)))
    throw Error(Code::bad_reference, "a tree has more nodes than the file has bytes");
  Tree tree;
  tree.nodes.resize(static_cast<std::size_t>(count));
  for (TreeNode& node : tree.nodes) {
    in.skip(4);
    const std::int32_t left = in.i32(), right = in.i32();
    const std::uint32_t split = in.u32();
    const double value = in.f32();
    if (left == -1) {
      node.values = {value};
      continue;
    }
    node.rule = TreeNode::Rule::less;
    node.missing_goes_yes = (split >> 31) != 0;
    node.feature = static_cast<std::int32_t>(split & 0x7fffffff);
    node.yes = left;
    node.no = right;
    node.threshold = value;
  }
  in.skip(kStatBytes * static_cast<std::uint64_t>(count));
  if (leaf_vector > 1) (void)read_floats(in);  // since 2.0 it is 1 where there is none
  return tree;
}

void read_gbtree(ByteReader& in, Model& model) {
  ByteReader head(in.bytes(kTreeModelBytes), in.offset());
  const std::int64_t count = head.i32();
  if (count < 0 || std::cmp_greater(count, in.remaining() / kTreeBytes))
    throw Error(Code::bad_reference, "there are more trees than the file has bytes");
  for (std::int64_t i = 0; i < count; ++i) model.trees.push_back(read_tree_bytes(in));
  for (Tree& tree : model.trees) tree.group = in.i32();
}

}  // namespace

bool looks_like_xgboost_binary(const Bytes& file) {
  try {
    ByteReader in(file.span());
    if (file.text().starts_with("binf")) in.skip(4);
    in.skip(kLearnerBytes);
    const std::string objective = read_text(in), booster = read_text(in);
    return (booster == "gbtree" || booster == "gblinear" || booster == "dart") &&
           objective.find(':') != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

Model read_xgboost_binary(const Bytes& file) {
  ByteReader in(file.span());
  if (file.text().starts_with("binf")) in.skip(4);
  ByteReader head(in.bytes(kLearnerBytes), in.offset());
  Model model;
  model.is_single = true;
  const double base_score = head.f32();
  model.features = head.u32();
  model.groups = std::max(1, head.i32());
  const bool has_attributes = head.i32() != 0;
  head.skip(4);
  const std::uint32_t major = head.u32(), minor = head.u32();
  model.producer = major > 0 && major < 100 ? fmt::format("XGBoost {}.{}", major, minor) : "XGBoost before 1.0";
  model.objective = read_text(in);
  const std::string booster = read_text(in);
  if (booster == "gblinear") {
    in.skip(kLinearBytes);
    model.weights = read_floats(in);
  } else if (booster == "gbtree" || booster == "dart") {
    read_gbtree(in, model);
    if (booster == "dart" && !model.trees.empty()) {
      const auto weights = read_floats(in);
      for (std::size_t i = 0; i < std::min(weights.size(), model.trees.size()); ++i) model.trees[i].weight = weights[i];
    }
  } else {
    throw Error(Code::unknown_format, "the file is no model of XGBoost");
  }
  set_xgboost_objective(model, {base_score});
  if (major == 0) model.base.assign(model.base.size(), base_score);  // before 1.0 it is a margin already
  for (std::uint64_t left = has_attributes && in.remaining() >= 8 ? in.u64() : 0; left > 0; --left) {
    const std::string key = read_text(in), value = read_text(in);
    if (key == "best_iteration") model.best_rounds = std::strtoll(value.c_str(), nullptr, 10) + 1;
  }
  check(model);
  return model;
}

}  // namespace ingot::formats::boosting
