#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/driver/work.h"
#include "ingot/verify/runtime.h"

namespace ingot::measure {

/// One measurement of a model file.
struct BenchRequest {
  std::string model;
  driver::LoadOptions load;
  std::vector<std::string> inputs;  // as `ingot run` takes them; the others are drawn
  std::uint32_t seed = 1;
  std::vector<std::pair<std::string, Shape>> input_shapes;
  int threads = 0;
  std::size_t runs = 30;                // at least; with a peer, pairs
  verify::Peers peers;                  // where these are
  std::vector<verify::Runtime> beside;  // measured beside it, one after the other
};

/// Milliseconds.
struct Times {
  std::size_t runs = 0;
  double median = 0, p90 = 0, min = 0;
};

struct Measured {
  double set_up = 0, first_result = 0;  // milliseconds from the start: ready to run; first result there
  Times latency;
  std::uint64_t peak_bytes = 0;  // of the process, all of its life
  double cpu = 0;                // milliseconds of all threads in the run that took least; 0: not measured
};

/// The median of the pairs' ratios, and the interval that holds the true one with 95 % confidence whatever the
/// distribution is (order statistics).
struct Ratio {
  double median = 0, low = 0, high = 0;
  std::size_t pairs = 0;
};

struct Comparison {
  verify::Runtime runtime{};
  std::string title, version;
  std::string converted_to;  // what the model was written as for it; empty: it runs the file itself
  Measured peer;
  std::uint64_t peer_base_bytes = 0;  // of its process before it loaded the model
  Ratio speed;                        // its time divided by ours: above 1, Ingot is faster
  std::string difference;             // between the results; empty: they agree
};

struct BenchResult {
  int threads = 0;
  Measured own;
  driver::Work work;
  double peak_gflops = 0;  // multiply-adds that the machine reaches on these threads
  double moved_bytes = 0;  // of tensors that go in and come out
  double copy_gbps = 0;    // 10^9 bytes per second, read and written, that copying reaches on these threads
  std::vector<Comparison> peers;

  /// 0: the model has no convolutions, matrix products or recurrent layers whose shapes are known.
  double gflops() const { return own.latency.median > 0 ? work.operations / own.latency.median / 1e6 : 0; }
  double gbps() const { return own.latency.median > 0 ? moved_bytes / own.latency.median / 1e6 : 0; }
};

BenchResult bench(const BenchRequest& request);

Times times_of(std::vector<double> milliseconds);
/// Needs at least one.
Ratio ratio_of(std::vector<double> ratios);

}  // namespace ingot::measure
