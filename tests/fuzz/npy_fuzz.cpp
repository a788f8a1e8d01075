// Fuzzes .npy and .npz: what is read can be written, and is then read the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "ingot/formats/npy/npy.h"
#include "ingot/formats/zip/archive.h"

namespace {

using namespace ingot;
using namespace ingot::formats;

void round_trip(const npy::NpyArray& array) {
  std::string bytes;
  try {
    bytes = npy::to_bytes(array);
  } catch (const Error&) {
    return;  // strings of bytes that are no UTF-8
  }
  const npy::NpyArray again = npy::read(Bytes::own(std::move(bytes)));
  if (again.dtype != array.dtype || again.dims != array.dims || again.strings != array.strings) std::abort();
  if (!(again.data == array.data)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file = Bytes::copy(std::as_bytes(std::span(data, size)));
  Budget budget(Limits{.memory = 64u << 20});
  try {
    if (zip::looks_like_zip(file)) {
      const auto arrays = npy::read_npz(file, &budget);
      for (const auto& [name, array] : arrays) round_trip(array);
    } else {
      round_trip(npy::read(file, &budget));
    }
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
