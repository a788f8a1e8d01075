// LightGBM's text: a file that was cut off between two trees still looks whole.
#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "ingot/formats/boosting/model.h"
#include "tests/support/refusal.h"

namespace ingot::formats::boosting {
namespace {

std::string head_of(const std::string& tree_sizes) {
  return "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\nobjective=regression\n"
         "feature_names=a b\n" +
         tree_sizes + "\n";
}

const std::string kTree =
    "Tree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=0.5\ndecision_type=2\nleft_child=-1\n"
    "right_child=-2\nleaf_value=-1 1\nshrinkage=1\n\n";

TEST(LightGbm, HasAsManyTreesAsItsHeadStates) {
  EXPECT_EQ(read_lightgbm(head_of("tree_sizes=150 150\n") + kTree + kTree + "end of trees\n").trees.size(), 2U);
  EXPECT_EQ(read_lightgbm(head_of("tree_sizes=\n") + "end of trees\n").trees.size(), 0U);
  EXPECT_EQ(read_lightgbm(head_of("") + kTree).trees.size(), 1U);  // versions that state nothing
  EXPECT_REFUSED(Code::bad_source_graph, read_lightgbm(head_of("tree_sizes=150 150\n") + kTree));
  EXPECT_REFUSED(Code::bad_source_graph, read_lightgbm(head_of("tree_sizes=150\n")));
}

TEST(LightGbm, SaysHowManyColumnsItReads) {
  EXPECT_REFUSED(Code::bad_source_graph, read_lightgbm(std::string(100, '\x08')));
  EXPECT_REFUSED(Code::bad_source_graph, read_lightgbm("tree\n" + kTree));
}

}  // namespace
}  // namespace ingot::formats::boosting
