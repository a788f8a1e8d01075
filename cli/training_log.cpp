// What a training run wrote of itself, read again.
#include "training_log.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/train/plot.h"

namespace ingot::cli {
namespace {

/// A number of a line as Ingot writes it: {"step":1,"loss":0.5}.
std::optional<double> number_at(const std::string& line, const std::string& key) {
  const std::size_t at = line.find("\"" + key + "\":");
  if (at == std::string::npos) return std::nullopt;
  const char* begin = line.c_str() + at + key.size() + 3;
  char* end = nullptr;
  const double value = std::strtod(begin, &end);
  return end == begin || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

std::optional<std::uint64_t> step_of(const std::string& line) {
  constexpr double kMost = 1e15;  // exact as a double
  const std::optional<double> step = number_at(line, "step");
  return step && *step >= 1 && *step <= kMost ? std::optional(static_cast<std::uint64_t>(*step)) : std::nullopt;
}

}  // namespace

std::string curves_of_log(const std::string& path) {
  const Bytes log = map_file(path);
  train::Curves curves;
  for (std::string_view rest = log.text(); !rest.empty();) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    count_step();  // a log may be long
    const std::optional<std::uint64_t> step = step_of(line);
    const std::optional<double> loss = number_at(line, "loss");
    if (const auto judged = number_at(line, "validation_loss"); judged && step) curves.judged.emplace_back(*step, *judged);
    if (!step || !loss) continue;
    if (curves.loss.empty()) curves.first_step = *step - 1;
    curves.loss.push_back(*loss);
    curves.norm.push_back(number_at(line, "gradient_norm").value_or(0));
    curves.rate.push_back(number_at(line, "lr").value_or(0));
  }
  if (curves.loss.empty())
    throw Error(Code::bad_table, "there is no step in it").in_file(path).hint("give what 'ingot train --log' wrote");
  return train::plot_svg(curves, path);
}

}  // namespace ingot::cli
