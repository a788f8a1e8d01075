// Elements of tensors for messages and summaries.
#include "ingot/verify/element_text.h"

#include <fmt/format.h>

#include <complex>

#include "ingot/base/elements.h"

namespace ingot::verify {

std::string element_text(const Array& array, std::int64_t index) {
  std::string text;
  const auto i = static_cast<std::size_t>(index);
  dispatch(array.dtype(), Any{}, [&]<class T>() {
    const T& value = array.data<T>()[i];
    if constexpr (std::is_same_v<T, std::string>)
      text = fmt::format("'{}'", value);
    else if constexpr (std::is_same_v<T, bool>)
      text = value ? "true" : "false";
    else if constexpr (is_complex(dtype_of<T>))
      text = fmt::format("{}{:+}i", value.real(), value.imag());
    else if constexpr (is_integer(dtype_of<T>))
      text = std::to_string(static_cast<std::conditional_t<std::is_same_v<T, std::uint64_t>, T, std::int64_t>>(value));
    else if constexpr (std::is_same_v<T, double>)
      text = fmt::format("{}", value);
    else
      text = fmt::format("{}", static_cast<float>(value));
  });
  return text;
}

std::string position_text(const Dims& dims, std::int64_t index) {
  std::string text;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    if (dims[axis] == 0) return "[]";
    text = std::to_string(index % dims[axis]) + (text.empty() ? "" : ",") + text;
    index /= dims[axis];
  }
  return "[" + text + "]";
}

}  // namespace ingot::verify
