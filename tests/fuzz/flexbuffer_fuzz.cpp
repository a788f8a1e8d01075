// Fuzzes FlexBuffers: what is read can be written, and is then read the same.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/flexbuffer.h"

namespace {

using ingot::formats::tflite::FlexValue;

/// NaN is not equal to itself, and members of one key have no order.
bool is_comparable(const FlexValue& value) {
  if (const auto* number = std::get_if<double>(&value.value)) return !std::isnan(*number);
  if (const auto* list = std::get_if<FlexValue::List>(&value.value)) return std::ranges::all_of(*list, is_comparable);
  if (const auto* map = std::get_if<FlexValue::Map>(&value.value))
    return std::ranges::adjacent_find(*map, {}, &FlexValue::Member::key) == map->end() &&
           std::ranges::all_of(*map, is_comparable, &FlexValue::Member::value);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  using namespace ingot::formats::tflite;
  FlexValue value;
  try {
    value = read_flexbuffer(Bytes::copy(std::as_bytes(std::span(data, size))));
  } catch (const Error&) {
    return 0;  // refused, as it should be
  }
  Bytes written;
  try {
    written = write_flexbuffer(value);
  } catch (const Error&) {
    return 0;  // keys that may be read and not be written
  }
  if (is_comparable(value) && !(read_flexbuffer(written) == value)) std::abort();
  return 0;
}
