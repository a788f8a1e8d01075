// Fuzzes image files: any bytes end as pixels or as a refusal.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/image/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  Budget budget({.memory = std::uint64_t{4} << 20, .time = std::chrono::seconds(5)});
  std::vector<std::uint8_t> pixels;
  const formats::image::Place place = [&](std::int64_t height, std::int64_t width, std::int64_t channels) {
    budget.charge_memory(static_cast<std::uint64_t>(height * width * channels));
    pixels.resize(static_cast<std::size_t>(height * width * channels));
    return pixels.data();
  };
  try {
    formats::image::decode(std::as_bytes(std::span(data, size)), formats::image::PixelFormat::gray, place, budget);
  } catch (const Error&) {
    // A refusal is an answer.
  }
  return 0;
}
