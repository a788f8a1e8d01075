// Sizes as people write them.
#include "ingot/base/byte_size.h"

#include <string_view>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot {

std::uint64_t parse_size(const std::string& text) {
  std::uint64_t number = 0;
  std::size_t i = 0;
  bool fits = true;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    fits &= !__builtin_mul_overflow(number, 10u, &number);
    fits &= !__builtin_add_overflow(number, static_cast<unsigned>(text[i] - '0'), &number);
  }
  std::string unit = text.substr(i);
  if (unit.ends_with("iB")) unit.resize(unit.size() - 2);
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t power = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
  const bool is_unit = unit.empty() || power != std::string_view::npos;
  const std::uint64_t scale = unit.empty() || !is_unit ? 1 : std::uint64_t{1} << (10 * (power + 1));
  const auto bytes = checked_mul(number, scale);
  if (!fits || i == 0 || !is_unit || !bytes)
    throw Error(Code::bad_usage, "'" + text + "' is not a size").hint("such as 512M, 4G or 1000");
  return *bytes;
}

}  // namespace ingot
