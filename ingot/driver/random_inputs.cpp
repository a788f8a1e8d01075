// Inputs drawn from a seed.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/driver/index_bounds.h"
#include "ingot/driver/inputs.h"
#include "ingot/ir/has_default.h"
#include "ingot/ir/model.h"

namespace ingot::driver {
namespace {

/// Mulberry32: a counter stepped by a constant and mixed; 32 bits of state are plenty for test data, and it is a few
/// lines in any language.
class Draws {
 public:
  explicit Draws(std::uint32_t seed) : state_(seed) {}
  /// From [0, 1), a multiple of 2^-32.
  double next() {
    ++count_;
    state_ += 0x6D2B79F5u;
    std::uint32_t t = state_;
    t = (t ^ t >> 15) * (t | 1);
    t ^= t + (t ^ t >> 7) * (t | 61);
    return static_cast<double>(t ^ t >> 14) / 4294967296.0;
  }

  std::uint64_t count() const { return count_; }

 private:
  std::uint32_t state_;
  std::uint64_t count_ = 0;
};

constexpr std::uint64_t kDrawsBetweenPolls = 1 << 20;

/// Asks whether an array fits before it is made; the kernel counts it from then on.
void charge(DType dtype, const Dims& dims) {
  const auto count = static_cast<std::uint64_t>(tensor_size(dims));
  const auto bytes =
      dtype == DType::string ? checked_mul(count, std::uint64_t{sizeof(std::string)}) : byte_count(dtype, count);
  const Budget::MemoryGuard fits(current_budget(), bytes.value_or(std::numeric_limits<std::uint64_t>::max()));
}

template <class T> T drawn(double u) {
  if constexpr (std::is_same_v<T, std::string>)
    return "w" + std::to_string(static_cast<int>(u * 10));
  else if constexpr (std::is_same_v<T, bool>)
    return u >= 0.5;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return static_cast<T>(static_cast<int>(std::floor(u * 256)) - 128);
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return static_cast<T>(std::floor(u * 256));
  else if constexpr (dtype_of<T> == DType::i4 || dtype_of<T> == DType::i2 || dtype_of<T> == DType::u4 ||
                     dtype_of<T> == DType::u2)
    return T::from_bits(static_cast<std::uint32_t>(u * (1 << T::kBits)));
  else if constexpr (is_integer(dtype_of<T>))
    return static_cast<T>(std::floor(u * 10));
  else if constexpr (is_complex(dtype_of<T>))
    return T(static_cast<float>(u * 2 - 1));
  else
    return static_cast<T>(static_cast<float>(u * 2 - 1));
}

Datum drawn(const Type& type, const std::string& name, Draws& draws) {
  if (type.is_optional()) return drawn(type.inner(), name, draws);
  if (type.is_sequence()) {
    Datum first = drawn(type.inner(), name, draws);
    Datum second = drawn(type.inner(), name, draws);
    return Sequence{std::move(first), std::move(second)};
  }
  if (!type.is_tensor() || type.elem == DType::undefined)
    throw Error(Code::bad_input, "input '" + name + "' is " + type.str() + ": no values are drawn for that")
        .hint("give it with --in");
  if (!type.shape)
    throw Error(Code::bad_input, "input '" + name + "' is " + type.str() + ": its rank is not known")
        .hint("give it with --input-shape " + name + ":...");
  Dims dims;
  for (const Dim& d : *type.shape) dims.push_back(d.as_int().value_or(1));
  charge(type.elem, dims);
  Array array(type.elem, dims);
  dispatch(type.elem, Any{}, [&]<class T>() {
    for (T& value : array.mutable_data<T>()) {
      if (draws.count() % kDrawsBetweenPolls == 0) current_budget().poll();
      value = drawn<T>(draws.next());
    }
  });
  return array;
}

/// Integers within bounds, from the same draws.
Datum drawn_within(const IndexBounds& bounds, const Type& type, const std::string& name, Draws& draws) {
  Draws same = draws;
  const Datum plain = drawn(type, name, draws);
  Array array(plain.array()->dtype(), plain.array()->dims());
  const double count = static_cast<double>(std::max<std::int64_t>(1, bounds.most - bounds.least + 1));
  dispatch(array.dtype(), Integers{}, [&]<class T>() {
    for (T& value : array.mutable_data<T>())
      value = static_cast<T>(bounds.least + static_cast<std::int64_t>(std::floor(same.next() * count)));
  });
  return array;
}

}  // namespace

std::vector<NamedDatum> random_inputs(const Model& model, std::uint32_t seed, const std::vector<NamedDatum>& given) {
  return random_inputs(model, seed, given, index_bounds(model));
}

std::vector<NamedDatum> random_inputs(const Model& model, std::uint32_t seed, const std::vector<NamedDatum>& given,
                                      const Bounds& bounds) {
  std::vector<NamedDatum> inputs;
  std::uint32_t number = 0;
  for (const Value* v : model.graph->inputs()) {
    if (has_default(*v)) continue;
    Draws draws(seed + number++);
    if (std::ranges::any_of(given, [&](const NamedDatum& g) { return g.name == v->name(); })) continue;
    const auto bound = bounds.find(v->name());
    inputs.push_back({v->name(), bound == bounds.end() || !v->type.is_tensor()
                                     ? drawn(v->type, v->name(), draws)
                                     : drawn_within(bound->second, v->type, v->name(), draws)});
  }
  return inputs;
}

}  // namespace ingot::driver
