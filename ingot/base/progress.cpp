// Progress on stderr.
#include "ingot/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string amount(double value, ProgressOptions::Unit unit) {
  const bool bytes = unit == ProgressOptions::Unit::bytes;
  if (value < 1000) return bytes ? fmt::format("{:.0f} B", value) : fmt::format("{:.0f}", value);
  const char* const prefixes = "kMGTPE";
  std::size_t i = 0;
  for (value /= 1000; value >= 999.5 && i < 5; ++i) value /= 1000;
  return fmt::format("{:.{}f} {}{}", value, value < 9.95 ? 1 : 0, prefixes[i], bytes ? "B" : "");
}

std::string duration(double seconds) {
  if (seconds >= 360'000) return "days";
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

}  // namespace

ProgressOptions ProgressOptions::for_terminal(bool quiet, Unit unit) {
  ProgressOptions options;
  options.unit = unit;
  if (quiet) return options;
  options.style = Style::lines;
  if (::isatty(STDERR_FILENO) != 0) {
    options.style = Style::bar;
    winsize size = {};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.width = size.ws_col;
  }
  return options;
}

Progress::Progress(std::string title, std::uint64_t total, ProgressOptions options)
    : title_(std::move(title)), total_(total), options_(std::move(options)) {
  if (!options_.now) options_.now = [] { return Clock::now(); };
  if (!options_.write)
    options_.write = [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    };
  start_ = options_.now();
  next_ = start_ + 1s;
}

Progress::~Progress() {
  if (drawn_ && options_.style == ProgressOptions::Style::bar) options_.write("\r\x1b[K");
}

void Progress::update(std::uint64_t done) {
  if (options_.style == ProgressOptions::Style::quiet) return;
  const auto now = options_.now();
  if (now < next_) return;
  const bool bar = options_.style == ProgressOptions::Style::bar;
  next_ = now + (bar ? 100ms : 10'000ms);
  drawn_ = true;
  const std::string text = line(done, std::chrono::duration<double>(now - start_).count());
  options_.write(bar ? "\r" + text + "\x1b[K" : text + "\n");
}

std::string Progress::line(std::uint64_t done, double seconds) const {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const std::string per_second = amount(rate, options_.unit) + "/s";
  if (total_ == 0)
    return fmt::format("{}  {}  {}", title_, amount(static_cast<double>(done), options_.unit), per_second);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const std::string left = rate > 0 ? duration((1 - share) * static_cast<double>(total_) / rate) + " left" : "";
  std::string text = fmt::format("{:3.0f} %  {}", std::floor(share * 100), per_second);
  if (!left.empty()) text += "  " + left;
  if (options_.style == ProgressOptions::Style::lines) return fmt::format("{}  {}", title_, text);
  const int room = options_.width - 1 - static_cast<int>(title_.size() + text.size()) - 6;
  if (room < 5)
    return fmt::format("{}  {}", title_, text).substr(0, static_cast<std::size_t>(std::max(1, options_.width - 1)));
  const int cells = std::min(room, 40);
  const auto filled = static_cast<int>(share * cells);
  return fmt::format("{}  [{}{}]  {}", title_, std::string(static_cast<std::size_t>(filled), '#'),
                     std::string(static_cast<std::size_t>(cells - filled), ' '), text);
}

}  // namespace ingot
