// Fuzzes sound files: any bytes end as samples or as a refusal.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/audio/audio.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  Budget budget({.memory = std::uint64_t{16} << 20, .time = std::chrono::seconds(5)});
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    (void)formats::audio::decode(bytes, formats::audio::recognise(bytes), budget);
  } catch (const Error&) {
    // A refusal is an answer.
  }
  return 0;
}
