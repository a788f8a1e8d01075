// Fuzzes the way to older operator sets: the first byte says to which.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/onnx/reader.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"

namespace {

using namespace ingot;

void read_and_convert(const Bytes& file, int opset) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5), .nodes = 10'000});
  const BudgetScope scope(&budget);
  Model model = onnx::read(file, "", {.budget = &budget});
  OpsetImports target;
  target.set("", opset);
  target.set("ai.onnx.ml", 1 + opset % 5);
  passes::convert_version(model, target);
  check_invariants(model);
  passes::fit_ir_version(model, opset % 2 ? 8 : 4);
  check_invariants(model);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    read_and_convert(Bytes::copy(std::as_bytes(std::span(data + 1, size - 1))), 1 + data[0] % 27);
  } catch (const Error& error) {
    if (error.exit_code() != 70) return 0;  // refused, as it should be
    std::fputs(error.what(), stderr);
    __builtin_trap();
  }
  return 0;
}
