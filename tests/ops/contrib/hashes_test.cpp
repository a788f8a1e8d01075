#include "ingot/ops/contrib/hashes.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot::ops {
namespace {

std::string letters(std::size_t size) {
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string text;
  while (text.size() < size) text += kAll;
  return text.substr(0, size);
}

TEST(Hashes, FingerprintsAreThoseOfFarmHash) {
  struct {
    std::size_t size;
    std::uint64_t hash;
  } constexpr kKnown[] = {{0, 11160318154034397263u},   {1, 12917804110809363939u},  {3, 2640714258260161385u},
                          {4, 1897425971756105985u},    {7, 4341691227789030229u},   {8, 18368443631171807497u},
                          {16, 6080716761534418621u},   {17, 11394395984755135400u}, {24, 11326376896594185975u},
                          {32, 934449955909727258u},    {33, 17626719820827885067u}, {48, 13075266492807601417u},
                          {63, 10416640081920810648u},  {64, 3646545258579766308u},  {65, 13112763581500850699u},
                          {100, 11081568295379480721u}, {127, 8659390928490630228u}, {129, 13911000258917250518u},
                          {200, 3225094344678046759u},  {1000, 8428977225124000562u},
                          // Whole blocks: the last one is taken twice.
                          {128, 2056131915184924913u},  {192, 1017725921633934024u}, {256, 2708267301285234186u},
                          {512, 15195028681694301621u}, {640, 18009227396106423080u}, {1024, 13759187888254479241u},
                          {4096, 11595698776752709185u}};
  for (const auto& known : kKnown) EXPECT_EQ(fingerprint64(letters(known.size)), known.hash) << known.size;
}

TEST(Hashes, SipHashGivesItsInventorsValue) {
  std::string text;
  for (char i = 0; i < 15; ++i) text += i;
  EXPECT_EQ(sip_hash(text, 0x0706050403020100u, 0x0f0e0d0c0b0a0908u), 0xa129ca6149be45e5u);
  EXPECT_EQ(sip_hash("", 0x0706050403020100u, 0x0f0e0d0c0b0a0908u), 0x726fdb47dd0e0e31u);
}

TEST(Hashes, TheExtensionsMixOnceMoreAfterWholeWords) {
  EXPECT_EQ(hash64("abc", true), hash64("abc", false));
  EXPECT_NE(hash64("abcdefgh", true), hash64("abcdefgh", false));
}

}  // namespace
}  // namespace ingot::ops
