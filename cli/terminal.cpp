// How results look on a terminal.
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ingot/base/printable.h"

namespace ingot::cli {
namespace {

bool wants_colour(int stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(stream) && !(no_colour && *no_colour);
}

constexpr std::string_view kSequences[] = {"\033[0m",  "\033[1m",  "\033[2m", "\033[31m",
                                           "\033[32m", "\033[33m", "\r",      "\033[K"};

std::string styled(bool colour, Style style, std::string_view text) {
  if (!colour || style == Style::plain) return std::string(text);
  return std::string(kSequences[static_cast<std::size_t>(style)]) + printable(text, true) + std::string(kSequences[0]);
}

/// Columns that a UTF-8 text takes, near enough for names: its code points.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Columns of the terminal that stdout is; 0: it is none, and lines may be as long as they like.
std::size_t terminal_columns() {
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

/// At most so many code points, the last of them an ellipsis where some are left out.
std::string cut(const std::string& text, std::size_t most) {
  if (width(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t points = 0; end < text.size(); ++end)
    if ((text[end] & 0xC0) != 0x80 && ++points == most) break;
  return text.substr(0, end) + "…";
}

/// Takes from the widest columns what is too much for a line: as long as they stay readable; then from all but the
/// first, which tells what a line is about; then from that too.
void fit(std::vector<std::size_t>& widths, std::size_t line) {
  constexpr std::size_t kReadable = 12, kLeast = 3, kGap = 2;
  std::size_t total = 0;
  for (const std::size_t w : widths) total += w + kGap;
  for (const auto& [first, others] : {std::pair(kReadable, kReadable), {kReadable, kLeast}, {kLeast, kLeast}})
    for (; total > line + kGap; --total) {
      std::size_t widest = widths.size();
      for (std::size_t i = 0; i < widths.size(); ++i)
        if (widths[i] > (i == 0 ? first : others) && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
      if (widest == widths.size()) break;
      --widths[widest];
    }
}

}  // namespace

std::string out_style(Style style, std::string_view text) {
  static const bool colour = wants_colour(STDOUT_FILENO);
  return styled(colour, style, text);
}

std::string err_style(Style style, std::string_view text) {
  static const bool colour = wants_colour(STDERR_FILENO);
  return styled(colour, style, text);
}

std::span<const std::string_view> own_sequences() { return kSequences; }

void Table::add(std::vector<std::string> row) {
  // A name must not begin a line of its own.
  for (std::string& cell : row)
    for (std::size_t i = 0; (i = cell.find('\n', i)) != std::string::npos;) cell.replace(i, 1, "\\x0a");
  rows_.push_back(std::move(row));
}

std::string Table::str(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  if (const std::size_t columns = terminal_columns(); columns > indent.size()) fit(widths, columns - indent.size());
  std::string text;
  for (const auto& row : rows_) {
    text += indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = cut(row[i], widths[i]);
      const std::string fill(widths[i] - width(cell), ' ');
      const bool is_right = i < right_.size() && right_[i];
      if (is_right) text += fill;
      text += cell;
      if (i + 1 < row.size()) text += (is_right ? "" : fill) + "  ";
    }
    text += '\n';
  }
  return text;
}

}  // namespace ingot::cli
