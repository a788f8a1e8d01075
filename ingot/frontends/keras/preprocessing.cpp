// Preparation of features: numbers, categories, vocabularies.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/encoding.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Numbers of a setting, however deeply its lists are nested.
std::vector<float> numbers_in(const Config& config) {
  std::vector<float> numbers;
  std::vector<Config> stack{config};
  while (!stack.empty()) {
    const Config at = stack.back();
    stack.pop_back();
    if (const auto number = at.as_number()) numbers.push_back(static_cast<float>(*number));
    const auto entries = at.entries();
    stack.insert(stack.end(), entries.rbegin(), entries.rend());
  }
  return numbers;
}

Tensor vector_of(const std::vector<float>& numbers) {
  return Tensor::of<float>({static_cast<std::int64_t>(numbers.size())}, numbers);
}

}  // namespace

void normalization(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.cast(call.in(), call.elem());
  IrValue *mean = nullptr, *variance = nullptr;
  if (!call.at("mean").is_null()) {
    mean = b.constant(vector_of(numbers_in(call.at("mean"))));
    variance = b.constant(vector_of(numbers_in(call.at("variance"))));
  } else {
    mean = call.weight("mean", false);
    variance = call.weight("variance", false);
  }
  // Statistics of several axes, or of one that is not the last, stand with the sizes of their axes.
  const std::int64_t rank = call.rank();
  const Config axis = call.at("axis");
  Ints axes = axis.is_list() ? call.ints("axis", axis.size(), -1) : Ints{call.integer("axis", -1)};
  for (std::int64_t& a : axes) a = a < 0 ? a + rank : a;
  std::ranges::sort(axes);
  if (!axis.exists() || !axis.is_null()) {
    Ints sizes(static_cast<std::size_t>(rank), 1);
    for (const std::int64_t a : axes) {
      call.require(a > 0 && a < rank, "its axis lies outside the input");
      sizes[static_cast<std::size_t>(a)] = axes.size() == 1 ? -1 : call.size(0, a);
    }
    mean = b.reshape(mean, sizes);
    variance = b.reshape(variance, sizes);
  }
  IrValue* deviation = b.op("Max", {b.op("Sqrt", {b.cast(variance, call.elem())}), b.scalar(1e-7, call.elem())});
  mean = b.cast(mean, call.elem());
  call.set(call.flag("invert", false) ? b.add(b.mul(x, deviation), mean) : b.div(b.sub(x, mean), deviation));
}

namespace {

/// Along straight lines between points whose places grow, and level outside.
double interpolated(double at, const std::vector<double>& places, const std::vector<double>& values) {
  const std::size_t next = static_cast<std::size_t>(std::ranges::upper_bound(places, at) - places.begin());
  if (next == 0) return values.front();
  if (next == places.size()) return values.back();
  const double part = (at - places[next - 1]) / (places[next] - places[next - 1]);
  return values[next - 1] + part * (values[next] - values[next - 1]);
}

/// What adapt() found: tf.keras keeps a summary of the data, numbers above and how many they stand for below, and cuts
/// it into bins that hold as many.
std::vector<float> boundaries_of(const Call& call) {
  call.require(call.has_weight(), "its boundaries are not in the file: it was not adapted");
  const Tensor summary = call.stored(0);
  const std::int64_t bins = call.integer("num_bins");
  call.require(summary.rank() == 2 && summary.dims()[0] == 2 && summary.dims()[1] > 0 && bins > 0 && bins < (1 << 20),
               "its summary of the data has an impossible shape");
  const std::vector<double> all = summary.to_doubles();
  const auto count = static_cast<std::ptrdiff_t>(summary.dims()[1]);
  const std::vector<double> numbers(all.begin(), all.begin() + count);
  std::vector<double> share(all.begin() + count, all.end());
  std::partial_sum(share.begin(), share.end(), share.begin());
  const double whole = share.back(), part = 1.0 / static_cast<double>(bins);
  call.require(whole > 0, "its summary of the data is empty");
  for (double& each : share) each /= whole;
  if (static_cast<double>(count) * part < 1) return {numbers.begin(), numbers.end() - 1};
  std::vector<float> bounds;
  const auto cuts = static_cast<std::int64_t>(std::ceil(1 / part));
  for (std::int64_t i = 1; i < cuts; ++i)
    bounds.push_back(static_cast<float>(interpolated(static_cast<double>(i) * part, share, numbers)));
  return bounds;
}

}  // namespace

void discretization(Call& call) {
  GraphBuilder& b = call.b;
  const bool is_stated = !call.at("bin_boundaries").is_null();
  const std::vector<float> bounds = is_stated ? numbers_in(call.at("bin_boundaries")) : boundaries_of(call);
  call.require(std::ranges::is_sorted(bounds), "its boundaries ('bin_boundaries') do not grow");
  IrValue* x = b.cast(call.in(), DType::f32);
  IrValue* is_past = b.op("GreaterOrEqual", {b.unsqueeze(x, {-1}), b.constant(vector_of(bounds))});
  IrValue* index = b.reduce_sum(b.cast(is_past, DType::i64), {-1}, false);
  call.set(
      encoded(call, index, static_cast<std::int64_t>(bounds.size()) + 1, call.text("output_mode", "int"), nullptr));
}

void category_encoding(Call& call) {
  const Argument* weights = call.argument(1, "count_weights");
  IrValue* index = call.b.cast(call.in(), DType::i64);
  call.set(encoded(call, index, call.integer("num_tokens"), call.text("output_mode", "multi_hot"),
                   weights && weights->tensor ? weights->tensor->value : nullptr));
}

}  // namespace ingot::frontends::keras
