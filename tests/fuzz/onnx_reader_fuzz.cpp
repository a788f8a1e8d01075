// Fuzzes the ONNX reader: whatever is read is a sound model, and writing it, as a file or as text, loses nothing.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/ir/equal.h"
#include "ingot/onnx/json.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/text.h"
#include "ingot/onnx/writer.h"

namespace {

using namespace ingot;

[[noreturn]] void differ(const char* what, const std::string& where) {
  std::fprintf(stderr, "%s: %s\n", what, where.c_str());
  std::abort();
}

void check(const Bytes& file) {
  Budget budget({.memory = std::uint64_t{64} << 20});
  Model model;
  try {
    model = onnx::read(file, "", {.budget = &budget});
  } catch (const Error&) {
    return;  // refused, as it should be
  }
  // From here on nothing may be refused: the model was accepted.
  try {
    check_invariants(model);
    const std::string bytes = onnx::to_bytes(model);
    std::string difference;
    const Model again = onnx::read(Bytes::own(bytes), "");
    if (!equal(model, again, &difference)) differ("read again", difference);
    if (onnx::to_bytes(again) != bytes) differ("written again", "other bytes");
    const Model from_text = onnx::parse_text(onnx::to_text(model));
    if (!equal(model, from_text, &difference)) differ("from text", difference);
    if (onnx::to_bytes(from_text) != bytes) differ("from text", "other bytes");
    if (!equal(model, model.clone(), &difference)) differ("copied", difference);
    (void)onnx::to_json(model, {.values = true});
  } catch (const Error& error) {
    differ("refused what was accepted", error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(Bytes::copy(std::as_bytes(std::span(data, size))));
  return 0;
}
