// Ranges of values over runs on samples.
#include "ingot/driver/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"

namespace ingot::driver {
namespace {

constexpr std::size_t kBins = 2048;

/// How often sizes were seen, in equal steps from `least` to `most`.
struct Histogram {
  double least = 0, most = 0;
  std::vector<double> counts = std::vector<double>(kBins, 0);

  double step() const { return (most - least) / static_cast<double>(kBins); }
  void add(double v) {
    const double place = most > least ? (v - least) / step() : 0;
    counts[std::min(kBins - 1, static_cast<std::size_t>(std::max(place, 0.0)))] += 1;
  }
};

passes::ValueRange percentile_of(const Histogram& h, double percentile) {
  double total = 0;
  for (const double c : h.counts) total += c;
  const double outside = total * (1 - percentile / 100) / 2;
  std::size_t first = 0, last = kBins;
  for (double sum = 0; first + 1 < last && sum + h.counts[first] <= outside; ++first) sum += h.counts[first];
  for (double sum = 0; last > first + 1 && sum + h.counts[last - 1] <= outside; --last) sum += h.counts[last - 1];
  const auto edge = [&](std::size_t i) { return h.least + static_cast<double>(i) * h.step(); };
  return {first == 0 ? h.least : edge(first), last == kBins ? h.most : edge(last)};
}

/// What is lost (Kullback and Leibler) where the first `kept` bins stand for all, in `levels` steps.
double loss_of(const std::vector<double>& counts, std::size_t kept, std::size_t levels) {
  std::vector<double> p(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(kept));
  double total = 0;
  for (std::size_t i = kept; i < counts.size(); ++i) p.back() += counts[i];
  for (const double c : p) total += c;
  std::vector<double> q(kept, 0);
  double q_total = 0;
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * kept / levels, end = (level + 1) * kept / levels;
    double sum = 0, filled = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += counts[i];
      filled += p[i] > 0;
    }
    for (std::size_t i = begin; i < end && filled > 0; ++i)
      if (p[i] > 0) q[i] = sum / filled;
    q_total += sum;
  }
  if (!(total > 0) || !(q_total > 0)) return std::numeric_limits<double>::infinity();
  double loss = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    if (!(p[i] > 0)) continue;
    if (!(q[i] > 0)) return std::numeric_limits<double>::infinity();
    loss += p[i] / total * std::log(p[i] / total / (q[i] / q_total));
  }
  return loss;
}

/// The size beyond which values are cut off, of a histogram of sizes.
double threshold_of(const Histogram& h) {
  constexpr std::size_t kLevels = 128, kStride = 16;
  double best = h.most, least = std::numeric_limits<double>::infinity();
  for (std::size_t kept = kLevels; kept <= kBins; kept += kStride) {
    const double loss = loss_of(h.counts, kept, kLevels);
    if (loss < least) {
      least = loss;
      best = static_cast<double>(kept) * h.step();
    }
  }
  return best;
}

class Watcher {
 public:
  Watcher(const Model& model, const std::vector<std::string>& values, const Samples& samples,
          const CalibrationOptions& options)
      : values_(values),
        samples_(samples),
        options_(options),
        model_(with_outputs(model, values)),
        session_(model_, {.budget = options.budget}),
        ranges_(values.size()) {}

  passes::ValueRanges run() {
    for_each([&](std::size_t i, double v) {
      auto& range = ranges_[i];
      range.least = std::min(range.least, v);
      range.most = std::max(range.most, v);
    });
    if (options_.method != Calibration::extremes) narrow();
    passes::ValueRanges found;
    for (std::size_t i = 0; i < values_.size(); ++i) found[values_[i]] = ranges_[i];
    return found;
  }

 private:
  template <class Use> void for_each(const Use& use) {
    for (std::size_t s = 0; s < samples_.count; ++s) {
      if (options_.budget) options_.budget->poll();
      std::vector<engine::NamedDatum> seen = samples_.batch(s);  // inputs have ranges, too
      for (engine::NamedDatum& output : session_.run(seen)) seen.push_back(std::move(output));
      for (std::size_t i = 0; i < values_.size(); ++i) {
        const auto it = std::ranges::find(seen, values_[i], &engine::NamedDatum::name);
        const Array* array = it == seen.end() ? nullptr : it->value.array();
        if (!array || array->dtype() != DType::f32) continue;
        for (const float v : array->data<float>())
          if (std::isfinite(v))
            use(i, static_cast<double>(v));
          else
            ranges_[i].has_infinities |= std::isinf(v);
      }
    }
  }

  void narrow() {
    const bool is_entropy = options_.method == Calibration::entropy;
    std::vector<Histogram> histograms(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      histograms[i].least = is_entropy ? 0 : ranges_[i].least;
      histograms[i].most = is_entropy ? std::max(-ranges_[i].least, ranges_[i].most) : ranges_[i].most;
    }
    // Zeros, of which activations make many, lose nothing by any step.
    for_each([&](std::size_t i, double v) {
      if (!is_entropy || v != 0) histograms[i].add(is_entropy ? std::abs(v) : v);
    });
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!is_entropy) {
        const passes::ValueRange part = percentile_of(histograms[i], options_.percentile);
        ranges_[i] = {part.least, part.most, ranges_[i].has_infinities};
        continue;
      }
      const double threshold = threshold_of(histograms[i]);
      ranges_[i].least = std::max(ranges_[i].least, -threshold);
      ranges_[i].most = std::min(ranges_[i].most, threshold);
    }
  }

  const std::vector<std::string>& values_;
  const Samples& samples_;
  const CalibrationOptions& options_;
  Model model_;
  engine::Session session_;
  std::vector<passes::ValueRange> ranges_;
};

}  // namespace

Model with_outputs(const Model& model, const std::vector<std::string>& values) {
  Model copy = model.clone();
  Graph& graph = *copy.graph;
  for (const std::string& name : values) {
    Value* v = graph.find(name);
    if (!v) throw Error(Code::unknown_name, "no value of the model is called '" + name + "'");
    const Values outputs = graph.outputs();
    if (std::ranges::find(outputs, v) != outputs.end() || v->is_input()) continue;
    v->is_declared = true;
    graph.add_output(v);
  }
  return copy;
}

std::vector<std::pair<std::string, double>> largest_values(const Model& model, const Samples& samples, Budget* budget) {
  Model watched = model.clone();
  Graph& graph = *watched.graph;
  const Values own = graph.outputs();
  std::unordered_set<const Value*> outputs(own.begin(), own.end());
  for (Node& node : graph.nodes())
    for (Value* v : node.outputs())
      if (v && outputs.insert(v).second) graph.add_output(v);
  const engine::Session session(watched, {.budget = budget});
  std::map<std::string, double> largest;
  for (std::size_t s = 0; s < samples.count; ++s)
    for (const engine::NamedDatum& output : session.run(samples.batch(s))) {
      const Array* array = output.value.array();
      if (!array || array->dtype() != DType::f32) continue;
      double& most = largest[output.name];
      for (const float v : array->data<float>())
        if (std::isfinite(v)) most = std::max(most, std::abs(static_cast<double>(v)));
    }
  return {largest.begin(), largest.end()};
}

passes::ValueRanges calibrate(const Model& model, const std::vector<std::string>& values, const Samples& samples,
                              const CalibrationOptions& options) {
  if (!samples.count) throw Error(Code::bad_usage, "there is no data to find ranges by");
  return Watcher(model, values, samples, options).run();
}

}  // namespace ingot::driver
