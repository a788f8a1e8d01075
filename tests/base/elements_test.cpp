#include "ingot/base/elements.h"

#include <vector>

namespace ingot {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(Elements, LoadAtAnyAlignment) {
  const auto data = bytes({0xAA, 0x00, 0x00, 0x80, 0x3F, 0x00, 0x00, 0x00, 0x40});
  EXPECT_EQ(load_element<float>(data.data() + 1, 0), 1.0f);
  EXPECT_EQ(load_element<float>(data.data() + 1, 1), 2.0f);
}

TEST(Elements, FourBitsAreLowNibbleFirst) {
  const auto data = bytes({0x87, 0xA9});
  EXPECT_EQ(static_cast<int>(load_element<UInt4>(data.data(), 0)), 7);
  EXPECT_EQ(static_cast<int>(load_element<UInt4>(data.data(), 1)), 8);
  EXPECT_EQ(static_cast<int>(load_element<Int4>(data.data(), 1)), -8);
  EXPECT_EQ(static_cast<int>(load_element<Int4>(data.data(), 2)), -7);
  EXPECT_EQ(static_cast<float>(load_element<Float4E2M1>(data.data(), 0)), 6.0f);
}

TEST(Elements, TwoBitsAreLowBitsFirst) {
  const auto data = bytes({0x39});
  const int expected[] = {1, -2, -1, 0};
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(static_cast<int>(load_element<Int2>(data.data(), i)), expected[i]);
}

TEST(Elements, AnyNonZeroByteIsTrue) {
  const auto data = bytes({0, 1, 2, 255});
  EXPECT_FALSE(load_element<bool>(data.data(), 0));
  for (unsigned i = 1; i < 4; ++i) EXPECT_TRUE(load_element<bool>(data.data(), i));
}

TEST(Elements, StoreLeavesNeighboursAlone) {
  auto data = bytes({0xFF, 0xFF});
  store_element(data.data(), 1, Int4(0));
  store_element(data.data(), 5, UInt2(0));
  EXPECT_EQ(data, bytes({0x0F, 0xF3}));
}

TEST(Elements, StoreThenLoadIsIdentityForEveryType) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::string) continue;
    dispatch(dtype, Fixed{}, [&]<class T>() {
      std::vector<std::byte> data(1 + 3 * sizeof(T));
      store_element(data.data() + 1, 2, T(1));
      EXPECT_TRUE(load_element<T>(data.data() + 1, 2) == T(1)) << name_of(dtype);
      EXPECT_EQ(data[0], std::byte{0});
    });
  }
}

}  // namespace
}  // namespace ingot
