// Fuzzes the translation of Keras models: whatever is read becomes a model that is well formed, or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/keras/model_file.h"
#include "ingot/frontends/keras/import.h"

namespace {

using namespace ingot;

void read_and_translate(const Bytes& file) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5), .nodes = 10'000});
  const formats::keras::ModelFile source = formats::keras::looks_like_keras(file)
                                               ? formats::keras::read_model(file, &budget)
                                               : formats::keras::read_architecture(file, &budget);
  for (const bool is_training : {false, true}) {
    frontends::keras::ImportOptions options;
    options.is_training = is_training;
    options.budget = &budget;
    check_invariants(frontends::keras::import_model(source, options).model);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_and_translate(Bytes::copy(std::as_bytes(std::span(data, size))));
  } catch (const Error& error) {
    if (error.exit_code() != 70) return 0;  // refused, as it should be
    std::fputs(error.what(), stderr);
    __builtin_trap();
  }
  return 0;
}
