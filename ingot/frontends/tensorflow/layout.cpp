// Data formats and paddings of spatial operators.
#include "ingot/frontends/tensorflow/layout.h"

#include "ingot/frontends/channels_last.h"

namespace ingot::frontends::tensorflow {

Layout::Layout(const TfNode& n, std::int64_t spatial) : spatial_(spatial) {
  const std::string format = n.text("data_format", "NHWC");
  if (format == "NCHW_VECT_C" || format == "NHWC_VECT_W") n.unsupported("data format " + format);
  is_last_ = !format.starts_with("NC");
}

Value* Layout::to_channels_first(GraphBuilder& g, Value* x) const {
  return is_last_ ? channels_first(g, x, static_cast<std::size_t>(rank())) : x;
}

Value* Layout::from_channels_first(GraphBuilder& g, Value* x) const {
  return is_last_ ? channels_last(g, x, static_cast<std::size_t>(rank())) : x;
}

std::vector<std::int64_t> Layout::spatial(const std::vector<std::int64_t>& all) const {
  if (all.size() == 1) return std::vector<std::int64_t>(static_cast<std::size_t>(spatial_), all[0]);
  if (static_cast<std::int64_t>(all.size()) == spatial_) return all;
  if (static_cast<std::int64_t>(all.size()) != spatial_ + 2)
    return std::vector<std::int64_t>(static_cast<std::size_t>(spatial_), 1);
  const auto first = all.begin() + first_spatial_axis();
  return {first, first + spatial_};
}

namespace {

/// Where the letters of one format stand in another.
std::vector<std::int64_t> places(const TfNode& n, const std::string& letters, const std::string& in) {
  std::vector<std::int64_t> all;
  for (const char c : letters) {
    const std::size_t at = in.find(c);
    if (at == in.npos || letters.size() != in.size()) n.unsupported("the data formats do not fit each other");
    all.push_back(static_cast<std::int64_t>(at));
  }
  return all;
}

std::string spatial_letters(std::string format) {
  std::erase_if(format, [](char c) { return c == 'N' || c == 'C'; });
  return format;
}

}  // namespace

Values data_format_dim_map(const TfNode& n, GraphBuilder& g) {
  const std::vector<std::int64_t> map = places(n, n.text("src_format", "NHWC"), n.text("dst_format", "NCHW"));
  Value* typed = g.cast(g.ints(map), n.elem(0));
  return {g.op("Gather", {typed, n.input(0)})};
}

Values data_format_vec_permute(const TfNode& n, GraphBuilder& g) {
  std::string from = n.text("src_format", "NHWC"), to = n.text("dst_format", "NCHW");
  const auto size = dim_of(n.input(0), 0);
  if (!size) n.unsupported("the number of axes must be known");
  if (*size != static_cast<std::int64_t>(from.size())) {  // those of the picture alone
    from = spatial_letters(from);
    to = spatial_letters(to);
  }
  if (*size != static_cast<std::int64_t>(from.size())) n.unsupported("the data formats do not fit the input");
  return {g.op("Gather", {n.input(0), g.ints(places(n, to, from))}, {{"axis", 0}})};
}

namespace {

void require_bounds(const TfNode& n, const Window& window) {
  constexpr std::int64_t kMost = 1 << 30;
  for (const std::vector<std::int64_t>* values : {&window.strides, &window.dilations})
    for (const std::int64_t v : *values)
      if (v < 1 || v > kMost) n.unsupported("a stride or dilation is out of bounds");
  for (const std::int64_t k : window.kernel)
    if (k < 0 || k > kMost) n.unsupported("the window is out of bounds");
}

}  // namespace

std::vector<std::int64_t> explicit_pads(const TfNode& n, const Layout& layout, std::size_t rank) {
  const std::vector<std::int64_t> stated = n.ints("explicit_paddings");
  const auto first = static_cast<std::size_t>(layout.first_spatial_axis());
  if (stated.size() < 2 * (first + rank)) n.unsupported("there are too few explicit paddings");
  std::vector<std::int64_t> pads;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    for (std::size_t i = 0; i < rank; ++i) pads.push_back(stated[2 * (first + i) + side]);
  return pads;
}

Attrs padding_attrs(const TfNode& n, const Layout& layout, const Value* x, const Window& window) {
  require_bounds(n, window);
  const std::string padding = n.text("padding", "VALID");
  if (padding == "VALID") return {};
  if (padding == "EXPLICIT") return {{"pads", explicit_pads(n, layout, window.rank())}};
  for (std::size_t i = 0; i < window.rank(); ++i)
    if (!dim_of(x, static_cast<std::int64_t>(i) + 2)) return {{"auto_pad", "SAME_UPPER"}};
  std::vector<std::int64_t> pads(2 * window.rank());
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const ops::Padding amount = window.same(i, *dim_of(x, static_cast<std::int64_t>(i) + 2));
    pads[i] = amount.before;
    pads[window.rank() + i] = amount.after;
  }
  return {{"pads", pads}};
}

}  // namespace ingot::frontends::tensorflow
