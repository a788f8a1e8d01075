// Fuzzes inference, the checker and version conversion: whatever can be read is judged without a crash, and what
// conversion accepts is sound.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/onnx/reader.h"
#include "ingot/passes/check/check.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/infer.h"

namespace {

using namespace ingot;

void try_all(const Bytes& file) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5), .nodes = 10'000});
  try {
    Model model = onnx::read(file, "", {.budget = &budget});
    passes::InferOptions options;
    options.budget = &budget;
    options.tolerate_errors = true;
    passes::infer(model, options);
    check_invariants(model);
    passes::CheckOptions check_options;
    check_options.budget = &budget;
    (void)passes::check(model, check_options);
    OpsetImports target;
    target.set("", 17);
    passes::convert_version(model, target);
    check_invariants(model);
  } catch (const Error& error) {
    // Refusals are answers; a broken invariant is not.
    if (error.code() == Code::broken_invariant || error.code() == Code::internal) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_all(Bytes::copy(std::as_bytes(std::span(data, size))));
  return 0;
}
