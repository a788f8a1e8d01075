// Measures a model: alone, or turn by turn with other runtimes.
#include "ingot/measure/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
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
#include "ingot/measure/contestant.h"
#include "ingot/measure/copy_peak.h"
#include "ingot/measure/fma_peak.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/verify.h"

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
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;  // a pipe would wait for whoever writes to it
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
    loaded_ = driver::load(request.model, request.load);
    Model& model = loaded_.model;
    driver::set_input_shapes(model, request.input_shapes);
    measured.set_up = ms_since(start);
    inputs_ = driver::load_inputs(model, request.inputs, request.load).values;
    for (auto& drawn : driver::random_inputs(model, request.seed, inputs_)) inputs_.push_back(std::move(drawn));
    start = Clock::now();
    const std::optional<Model> form = driver::runnable_form(model);
    session_.emplace(form ? *form : model,
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
      const std::clock_t cpu = std::clock();
      const auto outputs = session_->run(inputs_);
      const double spent = 1000.0 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
      times.push_back(ms_since(start));
      least_cpu_ = least_cpu_ ? std::min(*least_cpu_, spent) : spent;
    }
    return times;
  }

  double least_cpu() const { return least_cpu_.value_or(0); }
  const driver::Loaded& loaded() const { return loaded_; }
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
    driver::adjust(loaded_.model, known);
    return driver::work_of(loaded_.model);
  }

 private:
  driver::Loaded loaded_;
  std::vector<engine::NamedDatum> inputs_, outputs_;
  std::optional<engine::Session> session_;
  std::optional<double> least_cpu_;
};

std::size_t runs_for(double milliseconds, double one) {
  return static_cast<std::size_t>(std::clamp(std::ceil(milliseconds / std::max(one, 1e-4)), 1.0, kMostRuns));
}

std::string difference_of(const std::vector<engine::NamedDatum>& own, const verify::PeerAnswer& theirs) {
  if (!theirs.not_passed.empty()) return "output '" + theirs.not_passed[0] + "' cannot be compared";
  if (own.size() != theirs.outputs.size()) return "it gives another number of outputs";
  for (std::size_t i = 0; i < own.size(); ++i) {
    // ONNX Runtime gives them by name; others have names of their own and keep the order.
    const auto named = std::ranges::find(theirs.outputs, own[i].name, &engine::NamedDatum::name);
    const Datum& expected = named == theirs.outputs.end() ? theirs.outputs[i].value : named->value;
    if (const auto text = verify::difference(own[i].value, expected, kSame))
      return "output '" + own[i].name + "': " + *text;
  }
  return {};
}

/// Whether what differs is what rounding does to this model, or the order of equal scores: `ingot verify` measures it.
bool is_explained(const BenchRequest& request, verify::Runtime runtime) {
  verify::VerifyRequest question;
  question.a = {request.model, {runtime}, request.load};
  question.b = {request.model, {verify::Runtime::ingot}, request.load};
  question.peers = request.peers;
  question.inputs = request.inputs;
  question.seed = request.seed;
  question.seeds = 1;
  question.input_shapes = request.input_shapes;
  question.bisects = false;
  return verify::verify(question).answer == verify::Verdict::Answer::same;
}

void append(std::vector<double>& all, const std::vector<double>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

/// The sides take turns, the first turn of a pair going to each by turns too.
Comparison compare_with(Contestant& peer, Own& own, std::size_t pairs, std::vector<double>& own_times) {
  const double own_ms = median_of(own.run(3)), peer_ms = median_of(peer.run(3));
  const std::size_t own_runs = runs_for(kTurn, own_ms), peer_runs = runs_for(kTurn, peer_ms);
  std::vector<double> peer_times, ratios;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    std::vector<double> a, b;
    for (std::size_t turn = 0; turn < 2; ++turn) {
      // Threads that wait actively go to sleep before the other side's turn.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if ((pair + turn) % 2)
        b = peer.run(peer_runs);
      else
        a = own.run(own_runs);
    }
    ratios.push_back(median_of(b) / median_of(a));
    append(own_times, a);
    append(peer_times, b);
  }
  Comparison c;
  c.title = peer.title;
  c.version = peer.first.version;
  c.converted_to = peer.converted_to;
  c.peer = {peer.first.load_ms, peer.first.first_ms, times_of(std::move(peer_times)), peer.peak_bytes, 0};
  c.peer_base_bytes = peer.first.base_bytes;
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
  std::vector<double> times;
  for (const verify::Runtime runtime : request.beside) {
    Contestant peer(runtime, request.peers, request.model, own.loaded(), request.load, request.input_shapes,
                    own.inputs(), result.threads);
    Comparison compared = compare_with(peer, own, std::max<std::size_t>(request.runs, 30), times);
    compared.runtime = runtime;
    compared.difference = difference_of(own.outputs(), peer.first);
    if (!compared.difference.empty() && peer.converted_to.empty() && is_explained(request, runtime))
      compared.difference.clear();
    result.peers.push_back(std::move(compared));
  }
  if (request.beside.empty()) {
    own.run(2);
    const auto start = Clock::now();
    while (times.size() < request.runs || (ms_since(start) < kAlone && times.size() < 1'000'000))
      append(times, own.run(1));
  }
  result.own.latency = times_of(std::move(times));
  result.own.peak_bytes = peak_memory();
  result.own.cpu = own.least_cpu();
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
