// Memory that is handed on from run to run.
#include "ingot/engine/recycler.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace ingot::engine {
namespace {

/// A chain of layers, each of which needs its input until its output is there; returns the blocks that were used.
std::set<std::byte*> run_chain(Recycler& recycler, const std::vector<std::size_t>& sizes) {
  std::set<std::byte*> blocks;
  std::shared_ptr<std::byte> before;
  for (const std::size_t size : sizes) {
    std::shared_ptr<std::byte> after = recycler.take(size);
    blocks.insert(after.get());
    before = std::move(after);
  }
  return blocks;
}

TEST(Recycler, AChainOfManySizesTakesNoNewMemoryAgain) {
  // All sizes together are far more than what is in use at once.
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1 << 20; size > 1 << 14; size = size * 4 / 5) sizes.push_back(size);
  Recycler recycler;
  const std::set<std::byte*> first = run_chain(recycler, sizes);
  EXPECT_LT(first.size(), sizes.size() / 2) << "a block serves smaller needs too";
  for (int run = 0; run < 3; ++run)
    for (std::byte* block : run_chain(recycler, sizes)) EXPECT_TRUE(first.contains(block)) << "run " << run;
}

TEST(Recycler, ASmallNeedDoesNotTakeAHugeBlock) {
  Recycler recycler;
  std::byte* const huge = recycler.take(std::size_t{64} << 20).get();
  EXPECT_NE(recycler.take(8192).get(), huge);
  EXPECT_EQ(recycler.take(std::size_t{60} << 20).get(), huge);
}

TEST(Recycler, BlocksMayOutliveIt) {
  std::shared_ptr<std::byte> block;
  {
    Recycler recycler;
    block = recycler.take(1 << 16);
  }
  *block = std::byte{1};
}

}  // namespace
}  // namespace ingot::engine
