// Fuzzes the translation of pickled estimators.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "ingot/formats/pickle/document.h"
#include "ingot/formats/pickle/skops.h"
#include "ingot/frontends/sklearn/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  Budget budget(Limits{.memory = 64u << 20});
  try {
    const Bytes file = Bytes::copy(std::as_bytes(std::span(data, size)));
    (void)frontends::sklearn::import_model(formats::pickle::looks_like_skops(file)
                                               ? formats::pickle::read_skops(file, &budget)
                                               : formats::pickle::read(file, {.budget = &budget}));
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
