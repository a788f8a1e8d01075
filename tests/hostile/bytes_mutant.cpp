// Bytes of no format that is known here, with a few of them changed.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "tests/hostile/draws.h"
#include "tests/hostile/mutants.h"

namespace ingot::test {
namespace {

template <class T> void put_number(std::string& file, Draws& draws) {
  if (file.size() < sizeof(T)) return;
  const T number = static_cast<T>(draws.odd_number());
  std::memcpy(file.data() + draws.below(file.size() - sizeof(T) + 1), &number, sizeof(T));
}

/// The next digit behind a place becomes another one: what texts inside say stays readable.
void change_digit(std::string& file, Draws& draws) {
  const auto from = file.begin() + static_cast<std::ptrdiff_t>(draws.below(file.size()));
  const auto digit = std::find_if(from, file.end(), [](unsigned char c) { return std::isdigit(c); });
  if (digit != file.end()) *digit = static_cast<char>('0' + draws.below(10));
}

void copy_range(std::string& file, Draws& draws) {
  const std::size_t count = std::min<std::size_t>(1 + draws.below(64), file.size());
  const std::string range = file.substr(draws.below(file.size() - count + 1), count);
  file.replace(draws.below(file.size() - count + 1), count, range);
}

void blank_range(std::string& file, Draws& draws) {
  const std::size_t at = draws.below(file.size());
  const std::size_t count = std::min<std::size_t>(1 + draws.below(16), file.size() - at);
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at), count, draws.coin() ? char(0) : char(-1));
}

void change(std::string& file, Draws& draws) {
  switch (draws.below(16)) {
    case 0:
      file.resize(draws.below(file.size()));
      break;
    case 1:
    case 2:
      put_number<std::int32_t>(file, draws);
      break;
    case 3:
      put_number<std::int64_t>(file, draws);
      break;
    case 4:
      copy_range(file, draws);
      break;
    case 5:
      blank_range(file, draws);
      break;
    case 6:
    case 7:
    case 8:
    case 9:
      change_digit(file, draws);
      break;
    default:
      file[draws.below(file.size())] = static_cast<char>(draws.next());
  }
}

}  // namespace

std::string mutated_bytes(const std::string& file, std::uint64_t seed) {
  Draws draws(seed);
  std::string mutant = file;
  for (std::size_t left = 1 + draws.below(4); left > 0 && !mutant.empty(); --left) change(mutant, draws);
  return mutant;
}

}  // namespace ingot::test
