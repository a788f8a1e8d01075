// Pickles with a few of their instructions changed.
#include <cstring>
#include <optional>

#include "tests/hostile/draws.h"
#include "tests/hostile/mutants.h"

namespace ingot::test {
namespace {

struct Instruction {
  char code;
  std::string argument;  // with its length in front, or its line end
};

/// How many bytes follow the code; nothing: not an instruction, or it is cut off.
std::optional<std::size_t> argument_size(const std::string& file, std::size_t at) {
  const auto line = [&](std::size_t from) -> std::optional<std::size_t> {
    const std::size_t end = file.find('\n', from);
    if (end == std::string::npos) return std::nullopt;
    return end + 1 - at;
  };
  const auto counted = [&](std::size_t width) -> std::optional<std::size_t> {
    std::uint64_t count = 0;
    if (file.size() < at + width) return std::nullopt;
    std::memcpy(&count, file.data() + at, width);
    if (count > file.size() - at - width) return std::nullopt;
    return width + static_cast<std::size_t>(count);
  };
  switch (file[at - 1]) {
    case 'F':
    case 'I':
    case 'L':
    case 'S':
    case 'V':
    case 'P':
    case 'g':
    case 'p':
      return line(at);
    case 'c':
    case 'i': {
      const auto module = line(at);
      return module ? line(at + *module) : std::nullopt;
    }
    case 'K':
    case 'h':
    case 'q':
    case '\x80':
    case '\x82':
      return 1;
    case 'M':
    case '\x83':
      return 2;
    case 'J':
    case 'j':
    case 'r':
    case '\x84':
      return 4;
    case 'G':
    case '\x95':
      return 8;
    case 'U':
    case 'C':
    case '\x8c':
    case '\x8a':
      return counted(1);
    case 'T':
    case 'X':
    case 'B':
    case '\x8b':
      return counted(4);
    case '\x8d':
    case '\x8e':
    case '\x96':
      return counted(8);
    default: {
      constexpr std::string_view kBare = "(.012NQRabdel)ost}]u\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98";
      if (kBare.find(file[at - 1]) == std::string_view::npos) return std::nullopt;
      return 0;
    }
  }
}

std::vector<Instruction> instructions_of(const std::string& file, std::size_t& end) {
  std::vector<Instruction> list;
  end = 0;
  while (end < file.size()) {
    const auto size = argument_size(file, end + 1);
    if (!size || *size > file.size() - end - 1) break;
    list.push_back({file[end], file.substr(end + 1, *size)});
    end += 1 + *size;
    if (list.back().code == '.') break;
  }
  return list;
}

bool is_number(char code) { return code == 'K' || code == 'M' || code == 'J' || code == 'G'; }
bool is_text(char code) { return code == 'X' || code == '\x8c' || code == 'U' || code == 'C'; }

Instruction odd_number(Draws& draws) {
  const std::int64_t number = draws.odd_number();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &number, 8);
  return draws.coin() ? Instruction{'J', bytes.substr(0, 4)} : Instruction{'\x8a', '\x08' + bytes};
}

void change(std::vector<Instruction>& list, Draws& draws) {
  const std::size_t at = draws.below(list.size()), other = draws.below(list.size());
  constexpr std::string_view kPlain = "N\x88\x89])}";
  switch (draws.below(8)) {
    case 0:
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1: {
      const Instruction copy = list[other];
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), copy);
      return;
    }
    case 2:
      list[at] = list[other];
      return;
    default:
      break;
  }
  // From the place on, the next number or text: most of what else stands there only orders them.
  for (std::size_t i = at; i < list.size(); ++i) {
    Instruction& one = list[i];
    if (!is_number(one.code) && !is_text(one.code)) continue;
    if (draws.below(4) == 0)
      one = {kPlain[draws.below(kPlain.size())], ""};
    else if (is_number(one.code))
      one = odd_number(draws);
    else if (one.argument.size() > 4)
      one.argument[4 + draws.below(one.argument.size() - 4)] ^= static_cast<char>(1 + draws.below(31));
    return;
  }
}

}  // namespace

std::string mutated_pickle(const std::string& file, std::uint64_t seed) {
  Draws draws(seed);
  std::size_t end = 0;
  std::vector<Instruction> list = instructions_of(file, end);
  if (list.size() < 3 || draws.below(8) == 0) return mutated_bytes(file, seed);
  for (std::size_t left = 1 + draws.below(3); left > 0 && !list.empty(); --left) change(list, draws);
  std::string mutant;
  for (const Instruction& one : list) {
    // Frames would have other sizes now: without them it is a pickle as well.
    if (one.code != '\x95') mutant += one.code + one.argument;
  }
  return mutant + file.substr(end);
}

}  // namespace ingot::test
