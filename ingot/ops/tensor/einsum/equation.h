#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::ops {

inline constexpr char kEllipsis = '.';  // stands for "..." in a parsed term

inline bool is_label(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

/// "i...j" becomes "i.j".
template <class Context> std::string parse_term(const Context& c, std::string_view text) {
  std::string term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_label(text[i])) {
      term += text[i];
    } else if (text.substr(i, 3) == "..." && term.find(kEllipsis) == std::string::npos) {
      term += kEllipsis;
      i += 2;
    } else if (text[i] != ' ') {
      c.fail("the equation is not understood");
    }
  }
  return term;
}

/// The terms of an equation; the result is spelt out where the equation leaves it open.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

/// Refuses through the context of inference or of a kernel.
template <class Context> Equation parse_equation(const Context& c, std::string_view text) {
  Equation equation;
  const std::size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const std::size_t comma = left.find(',');
    equation.inputs.push_back(parse_term(c, left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  std::array<std::size_t, 128> count{};
  for (const std::string& term : equation.inputs)
    for (const char label : term) ++count[static_cast<std::size_t>(label)];
  if (arrow != std::string_view::npos) {
    equation.output = parse_term(c, text.substr(arrow + 2));
    std::string sorted = equation.output;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) c.fail("the result names a label twice");
    for (const char label : equation.output)
      if (label != kEllipsis && count[static_cast<std::size_t>(label)] == 0)
        c.fail("the result has a label of its own");
  } else {
    // All labels that occur once, in the order of the alphabet, after what "..." stands for.
    if (count[static_cast<std::size_t>(kEllipsis)]) equation.output += kEllipsis;
    for (char label = 'A'; label <= 'z'; ++label)
      if (is_label(label) && count[static_cast<std::size_t>(label)] == 1) equation.output += label;
  }
  return equation;
}

}  // namespace ingot::ops
