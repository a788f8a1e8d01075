// Fuzzes the reader of idx files.
#include "ingot/base/error.h"
#include "ingot/formats/idx/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    ingot::formats::idx::read(ingot::Bytes::copy(std::as_bytes(std::span(data, size))));
  } catch (const ingot::Error&) {
  }
  return 0;
}
