#include "ingot/base/progress.h"

namespace ingot {
namespace {

using namespace std::chrono_literals;
using Style = ProgressOptions::Style;

/// A clock and a screen of its own.
struct Screen {
  std::chrono::steady_clock::time_point time{};
  std::string text;

  ProgressOptions options(Style style, ProgressOptions::Unit unit = ProgressOptions::Unit::items) {
    ProgressOptions options;
    options.style = style;
    options.unit = unit;
    options.write = [this](std::string_view s) { text += s; };
    options.now = [this] { return time; };
    return options;
  }
};

TEST(Progress, SaysNothingWithinTheFirstSecond) {
  Screen screen;
  {
    Progress progress("reading", 100, screen.options(Style::bar));
    screen.time += 900ms;
    progress.update(99);
  }
  EXPECT_EQ(screen.text, "");
}

TEST(Progress, QuietSaysNothingEver) {
  Screen screen;
  {
    Progress progress("reading", 100, screen.options(Style::quiet));
    screen.time += 100s;
    progress.update(50);
  }
  EXPECT_EQ(screen.text, "");
}

TEST(Progress, BarShowsShareRateAndRemainingTimeAndGoes) {
  Screen screen;
  {
    Progress progress("reading", 4000, screen.options(Style::bar));
    screen.time += 2s;
    progress.update(1000);
    EXPECT_EQ(screen.text, "\rreading  [##########                              ]   25 %  500/s  6 s left\x1b[K");
    screen.text.clear();
    screen.time += 50ms;
    progress.update(1100);
    EXPECT_EQ(screen.text, "") << "ten times a second are enough";
  }
  EXPECT_EQ(screen.text, "\r\x1b[K");
}

TEST(Progress, LinesComeEveryTenSeconds) {
  Screen screen;
  Progress progress("writing", 1'000'000'000, screen.options(Style::lines, ProgressOptions::Unit::bytes));
  for (std::uint64_t second = 1; second <= 25; ++second) {
    screen.time += 1s;
    progress.update(second * 10'000'000);
  }
  EXPECT_EQ(screen.text,
            "writing    1 %  10 MB/s  1:39 min left\n"
            "writing   11 %  10 MB/s  1:29 min left\n"
            "writing   21 %  10 MB/s  1:19 min left\n");
}

TEST(Progress, UnknownTotalHasNoShare) {
  Screen screen;
  Progress progress("reading", 0, screen.options(Style::lines));
  screen.time += 2s;
  progress.update(3000);
  EXPECT_EQ(screen.text, "reading  3.0 k  1.5 k/s\n");
}

TEST(Progress, FitsNarrowTerminals) {
  for (int width = 1; width <= 100; ++width) {
    Screen screen;
    ProgressOptions options = screen.options(Style::bar);
    options.width = width;
    Progress progress("a title", 10, options);
    screen.time += 10h;
    progress.update(3);
    EXPECT_LE(screen.text.size() - std::string_view("\r\x1b[K").size(),
              static_cast<std::size_t>(std::max(1, width - 1)));
  }
}

TEST(Progress, NothingDoneYetHasNoRemainingTime) {
  Screen screen;
  Progress progress("t", 10, screen.options(Style::lines));
  screen.time += 2s;
  progress.update(0);
  EXPECT_EQ(screen.text, "t    0 %  0/s\n");
}

}  // namespace
}  // namespace ingot
