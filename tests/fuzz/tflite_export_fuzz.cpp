// Fuzzes what writes TFLite: whatever ONNX can be read is expressed in it or refused.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/onnx/reader.h"

namespace {

using namespace ingot;

void read_and_export(const Bytes& file) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5), .nodes = 10'000});
  const BudgetScope scope(&budget);
  const Model model = onnx::read(file, "", {.budget = &budget});
  const backends::tflite::Exported made = backends::tflite::to_tflite(model, {});
  // What is written can be read.
  (void)formats::tflite::read(Bytes::own(formats::tflite::to_bytes(made.model)), {.budget = &budget});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_and_export(Bytes::copy(std::as_bytes(std::span(data, size))));
  } catch (const Error& error) {
    if (error.exit_code() != 70) return 0;  // refused, as it should be
    std::fputs(error.what(), stderr);
    __builtin_trap();
  }
  return 0;
}
