// What a training run wrote of itself, read again.
#include "training_log.h"

#include <cstdlib>
#include <fstream>
#include <optional>

#include "ingot/base/error.h"
#include "ingot/train/plot.h"

namespace ingot::cli {
namespace {

/// A number of a line that Ingot wrote itself: {"step":1,"loss":0.5}.
std::optional<double> number_at(const std::string& line, const std::string& key) {
  const std::size_t at = line.find("\"" + key + "\":");
  if (at == std::string::npos) return std::nullopt;
  const char* begin = line.c_str() + at + key.size() + 3;
  char* end = nullptr;
  const double value = std::strtod(begin, &end);
  return end == begin ? std::nullopt : std::optional(value);
}

}  // namespace

std::string curves_of_log(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(Code::cannot_open, "the log cannot be opened").in_file(path);
  train::Curves curves;
  for (std::string line; std::getline(file, line);) {
    const auto step = number_at(line, "step"), loss = number_at(line, "loss");
    if (const auto judged = number_at(line, "validation_loss"); judged && step)
      curves.judged.emplace_back(static_cast<std::uint64_t>(*step), *judged);
    if (!step || !loss) continue;
    if (curves.loss.empty()) curves.first_step = static_cast<std::uint64_t>(*step) - 1;
    curves.loss.push_back(*loss);
    curves.norm.push_back(number_at(line, "gradient_norm").value_or(0));
    curves.rate.push_back(number_at(line, "lr").value_or(0));
  }
  if (curves.loss.empty())
    throw Error(Code::bad_table, "there is no step in it").in_file(path).hint("give what 'ingot train --log' wrote");
  return train::plot_svg(curves, path);
}

}  // namespace ingot::cli
