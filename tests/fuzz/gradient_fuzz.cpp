// Fuzzes the making of gradients and training graphs of whatever ONNX can be read.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/onnx/reader.h"
#include "ingot/train/gradient_model.h"
#include "ingot/train/training_graph.h"

namespace {

using namespace ingot;

void attempt(const std::function<void()>& make) {
  try {
    make();
  } catch (const Error& error) {
    if (error.exit_code() != 70) return;  // refused, as it should be
    std::fputs(error.what(), stderr);
    __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5), .nodes = 10'000});
  const BudgetScope scope(&budget);
  Model model;
  attempt([&] { model = onnx::read(Bytes::copy(std::as_bytes(std::span(data, size))), "", {.budget = &budget}); });
  using Kind = train::GradientModelOptions::Kind;
  for (const Kind kind : {Kind::gradient, Kind::jacobian, Kind::hessian_vector})
    attempt([&] { check_invariants(train::gradient_model(model, {.of = {}, .wrt = {}, .kind = kind})); });
  attempt([&] {
    train::TrainingOptions options;
    options.loss.name = "mse";
    check_invariants(train::step_graph(train::make_training_graph(model, options)));
  });
  return 0;
}
