// Weights in half precision: half of the file, and memory for one step's weights while it runs.
#include <algorithm>
#include <cmath>
#include <set>

#include "ingot/backends/cpp/prepare.h"
#include "ingot/base/float_types.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::cpp {

using namespace lower;

namespace {

constexpr std::int64_t kFewest = 64;  // elements that are worth it
constexpr float kLargest = 65504;     // that float16 has

/// The buffer of the same numbers in half precision; -1: some are too large.
int halved(Program& program, std::size_t tensor) {
  const Buffer& b = program.buffers[tensor];
  const std::vector<float> numbers = b.value->to_vector<float>();
  std::vector<Float16> halves;
  for (const float x : numbers) {
    if (!(std::abs(x) <= kLargest)) return -1;
    halves.push_back(Float16(x));
  }
  Buffer half = b;
  half.type = DType::f16;
  half.dims = {std::ssize(halves)};
  half.value = Tensor::of<Float16>({std::ssize(halves)}, halves);
  program.buffers.push_back(std::move(half));
  return static_cast<int>(program.buffers.size()) - 1;
}

Statement widening(Program& program, int to, int from) {
  const Expr size = program.buffers[static_cast<std::size_t>(from)].dims[0];
  program.variables.push_back({"", DType::i64, true, true});
  const int id = static_cast<int>(program.variables.size()) - 1;
  const Expr i = Expr::variable(id, DType::i64, true);
  Map map{to, {{id, size}}, {i}, {size}, cast(Expr::load(from, DType::f16, {i}, {size}), DType::f32)};
  return {Group{"weights " + program.buffers[static_cast<std::size_t>(to)].name, {{std::move(map)}}}};
}

}  // namespace

void halve_weights(Program& program) {
  std::vector<int> halves(program.buffers.size(), -1);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.role == Buffer::Role::weight && b.type == DType::f32 && b.value && b.value->size() >= kFewest)
      halves[i] = halved(program, i);
    if (halves[i] < 0) continue;
    program.buffers[i].role = Buffer::Role::scratch;
    program.buffers[i].value.reset();
  }
  Body body;
  for (Statement& s : program.body) {
    std::set<int> read;
    for_each_buffer(s, [&](int tensor, bool) {
      if (static_cast<std::size_t>(tensor) < halves.size() && halves[static_cast<std::size_t>(tensor)] >= 0)
        read.insert(tensor);
    });
    for (const int tensor : read) body.push_back(widening(program, tensor, halves[static_cast<std::size_t>(tensor)]));
    body.push_back(std::move(s));
  }
  program.body = std::move(body);
}

}  // namespace ingot::backends::cpp
