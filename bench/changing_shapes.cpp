// What a new shape costs: runs a model twice for each of many sizes of a dimension, in mixed order. The first run of a
// size has never seen it, the second has. Usage: ingot_changing_shapes MODEL SYMBOL MOST [COUNT] [--threads N]
//
// CPU time of all threads is measured, not the clock: other programs may run meanwhile.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <random>
#include <string>

#include "ingot/base/error.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"

namespace {

using namespace ingot;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Inputs in which the symbol has this size, and every other unknown dimension is 1.
std::vector<engine::NamedDatum> inputs_of(const Model& model, const std::string& symbol, std::int64_t size) {
  std::vector<engine::NamedDatum> inputs;
  std::mt19937 generator(1);
  for (const Value* v : model.graph->inputs()) {
    if (v->initializer) continue;
    Dims dims;
    for (const Dim& d : *v->type.shape) dims.push_back(d.is_known() ? d.value() : d.str() == symbol ? size : 1);
    Array array(v->type.elem, dims);
    if (v->type.elem == DType::f32)
      for (float& x : array.mutable_data<float>()) x = std::uniform_real_distribution<float>(-1, 1)(generator);
    inputs.push_back({v->name(), array});
  }
  return inputs;
}

std::uint64_t resident_kb() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long all = 0, resident = 0;
  if (!file || std::fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
  if (file) std::fclose(file);
  return resident * 4;
}

int run(int count, char** words) {
  const std::string symbol = words[2];
  const std::int64_t most = std::atoll(words[3]);
  const auto shown = static_cast<std::size_t>(count > 4 ? std::atoll(words[4]) : most);
  const Model model = driver::load(words[1], {}).model;
  engine::SessionOptions options;
  options.threads = 1;
  const engine::Session session(model, options);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(most));
  std::iota(sizes.begin(), sizes.end(), 1);
  std::shuffle(sizes.begin(), sizes.end(), std::mt19937(7));
  sizes.resize(std::min(sizes.size(), shown));
  session.run(inputs_of(model, symbol, most / 2 + 1));  // weights are packed
  double fresh = 0, known = 0;
  std::uint64_t early = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto inputs = inputs_of(model, symbol, sizes[i]);
    const double start = cpu_ms();
    session.run(inputs);
    const double middle = cpu_ms();
    session.run(inputs);
    fresh += middle - start;
    known += cpu_ms() - middle;
    if (i == sizes.size() / 4) early = resident_kb();
  }
  std::printf(
      "%zu sizes up to %lld: new %.3g ms, known %.3g ms each: %.2f times; resident %llu MB after a quarter, "
      "%llu MB at the end\n",
      sizes.size(), static_cast<long long>(most), fresh / static_cast<double>(sizes.size()),
      known / static_cast<double>(sizes.size()), fresh / known, static_cast<unsigned long long>(early / 1024),
      static_cast<unsigned long long>(resident_kb() / 1024));
  return 0;
}

}  // namespace

int main(int count, char** words) try {
  if (count < 4) {
    std::fprintf(stderr, "usage: ingot_changing_shapes MODEL SYMBOL MOST [COUNT]\n");
    return 2;
  }
  return run(count, words);
} catch (const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
