#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ingot::train {

/// The course of a run, step by step, and what it was judged by, epoch by epoch.
struct Curves {
  std::vector<double> loss, norm, rate;                  // one entry per step
  std::vector<std::pair<std::uint64_t, double>> judged;  // step, loss on data that was held back
  std::uint64_t first_step = 0;
};

/// An SVG picture of a run: losses above, the length of gradients and the learning rate below.
std::string plot_svg(const Curves& curves, const std::string& title);

/// The same as a line of text: one of eight heights per column.
std::string sparkline(const std::vector<double>& values, std::size_t columns);

}  // namespace ingot::train
