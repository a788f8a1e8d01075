// Image files: the pixels of small ones, and what is refused.
#include "ingot/formats/image/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "tests/support/files.h"
#include "tests/support/tar.h"

namespace ingot::formats::image {
namespace {

using Pixels = std::vector<std::uint8_t>;

struct Decoded {
  std::int64_t height = 0, width = 0, channels = 0;
  Pixels pixels;
};

Decoded decoded(const std::string& file, PixelFormat format = PixelFormat::rgb, Budget& budget = Budget::unlimited()) {
  Decoded image;
  const Place place = [&](std::int64_t height, std::int64_t width, std::int64_t channels) {
    budget.charge_memory(static_cast<std::uint64_t>(height * width * channels));
    image = {height, width, channels, Pixels(static_cast<std::size_t>(height * width * channels))};
    return image.pixels.data();
  };
  decode(std::as_bytes(std::span(file)), format, place, budget);
  return image;
}

const std::vector<test::TarMember>& files() {
  static const auto all = test::read_tar(test::source_dir() / "tests/fuzz/corpus/image.tar");
  return all;
}

std::string file(const std::string& name) {
  const auto found = std::ranges::find(files(), name, &test::TarMember::name);
  if (found == files().end()) throw std::runtime_error("no " + name + " in the corpus");
  return found->content;
}

/// The pixels that most files of the corpus hold, 4 wide and 3 high: red grows to the right, green downwards, blue
/// along both.
Pixels ramp() {
  Pixels p;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x)
      for (const int v : {x * 80, y * 100, (x + y) * 40}) p.push_back(static_cast<std::uint8_t>(v));
  return p;
}

Pixels grays(const Pixels& values) {
  Pixels p;
  for (const std::uint8_t v : values) p.insert(p.end(), 3, v);
  return p;
}

void expect_refused(const std::string& data) {
  try {
    decoded(data);
    ADD_FAILURE() << "decoded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_image) << error.what();
  }
}

TEST(Image, LosslessFormatsGiveTheSamePixels) {
  for (const char* name : {"rgb.png", "interlaced.png", "lossless.webp", "rgb.tif", "rgb.jp2", "rgb.j2k", "rgb.bmp",
                           "topdown.bmp", "rgb.ppm", "letters.ppm"}) {
    const Decoded image = decoded(file(name));
    EXPECT_EQ(image.height, 3) << name;
    EXPECT_EQ(image.width, 4) << name;
    EXPECT_EQ(image.pixels, ramp()) << name;
  }
}

TEST(Image, LossyFormatsAreNear) {
  for (const char* name : {"rgb.jpg", "progressive.jpg", "cmyk.jpg"}) {
    const Decoded image = decoded(file(name));
    const Pixels expected = ramp();
    ASSERT_EQ(image.pixels.size(), expected.size()) << name;
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(image.pixels[i], expected[i], 4) << name << " " << i;
  }
  EXPECT_EQ(decoded(file("lossy.webp")).pixels.size(), 36u);
}

TEST(Image, ChannelsComeAsAsked) {
  const std::string one_pixel = std::string("P6 1 1 255\n") + "\x0A\x14\x1E";
  EXPECT_EQ(decoded(one_pixel, PixelFormat::rgb).pixels, (Pixels{10, 20, 30}));
  EXPECT_EQ(decoded(one_pixel, PixelFormat::bgr).pixels, (Pixels{30, 20, 10}));
  const Decoded gray = decoded(one_pixel, PixelFormat::gray);
  EXPECT_EQ(gray.channels, 1);
  EXPECT_EQ(gray.pixels, Pixels{18});  // 0.299 * 10 + 0.587 * 20 + 0.114 * 30 = 18.15
}

TEST(Image, BmpHasRunsBitsAndFields) {
  EXPECT_EQ(decoded(file("runs.bmp")).pixels, grays({100, 100, 0, 200, 100, 200, 100, 200, 0, 0, 0, 0}));
  EXPECT_EQ(decoded(file("bits.bmp")).pixels, grays({255, 255, 255, 255, 0, 255, 0, 255, 255, 0, 255, 0}));
  // 5, 6 and 5 bits; the pixel 5956 = 0b00010'111010'00100 is the second of the bottom row.
  const Pixels fields = decoded(file("fields.bmp")).pixels;
  EXPECT_EQ(Pixels(fields.begin() + 27, fields.begin() + 30), (Pixels{16, 235, 33}));
}

TEST(Image, PnmScalesToEightBits) {
  const Pixels gray = decoded(file("gray.pgm"), PixelFormat::gray).pixels;
  EXPECT_EQ(gray[1], 23);  // 5956 * 255 / 65535 = 23.2
  const Pixels bits = {0, 255, 0, 255, 255, 0, 255, 0, 0, 0, 0, 0};
  EXPECT_EQ(decoded(file("bits.pbm")).pixels, grays(bits));
  EXPECT_EQ(decoded(file("letters.pbm")).pixels, grays(bits));
}

TEST(Image, OtherFilesAreRefused) {
  for (const char* data : {"", "P", "GIF89a", "BM", "\xFF\xD8\xFF", "RIFF", "II*", "P6 0 1 255\n",
                           "P6 99999 99999 255\n", "P5 1 1 70000\n\1", "P3 1 1 255\n1 2 x"})
    expect_refused(data);
}

TEST(Image, DamagedFilesEndAsPixelsOrARefusal) {
  for (const auto& [name, whole] : files()) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
      for (const std::string& data : {whole.substr(0, i), damaged}) {
        Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(10)});
        try {
          decoded(data, PixelFormat::rgb, budget);
        } catch (const Error& error) {
          EXPECT_TRUE(error.code() == Code::bad_image || error.code() == Code::memory_limit) << name << i;
        }
      }
    }
  }
}

TEST(Image, ASizeBeyondTheBudgetIsALimitNotAnImage) {
  std::string huge = file("rgb.png");
  Budget budget({.memory = 10});
  try {
    decoded(huge, PixelFormat::rgb, budget);
    ADD_FAILURE() << "decoded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::memory_limit);
  }
}

}  // namespace
}  // namespace ingot::formats::image
