// Tensors with their axes in another order.
#include "ingot/ir/transpose.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

using Ints = std::vector<std::int64_t>;

TEST(Transpose, MovesElementsOfEachWidth) {
  const Ints in{0, 1, 2, 3, 4, 5}, out{0, 3, 1, 4, 2, 5};
  for (const DType type : {DType::i8, DType::i16, DType::i32, DType::i64}) {
    Tensor t = Tensor::of<std::int64_t>({2, 3}, in);
    if (type == DType::i8) t = Tensor::of<std::int8_t>({2, 3}, {0, 1, 2, 3, 4, 5});
    if (type == DType::i16) t = Tensor::of<std::int16_t>({2, 3}, {0, 1, 2, 3, 4, 5});
    if (type == DType::i32) t = Tensor::of<std::int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
    const Tensor turned = transposed(t, {1, 0});
    EXPECT_EQ(turned.dims(), (Dims{3, 2}));
    EXPECT_EQ(turned.dtype(), type);
    EXPECT_EQ(turned.to_ints(), out);
  }
}

TEST(Transpose, MovesElementsOfFourBits) {
  // 1 2 3 / 4 5 6, the first of a byte in its lower half.
  const Tensor t(DType::u4, {2, 3}, Bytes::own(std::string("\x21\x43\x65")));
  const Tensor turned = transposed(t, {1, 0});
  EXPECT_EQ(turned.to_ints(), (Ints{1, 4, 2, 5, 3, 6}));
}

TEST(Transpose, MovesTexts) {
  const Tensor turned = transposed(Tensor::of_strings({2, 2}, {"a", "b", "c", "d"}), {1, 0});
  EXPECT_EQ((std::vector<std::string>(turned.strings().begin(), turned.strings().end())),
            (std::vector<std::string>{"a", "c", "b", "d"}));
}

TEST(Transpose, OfNothingIsNothing) {
  const Tensor turned = transposed(Tensor::of<float>({0, 3}, std::vector<float>()), {1, 0});
  EXPECT_EQ(turned.dims(), (Dims{3, 0}));
}

TEST(Transpose, ThereAndBackIsTheSame) {
  Ints all(2 * 3 * 4 * 5);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const Tensor t = Tensor::of<std::int64_t>({2, 3, 4, 5}, all);
  const Tensor first = transposed(t, to_channels_first(4));
  EXPECT_EQ(first.dims(), (Dims{2, 5, 3, 4}));
  EXPECT_EQ(transposed(first, to_channels_last(4)).to_ints(), all);
}

}  // namespace
}  // namespace ingot
