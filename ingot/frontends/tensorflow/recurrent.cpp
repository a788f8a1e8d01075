// Cells of recurrent networks that TensorFlow has as single operators.
#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

struct Cell {
  Value *w, *peep_i, *peep_f, *peep_o, *bias;
  double forget_bias, clip;
  bool peephole;
  bool is_v2;  // the order of the gates: i, f, c, o instead of i, c, f, o
};

struct State {
  Value *i, *cs, *f, *o, *ci, *co, *h;
};

/// One step: x, the last cs and h.
State step(GraphBuilder& g, const Cell& cell, Value* x, Value* cs, Value* h) {
  Value* both = g.concat({x, h}, 1);
  Value* all = g.add(g.op("MatMul", {both, cell.w}), cell.bias);
  const Values gates = g.op("Split", {all}, {{"axis", 1}, {"num_outputs", 4}}, 4);
  Value *zi = gates[0], *zc = gates[cell.is_v2 ? 2 : 1], *zf = gates[cell.is_v2 ? 1 : 2], *zo = gates[3];
  if (cell.peephole) {
    zi = g.add(zi, g.mul(cs, cell.peep_i));
    zf = g.add(zf, g.mul(cs, cell.peep_f));
  }
  State s{};
  s.i = g.op("Sigmoid", {zi});
  s.f = g.op("Sigmoid", {g.add(zf, cell.forget_bias)});
  s.ci = g.op("Tanh", {zc});
  Value* kept = g.mul(cs, s.f);
  s.cs = g.add(kept, g.mul(s.ci, s.i));
  if (cell.clip > 0) {
    Value* low = g.scalar(-cell.clip, s.cs->type.elem);
    s.cs = g.op("Clip", {s.cs, low, g.scalar(cell.clip, s.cs->type.elem)});
  }
  if (cell.peephole) zo = g.add(zo, g.mul(s.cs, cell.peep_o));
  s.o = g.op("Sigmoid", {zo});
  s.co = g.op("Tanh", {s.cs});
  s.h = g.mul(s.co, s.o);
  return s;
}

}  // namespace

Values lstm_block_cell(const TfNode& n, GraphBuilder& g) {
  // x, cs_prev, h_prev, w, wci, wcf, wco, b
  const Cell cell{n.input(3),
                  n.input(4),
                  n.input(5),
                  n.input(6),
                  n.input(7),
                  n.real("forget_bias", 1),
                  n.real("cell_clip", 3),
                  n.flag("use_peephole", false),
                  false};
  const State s = step(g, cell, n.input(0), n.input(1), n.input(2));
  return {s.i, s.cs, s.f, s.o, s.ci, s.co, s.h};
}

Values block_lstm(const TfNode& n, GraphBuilder& g) {
  // seq_len_max, x [time, batch, in], cs_prev, h_prev, w, wci, wcf, wco, b
  const bool is_v2 = n.op() == "BlockLSTMV2";
  const Cell cell{n.input(4),
                  n.input(5),
                  n.input(6),
                  n.input(7),
                  n.input(8),
                  is_v2 ? 0 : n.real("forget_bias", 1),
                  n.real("cell_clip", is_v2 ? 0 : 3),
                  n.flag("use_peephole", false),
                  is_v2};
  // A round for each step that counts; what stands behind is zero.
  Value* steps = size_of(g, n.input(1), 0);
  Value* given = as_int64(g, n.input(0));
  if (rank_of(given) != 0) given = g.op("Reshape", {given, g.ints({})});
  Value* used = g.op("Min", {given, steps});
  const Values done =
      repeat(g, used, {n.input(2), n.input(3)}, [&](GraphBuilder& b, Value* t, const Values& state) -> Values {
        Value* x = b.op("Gather", {n.input(1), t}, {{"axis", 0}});
        const State s = step(b, cell, x, state[0], state[1]);
        return {s.cs, s.h, s.i, s.cs, s.f, s.o, s.ci, s.co, s.h};
      });
  Value* behind = g.unsqueeze(g.sub(steps, used), {0});
  Value* pads = g.concat({g.ints({0, 0, 0}), behind, g.ints({0, 0})}, 0);
  Values results;
  for (std::size_t i = 2; i < done.size(); ++i) results.push_back(g.op("Pad", {done[i], pads}));
  return results;
}

Values gru_block_cell(const TfNode& n, GraphBuilder& g) {
  // x, h_prev, w_ru, w_c, b_ru, b_c
  Value *x = n.input(0), *h = n.input(1);
  Value* both = g.concat({x, h}, 1);
  Value* gates = g.op("Sigmoid", {g.add(g.op("MatMul", {both, n.input(2)}), n.input(4))});
  const Values ru = g.op("Split", {gates}, {{"axis", 1}, {"num_outputs", 2}}, 2);
  Value* reset = g.concat({x, g.mul(h, ru[0])}, 1);
  Value* c = g.op("Tanh", {g.add(g.op("MatMul", {reset, n.input(3)}), n.input(5))});
  Value* kept = g.mul(ru[1], h);
  Value* y = g.add(kept, g.mul(g.sub(1, ru[1]), c));
  return {ru[0], ru[1], c, y};
}

}  // namespace ingot::frontends::tensorflow
