#include "ingot/base/hash.h"

#include <string>

#include "ingot/base/bytes.h"

namespace ingot {
namespace {

// Values published with the algorithm.
TEST(Hash64, KnownValues) {
  EXPECT_EQ(hash64(bytes_of("")), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash64(bytes_of("a")), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash64(bytes_of("abc")), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hash64(bytes_of("Nobody inspects the spammish repetition")), 0xFBCEA83C8A378BF1u);
}

TEST(Hash64, DoesNotDependOnThePieces) {
  std::string text(300, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 37);
  for (std::size_t size = 0; size <= 130; ++size) {
    const std::string_view part = std::string_view(text).substr(0, size);
    const std::uint64_t whole = hash64(bytes_of(part));
    for (std::size_t cut = 0; cut <= size; ++cut) {
      Hasher hasher;
      hasher.update(bytes_of(part.substr(0, cut)));
      hasher.update(bytes_of(part.substr(cut)));
      ASSERT_EQ(hasher.digest(), whole) << size << " cut at " << cut;
    }
    Hasher by_bytes;
    for (const char c : part) by_bytes.update(bytes_of(std::string_view(&c, 1)));
    ASSERT_EQ(by_bytes.digest(), whole);
  }
}

TEST(Hash64, TextHasSixteenDigits) {
  EXPECT_EQ(hash_text(0xEF46DB3751D8E999u), "ef46db3751d8e999");
  EXPECT_EQ(hash_text(1), "0000000000000001");
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(bytes_of("")), 0u);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8A9136AAu);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\xFF'))), 0x62A8AB43u);
}

// The definition, bit by bit.
std::uint32_t slow_crc32c(std::string_view text) {
  std::uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
  }
  return ~crc;
}

TEST(Crc32c, AgreesWithItsDefinitionAndContinues) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += static_cast<char>(i * 73 + 11);
    const std::uint32_t expected = slow_crc32c(text);
    ASSERT_EQ(crc32c(bytes_of(text)), expected);
    const std::string_view view = text;
    const std::size_t cut = view.size() / 3;
    ASSERT_EQ(crc32c(bytes_of(view.substr(cut)), crc32c(bytes_of(view.substr(0, cut)))), expected);
  }
}

}  // namespace
}  // namespace ingot
