// Constants in the types and forms that TF.js stores.
#include "ingot/formats/tfjs/stored_weight.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/base/float_types.h"

namespace ingot::formats::tfjs {
namespace {

namespace tf = tensorflow;

template <class T>
constexpr bool kIsHeldAsIs = std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, bool> ||
                             std::is_same_v<T, std::complex<float>>;
template <class T>
constexpr bool kIsHeldAsFloat = std::is_same_v<T, double> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <class T> constexpr bool kIsHeldAsInt = is_integer(dtype_of<T>) && std::is_integral_v<T>;

template <class T> Weight::Held held_type() {
  if constexpr (std::is_same_v<T, bool>) return {"bool", "DT_BOOL"};
  if constexpr (std::is_same_v<T, std::complex<float>>) return {"complex64", "DT_COMPLEX64"};
  if constexpr (std::is_same_v<T, float> || kIsHeldAsFloat<T>) return {"float32", "DT_FLOAT"};
  if constexpr (kIsHeldAsInt<T>) return {"int32", "DT_INT32"};
  throw Error(Code::not_writable, "TF.js has no element type for " + std::string(name_of(dtype_of<T>)));
}

Bytes texts_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    const auto size = static_cast<std::uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out += text;
  }
  return Bytes::own(std::move(out));
}

template <class To, class Convert> Bytes converted(std::size_t count, Convert&& convert) {
  std::vector<std::byte> out(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    const To to = convert(i);
    std::memcpy(out.data() + i * sizeof(To), &to, sizeof to);
  }
  return Bytes::own(std::move(out));
}

}  // namespace

Weight::Weight(const std::string& name, const tf::TensorProto& tensor, StoredWeights stored, Budget& budget) {
  if (tensor.dtype == tf::DataType::string) {
    held_ = {"string", "DT_STRING"};
    dtype_ = DType::string;
    elements_ = texts_of(tf::expanded_strings(tensor, budget));
    size_ = elements_.size();
    return;
  }
  dtype_ = tf::dtype_of(tensor.dtype);
  if (dtype_ == DType::undefined)
    throw Error(Code::not_writable, "TF.js has no element type for constant '" + name + "'");
  elements_ = tf::expanded_elements(tensor, budget);
  dispatch(dtype_, Any{}, [&]<class T>() {
    held_ = held_type<T>();
    size_ = kIsHeldAsIs<T> ? elements_.size() : elements_.size() / sizeof(T) * 4;
  });
  constexpr std::uint64_t kSmall = 1024;  // bytes that are not worth rounding
  if (dtype_ == DType::f32 && size_ >= kSmall) store(stored);
}

/// How the numbers are spread over what there is room for; 0 stays 0.
void Weight::store(StoredWeights stored) {
  stored_ = stored;
  const std::uint64_t count = elements_.size() / sizeof(float);
  if (stored == StoredWeights::as_is) return;
  if (stored == StoredWeights::float16) {
    size_ = count * 2;
    quantization_.dtype = "float16";
    return;
  }
  float low = std::numeric_limits<float>::max(), high = std::numeric_limits<float>::lowest();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto x = load_element<float>(elements_.data(), i);
    low = std::min(low, x);
    high = std::max(high, x);
    if (!std::isfinite(x)) {  // no range holds it
      stored_ = StoredWeights::as_is;
      return;
    }
  }
  const bool is_wide = stored == StoredWeights::uint16;
  const double most = is_wide ? 65535 : 255;
  size_ = count * (is_wide ? 2 : 1);
  Quantization& q = quantization_;
  q.dtype = is_wide ? "uint16" : "uint8";
  q.has_range = true;
  q.scale = (static_cast<double>(high) - static_cast<double>(low)) / most;
  q.min = static_cast<double>(low);
  if (q.scale == 0) q.scale = 1;
  if (low <= 0 && high >= 0) q.min = -std::round(-q.min / q.scale) * q.scale;
}

Bytes Weight::bytes() const {
  if (dtype_ == DType::string) return elements_;
  if (stored_ != StoredWeights::as_is) {
    const std::size_t count = elements_.size() / sizeof(float);
    const auto at = [&](std::size_t i) { return load_element<float>(elements_.data(), i); };
    if (stored_ == StoredWeights::float16)
      return converted<Float16>(count, [&](std::size_t i) { return Float16(at(i)); });
    const auto rounded = [&](std::size_t i, double most) {
      return std::clamp(std::round((static_cast<double>(at(i)) - quantization_.min) / quantization_.scale), 0.0, most);
    };
    if (stored_ == StoredWeights::uint8)
      return converted<std::uint8_t>(count, [&](std::size_t i) { return static_cast<std::uint8_t>(rounded(i, 255)); });
    return converted<std::uint16_t>(count,
                                    [&](std::size_t i) { return static_cast<std::uint16_t>(rounded(i, 65535)); });
  }
  Bytes made;
  dispatch(dtype_, Any{}, [&]<class T>() {
    const std::size_t count = elements_.size() / sizeof(T);
    if constexpr (kIsHeldAsFloat<T>)
      made = converted<float>(count,
                              [&](std::size_t i) { return static_cast<float>(load_element<T>(elements_.data(), i)); });
    else if constexpr (kIsHeldAsInt<T> && !kIsHeldAsIs<T>)  // what is beyond becomes the nearest, as in TF.js's tools
      made = converted<std::int32_t>(count, [&](std::size_t i) {
        const auto wide = static_cast<double>(load_element<T>(elements_.data(), i));
        return static_cast<std::int32_t>(std::clamp(wide, -2147483648.0, 2147483647.0));
      });
    else
      made = elements_;
  });
  return made;
}

}  // namespace ingot::formats::tfjs
