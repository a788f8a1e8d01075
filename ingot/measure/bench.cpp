// Measures a model: alone, or turn by turn with ONNX Runtime.
#include "ingot/measure/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/peak_memory.h"
#include "ingot/base/threads.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/run.h"
#include "ingot/engine/session.h"
#include "ingot/measure/copy_peak.h"
#include "ingot/measure/fma_peak.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/peer.h"

namespace ingot::measure {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kTurn = 10;     // milliseconds at least that one side runs before the other does
constexpr double kAlone = 1000;  // milliseconds at least that a model runs without a peer
constexpr double kMostRuns = 1000;
constexpr verify::Tolerance kSame{.rtol = 1e-3, .atol = 1e-5, .scale = 1e-4, .steps = 1};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Whoever reads the file first must not be the one who waits for the disk.
void read_ahead(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size()))) {
  }
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// A loaded model and its inputs.
class Own {
 public:
  Own(const BenchRequest& request, Measured& measured) {
    auto start = Clock::now();
    model_ = driver::load(request.model, request.load).model;
    driver::set_input_shapes(model_, request.input_shapes);
    measured.set_up = ms_since(start);
    inputs_ = driver::load_inputs(model_, request.inputs, request.load).values;
    for (auto& drawn : driver::random_inputs(model_, request.seed, inputs_)) inputs_.push_back(std::move(drawn));
    start = Clock::now();
    const std::optional<Model> form = driver::runnable_form(model_);
    session_.emplace(form ? *form : model_,
                     engine::SessionOptions{.budget = request.load.budget, .threads = request.threads});
    measured.set_up += ms_since(start);
    start = Clock::now();
    outputs_ = session_->run(inputs_);
    measured.first_result = measured.set_up + ms_since(start);
  }

  std::vector<double> run(std::size_t count) {
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i) {
      const auto start = Clock::now();
      const auto outputs = session_->run(inputs_);
      times.push_back(ms_since(start));
    }
    return times;
  }

  const std::vector<engine::NamedDatum>& inputs() const { return inputs_; }
  const std::vector<engine::NamedDatum>& outputs() const { return outputs_; }

  double moved_bytes() const {
    double bytes = 0;
    for (const auto* side : {&inputs_, &outputs_})
      for (const auto& tensor : *side)
        if (const Array* array = tensor.value.array()) bytes += static_cast<double>(array->byte_size());
    return bytes;
  }

  /// With the shapes that the inputs have.
  driver::Work work() {
    driver::AdjustOptions known;
    known.infer_types = true;
    for (const auto& input : inputs_)
      if (const Array* array = input.value.array())
        known.input_shapes.emplace_back(input.name, Shape(array->dims().begin(), array->dims().end()));
    driver::adjust(model_, known);
    return driver::work_of(model_);
  }

 private:
  Model model_;
  std::vector<engine::NamedDatum> inputs_, outputs_;
  std::optional<engine::Session> session_;
};

std::size_t runs_for(double milliseconds, double one) {
  return static_cast<std::size_t>(std::clamp(std::ceil(milliseconds / std::max(one, 1e-4)), 1.0, kMostRuns));
}

/// ONNX Runtime with a model loaded; whatever goes wrong there ends the measurement.
class Ort {
 public:
  Ort(const verify::Peers& peers, const std::string& model, const std::vector<engine::NamedDatum>& inputs, int threads)
      : peer_(verify::Runtime::ort, peers) {
    first = peer_.run({.model = model, .inputs = inputs, .outputs = {}, .threads = threads, .optimize = true});
    if (!first.error.empty()) refuse(first.error);
  }
  std::vector<double> run(std::size_t count) {
    verify::PeerTimes times = peer_.time(count);
    if (!times.error.empty()) refuse(times.error);
    peak_bytes = times.peak_bytes;
    return std::move(times.ms);
  }

  verify::PeerAnswer first;
  std::uint64_t peak_bytes = 0;

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw Error(Code::unsupported_feature, "ONNX Runtime refuses the model: " + why);
  }
  verify::Peer peer_;
};

std::string difference_of(const std::vector<engine::NamedDatum>& own, const verify::PeerAnswer& ort) {
  for (const auto& expected : ort.outputs) {
    const auto got = std::ranges::find(own, expected.name, &engine::NamedDatum::name);
    if (got == own.end()) return "output '" + expected.name + "' is missing";
    if (const auto text = verify::difference(got->value, expected.value, kSame))
      return "output '" + expected.name + "': " + *text;
  }
  if (!ort.not_passed.empty()) return "output '" + ort.not_passed[0] + "' cannot be compared";
  return {};
}

void append(std::vector<double>& all, const std::vector<double>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

/// The sides take turns, the first turn of a pair going to each by turns too.
Comparison compare_with(Ort& ort, Own& own, std::size_t pairs, Measured& measured) {
  const double own_ms = median_of(own.run(3)), ort_ms = median_of(ort.run(3));
  const std::size_t own_runs = runs_for(kTurn, own_ms), ort_runs = runs_for(kTurn, ort_ms);
  std::vector<double> own_times, ort_times, ratios;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    std::vector<double> a, b;
    for (std::size_t turn = 0; turn < 2; ++turn) {
      // Threads that wait actively go to sleep before the other side's turn.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if ((pair + turn) % 2)
        b = ort.run(ort_runs);
      else
        a = own.run(own_runs);
    }
    ratios.push_back(median_of(b) / median_of(a));
    append(own_times, a);
    append(ort_times, b);
  }
  measured.latency = times_of(std::move(own_times));
  Comparison c;
  c.version = ort.first.version;
  c.peer = {ort.first.load_ms, ort.first.first_ms, times_of(std::move(ort_times)), ort.peak_bytes};
  c.peer_base_bytes = ort.first.base_bytes;
  c.speed = ratio_of(std::move(ratios));
  return c;
}

}  // namespace

Times times_of(std::vector<double> ms) {
  if (ms.empty()) return {};
  std::ranges::sort(ms);
  const std::size_t n = ms.size();
  return {n, median_of(ms), ms[std::min(n - 1, n * 9 / 10)], ms[0]};
}

Ratio ratio_of(std::vector<double> ratios) {
  std::ranges::sort(ratios);
  const std::size_t n = ratios.size();
  // The median lies above the k-th smallest unless at most k - 1 of n tosses of a coin fall one way.
  const double size = static_cast<double>(n);
  double below = 0;
  std::size_t k = 0;
  for (; k < n / 2; ++k) {
    const double i = static_cast<double>(k);
    const double log_ways = std::lgamma(size + 1) - std::lgamma(i + 1) - std::lgamma(size - i + 1);
    below += std::exp(log_ways - size * std::log(2.0));
    if (below > 0.025) break;
  }
  const std::size_t low = k ? k - 1 : 0;
  return {median_of(ratios), ratios[low], ratios[n - 1 - low], n};
}

BenchResult bench(const BenchRequest& request) try {
  BenchResult result;
  result.threads = request.threads > 0 ? request.threads : hardware_threads();
  read_ahead(request.model);
  Own own(request, result.own);
  if (request.ort) {
    Ort ort(*request.ort, request.model, own.inputs(), result.threads);
    result.ort = compare_with(ort, own, std::max<std::size_t>(request.runs, 30), result.own);
    result.ort->difference = difference_of(own.outputs(), ort.first);
  } else {
    std::vector<double> times;
    own.run(2);
    const auto start = Clock::now();
    while (times.size() < request.runs || (ms_since(start) < kAlone && times.size() < 1'000'000))
      append(times, own.run(1));
    result.own.latency = times_of(std::move(times));
  }
  result.own.peak_bytes = peak_memory();
  result.work = own.work();
  result.moved_bytes = own.moved_bytes();
  if (result.work.operations > 0)
    result.peak_gflops = measure_fma_peak(result.threads);
  else
    result.copy_gbps = measure_copy_peak(result.threads);
  return result;
} catch (Error& error) {
  error.in_file(request.model);
  throw;
}

}  // namespace ingot::measure
