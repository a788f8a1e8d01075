// Fuzzes the parser of the text syntax: what it accepts it prints, and takes back as the same model.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/ir/equal.h"
#include "ingot/onnx/text.h"

namespace {

using namespace ingot;

[[noreturn]] void differ(const char* what, const std::string& where) {
  std::fprintf(stderr, "%s: %s\n", what, where.c_str());
  std::abort();
}

void check(std::string_view text) {
  Budget budget({.memory = std::uint64_t{64} << 20});
  Model model;
  try {
    model = onnx::parse_text(text, "", {.budget = &budget});
  } catch (const Error&) {
    return;  // refused, as it should be
  }
  try {
    check_invariants(model);
    const std::string printed = onnx::to_text(model);
    const Model again = onnx::parse_text(printed);
    std::string difference;
    if (!equal(model, again, &difference)) differ("parsed again", difference);
    if (onnx::to_text(again) != printed) differ("printed again", "other text");
    (void)onnx::to_text(model, onnx::TextOptions::for_people());
  } catch (const Error& error) {
    differ("refused what was accepted", error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check({reinterpret_cast<const char*>(data), size});
  return 0;
}
