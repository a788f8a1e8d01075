// Random numbers: PyTorch's own generator, whatever seed a node has.
#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

std::string scaled(const NodeOut& n, std::string numbers, bool is_normal) {
  const float first = n.node.attributes.float_or(is_normal ? "scale" : "high", 1);
  const float second = n.node.attributes.float_or(is_normal ? "mean" : "low", 0);
  const float factor = is_normal ? first : first - second;
  if (factor != 1) numbers += " * " + text_of(factor);
  if (second != 0) numbers += " + " + text_of(second);
  return numbers;
}

}  // namespace

void write_random(const NodeOut& n) {
  const bool is_normal = n.node.op.starts_with("RandomNormal"), is_like = n.node.op.ends_with("Like");
  const std::string type = "dtype=" + n.type(n.node.output()->type.elem);
  const std::string name = is_normal ? "torch.randn" : "torch.rand";
  const std::string numbers =
      is_like ? NodeOut::call("torch.rand" + std::string(is_normal ? "n" : "") + "_like", {n.in(0), type})
              : NodeOut::call(name, {text_of(n.node.attributes.ints_or("shape", {})), type});
  n.set(scaled(n, numbers, is_normal));
}

void write_bernoulli(const NodeOut& n) {
  n.set("torch.bernoulli(" + n.in(0) + ").to(" + n.type(n.node.output()->type.elem) + ")");
}

void write_multinomial(const NodeOut& n) {
  n.set("torch.multinomial(torch.softmax(" + n.in(0) + ", -1), " + text_of(n.attr("sample_size", 1)) + ", True).to(" +
        n.type(n.node.output()->type.elem) + ")");
}

}  // namespace ingot::backends::torch
