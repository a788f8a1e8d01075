// Forests: small nodes in one array per forest, several rows down a tree at once.
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/plain_forest.h"

namespace ingot::engine {
namespace {

/// The side of a branch that is not taken stands behind the one that is. A leaf leads to itself.
template <class Scalar> struct TreeNode {
  Scalar split;
  std::uint32_t column;  // where its values of kForestRows rows begin
  std::uint32_t next;    // of a leaf: itself
  std::uint32_t kind;    // a branch: 1; a leaf: twice the number of its first vote, so that the lowest bit is 0
};

template <class Types> class Trees final : public ForestNode<Types> {
 public:
  using Plain = PlainForest<Types>;
  using Scalar = typename Types::Scalar;
  explicit Trees(const Plain& forest) : ForestNode<Types>(forest), votes_(forest.votes) {
    for (const auto& tree : forest.trees) add_tree(forest, tree);
  }

 private:
  struct Tree {
    std::uint32_t root;
    int depth;
    std::size_t votes;
  };
  static constexpr int kUnchecked = 4;  // levels between two looks whether all rows are at leaves

  /// Level by level, both sides of a branch next to each other.
  void add_tree(const Plain& forest, const typename Plain::Tree& from) {
    std::vector<std::pair<std::size_t, std::uint32_t>> level = {{from.root, add_node()}}, below;
    Tree tree{level.front().second, 0, from.votes};
    for (; !level.empty(); level.swap(below)) {
      below.clear();
      for (const auto& [number, at] : level) {
        const auto& item = forest.items[number];
        if (item.is_leaf) {
          nodes_[at] = {0, 0, at, static_cast<std::uint32_t>(item.first_vote) * 2};
          continue;
        }
        const std::uint32_t yes = add_node(), no = add_node();
        nodes_[at] = {item.split, item.column * static_cast<std::uint32_t>(kForestRows), yes, 1};
        below.emplace_back(item.yes, yes);
        below.emplace_back(item.no, no);
      }
      if (!below.empty()) ++tree.depth;
    }
    trees_.push_back(tree);
  }

  std::uint32_t add_node() {
    nodes_.push_back({});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  /// One step of each of several walks; walk i reads its values `lane` * i further on.
  template <std::int64_t lane> void descend(const Scalar* values, int depth, std::uint32_t* at) const {
    const TreeNode<Scalar>* nodes = nodes_.data();
    for (int level = 0; level < depth;) {
      for (const int end = std::min(depth, level + kUnchecked); level < end; ++level) {
#pragma GCC unroll 8
        for (std::int64_t i = 0; i < kForestRows; ++i) {
          const TreeNode<Scalar>& node = nodes[at[i]];
          const bool goes_on = values[node.column + static_cast<std::uint32_t>(lane * i)] <= node.split;
          at[i] = node.next + (static_cast<std::uint32_t>(!goes_on) & node.kind);
        }
      }
      std::uint32_t open = 0;
      for (std::int64_t i = 0; i < kForestRows; ++i) open |= nodes[at[i]].kind & 1;
      if (!open) return;
    }
  }

  void add_leaf(const Tree& tree, std::uint32_t at, double* sums) const {
    this->add(votes_.data() + nodes_[at].kind / 2, tree.votes, sums);
  }

  /// A row down several trees at once.
  void add_votes(const Scalar* values, double* sums) const override {
    constexpr std::size_t kTrees = kForestRows;
    for (std::size_t first = 0; first < trees_.size(); first += kTrees) {
      std::uint32_t at[kTrees];
      int depth = 0;
      for (std::size_t i = 0; i < kTrees; ++i) {
        const Tree& tree = trees_[std::min(first + i, trees_.size() - 1)];
        at[i] = tree.root;
        depth = std::max(depth, tree.depth);
      }
      descend<0>(values, depth, at);
      for (std::size_t i = 0; i < std::min(kTrees, trees_.size() - first); ++i)
        add_leaf(trees_[first + i], at[i], sums);
    }
  }

  void add_votes(const Scalar* values, std::int64_t groups, std::int64_t rows, double* sums) const override {
    for (const Tree& tree : trees_)
      for (std::int64_t group = 0; group < groups; ++group) {
        std::uint32_t at[kForestRows];
        std::fill_n(at, kForestRows, tree.root);
        descend<1>(values + static_cast<std::size_t>(group) * this->group_size(), tree.depth, at);
        const std::int64_t first = group * kForestRows, count = std::min(kForestRows, rows - first);
        for (std::int64_t i = 0; i < count; ++i) add_leaf(tree, at[i], sums + (first + i) * this->targets());
      }
  }

  std::vector<typename Plain::Vote> votes_;
  std::vector<TreeNode<Scalar>> nodes_;
  std::vector<Tree> trees_;
};

template <class Types>
std::unique_ptr<PreparedNode> prepare(PrepareContext& c, const ops::Forest& forest, std::int64_t targets,
                                      bool is_average) {
  std::string why;
  const auto plain = plain_forest<Types>(forest, targets, is_average, why);
  if (!plain) return c.refuse(why);
  if (are_nearly_full(*plain)) return make_full_trees(*plain);
  return std::make_unique<Trees<Types>>(*plain);
}

/// Whether the doubles that a node reads were floats just before.
bool was_float(const Node& node) {
  const Node* cast = node.input(0)->producer();
  return cast && cast->is("Cast") && cast->input(0) && cast->input(0)->type.elem == DType::f32;
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_trees(PrepareContext& c) {
  const auto elem = c.elem(0);
  if (elem != DType::f32 && elem != DType::f64) return c.refuse("the input is not known to be of type float or double");
  const Attributes& attributes = c.node.attributes;
  constexpr std::int64_t kAverage = 0, kSum = 1;
  const std::int64_t aggregate = attributes.int_or("aggregate_function", kSum);
  if (aggregate != kSum && aggregate != kAverage) return c.refuse("trees are neither added nor averaged");
  if (attributes.int_or("post_transform", 0) != 0) return c.refuse("the scores are transformed");
  const auto* targets = attributes.get<std::int64_t>("n_targets");
  const auto forest = ops::read_ensemble(attributes);
  if (!forest || !targets || *targets < 1) return c.refuse("the trees test for membership or share branches");
  const bool is_average = aggregate == kAverage;
  if (elem == DType::f64 && was_float(c.node)) return prepare<MixedForest>(c, *forest, *targets, is_average);
  if (elem == DType::f64) return prepare<DoubleForest>(c, *forest, *targets, is_average);
  if (forest->elem != DType::f32) return c.refuse("thresholds are of type double");
  return prepare<FloatForest>(c, *forest, *targets, is_average);
}

}  // namespace ingot::engine
