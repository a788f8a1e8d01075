// Fuzzes what TensorFlow's graphs become: the result is run.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/inputs.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/import.h"

namespace {

using namespace ingot;

void import_and_run(const Bytes& file) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5), .nodes = 20'000});
  const BudgetScope scope(&budget);
  frontends::tensorflow::ImportOptions options;
  options.budget = &budget;
  const Model model = frontends::tensorflow::import_graph(formats::tensorflow::read_graph(file, budget), options).model;
  check_invariants(model);
  const engine::Session session(model, {.budget = &budget, .threads = 1});
  (void)session.run(driver::random_inputs(model, 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    import_and_run(Bytes::copy(std::as_bytes(std::span(data, size))));
  } catch (const Error& error) {
    if (error.exit_code() != 70) return 0;  // refused, as it should be
    std::fputs(error.what(), stderr);
    __builtin_trap();
  }
  return 0;
}
