// Text in lines with a few of its numbers, words or lines changed.
#include <cctype>

#include "tests/hostile/draws.h"
#include "tests/hostile/mutants.h"

namespace ingot::test {
namespace {

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < file.size()) {
    const std::size_t end = std::min(file.find('\n', begin), file.size());
    lines.push_back(file.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Where words begin and end: what stands between blanks, '=', ':' and ','.
std::vector<std::pair<std::size_t, std::size_t>> words_of(const std::string& line) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const bool ends = i == line.size() || std::isspace(static_cast<unsigned char>(line[i])) || line[i] == '=' ||
                      line[i] == ':' || line[i] == ',';
    if (!ends) continue;
    if (i > begin) words.emplace_back(begin, i);
    begin = i + 1;
  }
  return words;
}

std::string odd_word(Draws& draws) {
  constexpr const char* kWords[] = {"", "nan", "-inf", "1e308", "0x7f", "a", "-", "1.5", "true"};
  return draws.coin() ? std::to_string(draws.odd_number()) : kWords[draws.below(std::size(kWords))];
}

void change_word(std::string& line, Draws& draws) {
  auto words = words_of(line);
  if (words.empty()) return;
  const auto [begin, end] = draws.one_of(words);
  if (draws.below(3) == 0)
    line.erase(begin, end - begin);
  else
    line.replace(begin, end - begin, odd_word(draws));
}

void change(std::vector<std::string>& lines, Draws& draws) {
  const std::size_t at = draws.below(lines.size()), other = draws.below(lines.size());
  switch (draws.below(8)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1: {
      const std::string copy = lines[other];
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), copy);
      break;
    }
    case 2:
      std::swap(lines[at], lines[other]);
      break;
    default:
      change_word(lines[at], draws);
  }
}

}  // namespace

std::string mutated_text(const std::string& file, std::uint64_t seed) {
  Draws draws(seed);
  std::vector<std::string> lines = lines_of(file);
  for (std::size_t left = 1 + draws.below(3); left > 0 && !lines.empty(); --left) change(lines, draws);
  std::string mutant;
  for (const std::string& line : lines) mutant += line + "\n";
  return mutant;
}

}  // namespace ingot::test
