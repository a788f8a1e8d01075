#include "ingot/base/byte_size.h"

#include <gtest/gtest.h>

#include "ingot/base/error.h"

namespace ingot {
namespace {

TEST(ByteSize, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_size("1000"), 1000u);
  EXPECT_EQ(parse_size("2K"), 2048u);
  EXPECT_EQ(parse_size("4GiB"), std::uint64_t{4} << 30);
  for (const char* wrong : {"", "G", "1X", "-1", "1.5G", "99999999999999999999", "99999999999T"})
    EXPECT_THROW(parse_size(wrong), Error) << wrong;
}

TEST(ByteSize, IsWrittenAsPeopleReadIt) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "16777216.0 TiB");
}

TEST(Grouped, PutsCommasBetweenThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(25557032), "25,557,032");
}

}  // namespace
}  // namespace ingot
