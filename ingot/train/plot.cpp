// The course of a training run as a picture.
#include "ingot/train/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace ingot::train {
namespace {

using Points = std::vector<std::pair<double, double>>;

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char ch : text) {
    if (ch == '&')
      safe += "&amp;";
    else if (ch == '<')
      safe += "&lt;";
    else if (static_cast<unsigned char>(ch) >= 0x20)
      safe += ch;
  }
  return safe;
}

/// At most so many points: the mean of each stretch.
Points thinned(const std::vector<double>& values, std::uint64_t first_step) {
  constexpr std::size_t kMost = 600;
  const std::size_t stretch = values.size() / kMost + 1;
  Points points;
  for (std::size_t i = 0; i < values.size(); i += stretch) {
    double sum = 0;
    const std::size_t end = std::min(i + stretch, values.size());
    for (std::size_t k = i; k < end; ++k) sum += values[k];
    points.emplace_back(static_cast<double>(first_step + (i + end + 1) / 2), sum / static_cast<double>(end - i));
  }
  return points;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  void close() {
    if (!(low <= high)) low = 0, high = 1;
    if (low == high) high = low + (low == 0 ? 1 : std::abs(low) * 0.1);
  }
};

/// One pair of axes with its curves.
class Panel {
 public:
  Panel(double top, double height, Range x) : top_(top), height_(height), x_(x) {}

  void curve(const Points& points, const char* colour, const std::string& name) {
    curves_.push_back({points, colour, name});
    for (const auto& [x, y] : points) y_.add(y);
  }
  std::string str() {
    y_.close();
    std::string svg = "<rect x='60' y='" + number(top_) + "' width='700' height='" + number(height_) +
                      "' fill='none' stroke='#999'/>\n";
    for (int i = 0; i <= 4; ++i) {
      const double y = y_.low + (y_.high - y_.low) * i / 4;
      svg += "<text x='54' y='" + number(place_y(y) + 4) + "' text-anchor='end'>" + number(y) + "</text>\n";
      svg += "<line x1='60' x2='760' y1='" + number(place_y(y)) + "' y2='" + number(place_y(y)) + "' stroke='#ddd'/>\n";
    }
    double label = top_ + 16;
    for (const Curve& curve : curves_) {
      svg += "<polyline fill='none' stroke='" + std::string(curve.colour) + "' stroke-width='1.5' points='";
      for (const auto& [x, y] : curve.points)
        if (std::isfinite(y)) svg += number(place_x(x)) + "," + number(place_y(y)) + " ";
      svg += "'/>\n<text x='750' y='" + number(label) + "' text-anchor='end' fill='" + curve.colour + "'>" +
             escaped(curve.name) + "</text>\n";
      label += 16;
    }
    return svg;
  }

 private:
  struct Curve {
    Points points;
    const char* colour;
    std::string name;
  };
  double place_x(double x) const { return 60 + 700 * (x - x_.low) / (x_.high - x_.low); }
  double place_y(double y) const { return top_ + height_ * (1 - (y - y_.low) / (y_.high - y_.low)); }

  double top_, height_;
  Range x_, y_;
  std::vector<Curve> curves_;
};

}  // namespace

std::string plot_svg(const Curves& curves, const std::string& title) {
  Range x;
  x.add(static_cast<double>(curves.first_step + 1));
  x.add(static_cast<double>(curves.first_step + curves.loss.size()));
  for (const auto& [step, loss] : curves.judged) x.add(static_cast<double>(step));
  x.close();
  Panel losses(40, 260, x), norms(330, 90, x), rates(450, 90, x);
  losses.curve(thinned(curves.loss, curves.first_step), "#1f77b4", "loss");
  Points judged;
  for (const auto& [step, loss] : curves.judged) judged.emplace_back(static_cast<double>(step), loss);
  if (!judged.empty()) losses.curve(judged, "#d62728", "loss on held back data");
  norms.curve(thinned(curves.norm, curves.first_step), "#2ca02c", "length of the gradient");
  rates.curve(thinned(curves.rate, curves.first_step), "#9467bd", "learning rate");
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' width='800' height='580' font-family='sans-serif' "
      "font-size='12'>\n<rect width='800' height='580' fill='white'/>\n<text x='60' y='24' "
      "font-size='15'>" +
      escaped(title) + "</text>\n";
  svg += losses.str() + norms.str() + rates.str();
  for (int i = 0; i <= 4; ++i) {
    const double step = x.low + (x.high - x.low) * i / 4;
    svg += "<text x='" + number(60 + 175.0 * i) + "' y='560' text-anchor='middle'>" + number(std::round(step)) +
           "</text>\n";
  }
  return svg + "<text x='410' y='576' text-anchor='middle'>step</text>\n</svg>\n";
}

std::string sparkline(const std::vector<double>& values, std::size_t columns) {
  if (values.empty() || columns == 0) return {};
  const std::size_t count = std::min(columns, values.size());
  std::vector<double> means(count);
  Range range;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    for (std::size_t k = begin; k < end; ++k) means[i] += values[k] / static_cast<double>(end - begin);
    range.add(means[i]);
  }
  range.close();
  std::string line;
  for (const double v : means) {
    const double part = std::isfinite(v) ? (v - range.low) / (range.high - range.low) : 1;
    line += "\xe2\x96";
    line += static_cast<char>(0x81 + std::min(7, static_cast<int>(part * 8)));
  }
  return line;
}

}  // namespace ingot::train
