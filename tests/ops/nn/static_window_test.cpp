// SAME padding in numbers.
#include "ingot/ops/nn/static_window.h"

#include <gtest/gtest.h>

#include "ingot/ops/nn/window.h"

namespace ingot::ops {
namespace {

TEST(SamePadding, GivesAsManyWindowsAsStridesBegin) {
  for (std::int64_t size = 1; size < 12; ++size)
    for (std::int64_t extent = 1; extent < 6; ++extent)
      for (std::int64_t stride = 1; stride < 4; ++stride) {
        const Padding p = same_padding(size, extent, stride);
        const std::int64_t windows = (size + stride - 1) / stride, padded = size + p.before + p.after;
        EXPECT_GE(padded, extent);
        EXPECT_EQ((padded - extent) / stride + 1, std::max(windows, (size - extent) / stride + 1));
        EXPECT_TRUE(p.after == p.before || p.after == p.before + 1);
      }
}

TEST(SamePadding, PutsTheOddElementBehindOrInFront) {
  EXPECT_EQ(same_padding(4, 4, 1), (Padding{1, 2}));
  EXPECT_EQ(same_padding(4, 4, 1, false), (Padding{2, 1}));
  EXPECT_EQ(same_padding(8, 1, 3), (Padding{0, 0}));
}

TEST(StaticWindow, AgreesWithTheWindowOfANode) {
  Attributes attributes;
  attributes.append(Attribute("kernel_shape", AttrValue(std::vector<std::int64_t>{3, 2})));
  attributes.append(Attribute("strides", AttrValue(std::vector<std::int64_t>{2, 1})));
  attributes.append(Attribute("dilations", AttrValue(std::vector<std::int64_t>{2, 3})));
  attributes.append(Attribute("auto_pad", AttrValue(std::string("SAME_UPPER"))));
  const Window node = Window::read(attributes, 2);
  const StaticWindow window{{3, 2}, {2, 1}, {2, 3}};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Dim(window.extent(i)), node.extent(i));
    const auto [before, after] = node.padding(i, Dim(7));
    EXPECT_EQ(window.same(i, 7), (Padding{before.value(), after.value()}));
  }
}

}  // namespace
}  // namespace ingot::ops
