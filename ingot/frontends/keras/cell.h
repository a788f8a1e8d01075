#pragma once
#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// A recurrent cell: its settings, and its weights as Keras 2 keeps them.
struct Cell {
  enum class Kind : std::uint8_t { simple, gru, lstm };
  Kind kind = Kind::simple;
  std::int64_t units = 0;
  std::string activation, recurrent_activation;
  bool resets_after = false;
  IrValue *kernel = nullptr, *recurrent = nullptr;
  IrValue *bias = nullptr, *recurrent_bias = nullptr;  // null: zeros
};

/// What a cell makes of a sequence.
struct Ran {
  IrValue* all = nullptr;   // [batch, steps, units]
  IrValue* last = nullptr;  // [batch, units]
  Values states{};          // h, and of an LSTM c
};

/// Reads the weights of a cell or of the layer around it.
Cell read_cell(Call& call, Cell::Kind kind);
std::size_t state_count(const Cell& cell);
/// `x`: [batch, steps, features] in the order of processing; `states`: as they begin, empty: zeros.
Ran run_cell(Call& call, const Cell& cell, IrValue* x, IrValue* mask, const Values& states);

IrValue* reversed(GraphBuilder& b, IrValue* x, std::int64_t axis);

}  // namespace ingot::frontends::keras
