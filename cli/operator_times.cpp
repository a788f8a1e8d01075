// Where the time of a run went.
#include "operator_times.h"

#include <algorithm>
#include <cstdio>

#include "ingot/base/atomic_file.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

void print_times(const std::vector<driver::OperatorTime>& times) {
  double total = 0;
  for (const auto& t : times) total += t.microseconds;
  Table table({false, false, true, true, true});
  table.add({"operator", "kernel", "calls", "ms", "%"});
  const auto number = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", v);
    return std::string(text);
  };
  for (std::size_t i = 0; i < std::min<std::size_t>(times.size(), 20); ++i)
    table.add({times[i].op, times[i].kernel, std::to_string(times[i].calls), number(times[i].microseconds / 1000),
               number(total > 0 ? 100 * times[i].microseconds / total : 0)});
  std::fprintf(stderr, "%s\n%s", err_style(Style::bold, "slowest operators").c_str(), table.str().c_str());
}

}  // namespace

void report_profile(const engine::Profile& profile, const std::string& path, bool is_quiet) {
  AtomicFile file(path);
  file.write(driver::chrome_trace(profile));
  file.commit();
  if (!is_quiet) print_times(driver::slowest_operators(profile));
}

}  // namespace ingot::cli
