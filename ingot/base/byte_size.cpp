// Sizes as people write them.
#include "ingot/base/byte_size.h"

#include <cstdio>
#include <iterator>
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

std::string human_bytes(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", unit == 0 ? 0 : 1, value, kUnits[unit]);
  return text;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace ingot
