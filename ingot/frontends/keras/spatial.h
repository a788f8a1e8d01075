#pragma once
#include "ingot/frontends/keras/layer.h"
#include "ingot/frontends/window.h"

namespace ingot::frontends::keras {

/// A layer over `axes` spatial axes: its input channels first, as ONNX wants it, and its output as Keras does.
class Spatial {
 public:
  Spatial(Call& call, std::size_t axes);

  Window window(std::string_view size_key) const;
  /// Of these sizes; `is_pool`: steps are as wide as the window unless others are stated.
  Window window(Ints sizes, bool is_pool) const;
  IrValue* input(IrValue* x) const;
  IrValue* output(IrValue* y) const;
  bool is_first() const { return is_first_; }

 private:
  Call& call_;
  std::size_t axes_;
  bool is_first_;
};

/// A kernel of Keras 1 as later versions keep it.
Tensor kernel_of_keras_1(const Call& call, const Tensor& kernel, std::size_t axes, bool is_transposed);
/// Reversed along the spatial axes: Theano convolves, others correlate.
Tensor turned(const Tensor& kernel, std::size_t axes);
/// A tensor with its axes in another order.
Tensor transposed(const Tensor& tensor, const Ints& order);

}  // namespace ingot::frontends::keras
