#pragma once
#include <string>
#include <vector>

#include "ingot/frontends/tensorflow/node.h"
#include "ingot/frontends/window.h"

namespace ingot::frontends::tensorflow {

/// Where batch, channel and space stand in a spatial operator's tensors.
class Layout {
 public:
  /// `spatial`: the number of spatial axes.
  Layout(const TfNode& n, std::int64_t spatial);

  Value* to_channels_first(GraphBuilder& g, Value* x) const;
  Value* from_channels_first(GraphBuilder& g, Value* x) const;
  /// The spatial entries of a list with one entry per axis.
  std::vector<std::int64_t> spatial(const std::vector<std::int64_t>& all) const;
  std::int64_t channel_axis() const { return is_last_ ? spatial_ + 1 : 1; }
  std::int64_t first_spatial_axis() const { return is_last_ ? 1 : 2; }
  bool is_channels_last() const { return is_last_; }
  std::int64_t rank() const { return spatial_ + 2; }

 private:
  std::int64_t spatial_;
  bool is_last_;
};

/// The padding of a window operator in ONNX's attributes: pads where the sizes are known or do not matter, else
/// auto_pad. `x` has channels first.
Attrs padding_attrs(const TfNode& n, const Layout& layout, const Value* x, const Window& window);

/// The paddings that the node states: those before each spatial axis, then those after.
std::vector<std::int64_t> explicit_pads(const TfNode& n, const Layout& layout, std::size_t rank);

}  // namespace ingot::frontends::tensorflow
