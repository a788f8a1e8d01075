// Fuzzes pickles and joblib files: what is read can be printed, and all its arrays asked for.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "ingot/formats/pickle/describe.h"
#include "ingot/formats/pickle/joblib.h"
#include "ingot/formats/pickle/numpy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  using namespace ingot::formats;
  Budget budget(Limits{.memory = 64u << 20});
  try {
    const Bytes file = pickle::decompressed(Bytes::copy(std::as_bytes(std::span(data, size))), &budget);
    const pickle::Document document = pickle::read(file, {.budget = &budget});
    (void)pickle::describe(document);
    (void)pickle::read_sparse(document, *document.root);
    for (const pickle::Ref value : pickle::attributes_of(*document.root)) (void)pickle::number_of(document, *value);
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
