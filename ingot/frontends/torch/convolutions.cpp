// Convolutions in all their spellings.
#include <algorithm>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

struct Window {
  Ints stride{}, padding{}, dilation{}, output_padding{};
  std::int64_t groups = 1;
  bool is_transposed = false;
};

Item convolve(const Call& c, const Window& w, const std::string& auto_padding = {}) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* weight = c.tensor(1);
  const auto spatial = static_cast<std::size_t>(c.rank(weight) - 2);
  const auto channels = w.is_transposed ? dim_of(weight, 0) : dim_of(weight, 1);
  c.expect_rank(x, spatial + 2, channels ? *channels * (w.is_transposed ? 1 : w.groups) : -1);
  const bool is_single = c.rank(x) == static_cast<std::int64_t>(spatial) + 1;  // without a batch
  if (is_single) x = g.unsqueeze(x, {0});
  Attrs attrs{{"strides", w.stride}, {"dilations", w.dilation}, {"group", w.groups}};
  Ints pads = w.padding;
  if (auto_padding == "same") {
    Ints after;
    pads.clear();
    for (std::size_t i = 0; i < spatial; ++i) {
      const std::int64_t total = w.dilation[i] * (dim_of(weight, static_cast<std::int64_t>(i) + 2).value_or(1) - 1);
      pads.push_back(total / 2);
      after.push_back(total - total / 2);
    }
    pads.insert(pads.end(), after.begin(), after.end());
  } else {
    pads.insert(pads.end(), w.padding.begin(), w.padding.end());
  }
  attrs.emplace_back("pads", pads);
  Values inputs{x, weight};
  if (c.has(2)) inputs.push_back(c.tensor(2));
  Value* y = nullptr;
  if (w.is_transposed) {
    if (std::ranges::any_of(w.output_padding, [](std::int64_t p) { return p != 0; }))
      attrs.emplace_back("output_padding", w.output_padding);
    y = g.op("ConvTranspose", inputs, attrs);
  } else {
    y = g.op("Conv", inputs, attrs);
  }
  return is_single ? g.squeeze(y, {0}) : y;
}

}  // namespace

Item conv(const Call& c) {
  const auto spatial = static_cast<std::size_t>(c.rank(c.tensor(1)) - 2);
  Window w{.stride = c.ints(3, spatial), .dilation = c.ints(5, spatial), .groups = c.integer(6)};
  if (const auto* words = c.arg(4).get<std::string>()) {
    w.padding = Ints(spatial, 0);
    return convolve(c, w, *words);
  }
  w.padding = c.ints(4, spatial);
  return convolve(c, w);
}
Item conv_transpose(const Call& c) {
  const auto spatial = static_cast<std::size_t>(c.rank(c.tensor(1)) - 2);
  return convolve(c, {.stride = c.ints(3, spatial),
                      .padding = c.ints(4, spatial),
                      .dilation = c.ints(7, spatial),
                      .output_padding = c.ints(5, spatial),
                      .groups = c.integer(6),
                      .is_transposed = true});
}
Item convolution(const Call& c) {
  const auto spatial = static_cast<std::size_t>(c.rank(c.tensor(1)) - 2);
  return convolve(c, {.stride = c.ints(3, spatial),
                      .padding = c.ints(4, spatial),
                      .dilation = c.ints(5, spatial),
                      .output_padding = c.ints(7, spatial),
                      .groups = c.integer(8),
                      .is_transposed = c.flag(6)});
}
Item conv_tbc(const Call& c) {
  GraphBuilder& g = c.g();
  const std::int64_t pad = c.integer(3);
  Value* y = g.op("Conv", {g.transpose(c.tensor(0), {1, 2, 0}), g.transpose(c.tensor(1), {2, 1, 0}), c.tensor(2)},
                  {{"pads", {pad, pad}}});
  return g.transpose(y, {2, 0, 1});
}

}  // namespace ingot::frontends::torch
