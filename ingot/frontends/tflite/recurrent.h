#pragma once
#include "ingot/frontends/tflite/op.h"

namespace ingot::frontends::tflite {

inline constexpr std::string_view kFreshStateNote =
    "the state of recurrent layers over whole sequences starts at zero in each run";

/// What a recurrent layer gives for a sequence.
struct Sequence {
  Value* output = nullptr;  ///< [time, batch, units]
  Value* h = nullptr;       ///< [batch, units], after the last step
  Value* c = nullptr;
};

bool has_any(const Op& op, std::size_t from, std::size_t count);
Value* zeros(Op& op, const Ints& dims);
/// The first dimension of a matrix of weights.
std::int64_t rows_of(const Op& op, std::size_t i);

/// The state that a sequence starts with: zeros. TFLite would go on from the last call.
Value* fresh_state(Op& op, Value* x, std::size_t state, std::int64_t units);
/// Reads a state that the operator keeps from call to call, as real numbers.
Value* kept_state(Op& op, std::size_t i);
void keep_stored(Op& op, std::size_t i, Value* stored);
void keep_state(Op& op, std::size_t i, Value* real);

/// [batch, time, ...] and [time, batch, ...] change places.
Value* swapped(Op& op, Value* x);
/// Input 0 as [time, batch, features].
Value* sequence(Op& op, bool time_major);
/// Sets an output from [time, batch, units]; integers are moved after they are quantised.
void set_sequence(Op& op, std::size_t i, Value* y, bool time_major);

}  // namespace ingot::frontends::tflite
