#include "ingot/base/dtype.h"

#include <set>

#include "ingot/base/error.h"
#include "ingot/base/float_types.h"

namespace ingot {
namespace {

TEST(DType, NamesRoundTripAndDiffer) {
  std::set<std::string_view> names;
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_TRUE(is_valid_dtype(i));
    EXPECT_TRUE(names.insert(name_of(dtype)).second) << i;
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_name("undefined"), std::nullopt);
  EXPECT_EQ(dtype_from_name("float32"), std::nullopt);
}

TEST(DType, NumbersOutsideAreNotTypes) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{27}, INT64_MAX, INT64_MIN})
    EXPECT_FALSE(is_valid_dtype(n)) << n;
  EXPECT_EQ(name_of(static_cast<DType>(200)), "undefined");
  EXPECT_EQ(bits_of(static_cast<DType>(200)), 0u);
}

TEST(DType, HasOnnxNumbersAndNames) {
  EXPECT_EQ(name_of(static_cast<DType>(1)), "float");
  EXPECT_EQ(name_of(static_cast<DType>(9)), "bool");
  EXPECT_EQ(name_of(static_cast<DType>(11)), "double");
  EXPECT_EQ(name_of(static_cast<DType>(16)), "bfloat16");
  EXPECT_EQ(name_of(static_cast<DType>(20)), "float8e5m2fnuz");
  EXPECT_EQ(name_of(static_cast<DType>(24)), "float8e8m0");
  EXPECT_EQ(name_of(static_cast<DType>(26)), "int2");
}

TEST(DType, ByteCountPacksSubByteTypes) {
  EXPECT_EQ(byte_count(DType::u4, 0), 0u);
  EXPECT_EQ(byte_count(DType::u4, 1), 1u);
  EXPECT_EQ(byte_count(DType::f4e2m1, 5), 3u);
  EXPECT_EQ(byte_count(DType::i2, 4), 1u);
  EXPECT_EQ(byte_count(DType::i2, 5), 2u);
  EXPECT_EQ(byte_count(DType::i4, UINT64_MAX), std::uint64_t{1} << 63);
}

TEST(DType, ByteCountNoticesOverflowAndMissingWidth) {
  EXPECT_EQ(byte_count(DType::f32, UINT64_MAX / 4), UINT64_MAX / 4 * 4);
  EXPECT_EQ(byte_count(DType::f32, UINT64_MAX / 4 + 1), std::nullopt);
  EXPECT_EQ(byte_count(DType::c128, std::uint64_t{1} << 60), std::nullopt);
  EXPECT_EQ(byte_count(DType::string, 1), std::nullopt);
  EXPECT_EQ(byte_count(DType::undefined, 1), std::nullopt);
}

TEST(DType, AnyHoldsEveryTypeOnce) {
  EXPECT_EQ(TypeSet(Any{}).size(), kDTypeCount - 1);
  EXPECT_FALSE(TypeSet(Any{}).has(DType::undefined));
}

TEST(DType, CppTypesHaveTheWidthOfTheirElementType) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::string) continue;
    dispatch(dtype, Fixed{}, [&]<class T>() {
      EXPECT_EQ(dtype_of<T>, dtype);
      EXPECT_EQ(sizeof(T) * 8, is_sub_byte(dtype) ? 8 : bits_of(dtype)) << name_of(dtype);
      EXPECT_TRUE(std::is_trivially_copyable_v<T>) << name_of(dtype);
    });
  }
}

TEST(DType, CategoriesPartitionTheTypes) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const int categories =
        is_float(dtype) + is_integer(dtype) + is_complex(dtype) + (dtype == DType::boolean) + (dtype == DType::string);
    EXPECT_EQ(categories, 1) << name_of(dtype);
    EXPECT_TRUE(is_integer(dtype) || !is_signed_integer(dtype));
    EXPECT_EQ(is_sub_byte(dtype), bits_of(dtype) > 0 && bits_of(dtype) < 8) << name_of(dtype);
  }
  EXPECT_TRUE(is_signed_integer(DType::i4));
  EXPECT_FALSE(is_signed_integer(DType::u4));
}

TEST(Dispatch, RefusesTypesOutsideTheList) {
  try {
    dispatch(DType::string, Floats{}, []<class T>() { FAIL(); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unknown_dtype);
    EXPECT_STREQ(error.what(), "no implementation for element type string [IG0320]");
  }
}

TEST(TypeSet, IsASet) {
  constexpr TypeSet a{DType::f32, DType::i64};
  constexpr TypeSet b{DType::i64, DType::string};
  static_assert((a | b).size() == 3);
  static_assert((a & b) == TypeSet{DType::i64});
  static_assert((a - b) == TypeSet{DType::f32});
  static_assert(a.includes(TypeSet{DType::f32}) && !a.includes(b));
  static_assert(TypeSet().empty() && !a.empty());
  static_assert(TypeSet::from_bits(a.bits()) == a);
  EXPECT_TRUE(a.has(DType::f32));
  EXPECT_FALSE(a.has(DType::f64));
}

}  // namespace
}  // namespace ingot
