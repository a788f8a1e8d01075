// Fuzzes the translation of TFLite models: whatever is read becomes a model that is well formed, or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/frontends/tflite/import.h"
#include "ingot/passes/check/check.h"

namespace {

using namespace ingot;

/// What no file may talk the translation into. Shapes and types that contradict each other may come from the file.
bool is_malformed(Code code) {
  switch (code) {
    case Code::duplicate_name:
    case Code::undefined_value:
    case Code::not_sorted:
    case Code::cyclic_graph:
    case Code::unknown_operator:
    case Code::bad_opset_import:
    case Code::bad_function:
    case Code::bad_arity:
    case Code::missing_attribute:
      return true;
    default:
      return false;
  }
}

void translate(const formats::tflite::Model& source, bool dequantize, Budget& budget) {
  frontends::tflite::ImportOptions options;
  options.dequantize = dequantize;
  const frontends::tflite::Imported imported = frontends::tflite::import_model(source, options);
  check_invariants(imported.model);
  passes::CheckOptions check_options;
  check_options.budget = &budget;
  for (const passes::Problem& problem : passes::check(imported.model, check_options))
    if (problem.severity == passes::Severity::error && is_malformed(problem.code))
      throw Error(Code::internal, problem.str());
}

void read_and_translate(const Bytes& file) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5), .nodes = 10'000});
  const formats::tflite::Model source = formats::tflite::read(file, {.budget = &budget});
  for (const bool dequantize : {false, true}) translate(source, dequantize, budget);
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
