// The plain cell: h' = act(x * w + h * r + b).
#include "ingot/ops/rnn/gates.h"
#include "ingot/passes/recurrent_loops/cells.h"
#include "ingot/passes/recurrent_loops/linear.h"
#include "ingot/passes/recurrent_loops/patterns.h"

namespace ingot::passes::recurrent_loops {

bool replace_by_rnn(SequenceLoop& loop) {
  if (loop.vectors().size() != 1) return false;
  const std::size_t h = loop.vectors().front();
  if (loop.next(h) != loop.item()) return false;
  const auto act = activation(loop.item());
  const auto form = act ? linear(loop, act->of, loop.state(h)) : std::nullopt;
  if (!form) return false;
  GraphBuilder g = loop.builder();
  const auto w = onnx_matrices(g, *form, {0});
  if (!w) return false;
  Value* start = g.unsqueeze(loop.start(h), {0});
  Value* bias = ops::onnx_bias(g, form->bias, nullptr, {0}, w->units, loop.sequence()->type.elem);
  const Values y =
      g.op("RNN", {loop.sequence(), w->weights, w->recurrent, bias, nullptr, start},
           {{"hidden_size", w->units}, {"activations", std::vector<std::string>{std::string(act->name)}}}, 2);
  loop.replace(g, y[0], {{h, y[1]}});
  return true;
}

}  // namespace ingot::passes::recurrent_loops
