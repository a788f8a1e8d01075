#pragma once
#include "ingot/frontends/tflite/frame.h"

namespace ingot::frontends::tflite {

/// Said of models whose weights alone are quantised.
inline constexpr std::string_view kDynamicRangeNote =
    "dynamic range: TFLite quantises the activations of some operators while running, the converted model does not";

/// One operator of the source while it is translated: its inputs, options and outputs.
class Op {
 public:
  Op(Frame& in, const tfl::Operator& what, const Row& how)
      : frame(in), import(in.import()), b(in.builder()), source(what), options(what.options), row(how) {}

  Frame& frame;
  Import& import;
  GraphBuilder& b;
  const tfl::Operator& source;
  const tfl::Options& options;
  const Row& row;

  std::size_t input_count() const { return source.inputs.size(); }
  std::size_t output_count() const { return source.outputs.size(); }
  bool has(std::size_t i) const { return i < source.inputs.size() && source.inputs[i] != tfl::kNoTensor; }
  std::int32_t input(std::size_t i) const;
  const tfl::Tensor& tensor(std::size_t i) const { return frame.tensor(input(i)); }
  const tfl::Tensor& out_tensor(std::size_t i = 0) const;

  Value* stored(std::size_t i) { return frame.stored(input(i)); }
  Value* real(std::size_t i) { return frame.real(input(i)); }
  bool is_quantized(std::size_t i) const { return frame.is_quantized(tensor(i)); }
  Value* weights(std::size_t i, const Ints& perm) { return frame.weights(input(i), perm); }
  /// A bias, whose integers have the scale of input times weights where they state none.
  Value* bias(std::size_t i, std::size_t x, std::size_t w);

  std::optional<Tensor> constant(std::size_t i) const;
  /// The integers of an input that is known before running; nothing if it is not.
  std::optional<Ints> known_ints(std::size_t i);
  /// The same, where the translation cannot do without.
  Ints ints(std::size_t i, std::string_view what);
  std::int64_t integer(std::size_t i, std::string_view what);
  std::optional<std::vector<double>> known_doubles(std::size_t i) const;
  /// The input as int64, of rank 1 whatever rank it has, or of rank 0.
  Value* indices(std::size_t i);
  Value* index_list(std::size_t i);
  Value* index_scalar(std::size_t i);

  /// As inference knows it, else as the file states it.
  std::int64_t rank(std::size_t i);
  std::int64_t rank_of(const Value* value) const;
  std::optional<Ints> dims(std::size_t i);
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;

  void set(std::size_t i, Value* stored);
  /// Quantises if the output is quantised.
  void set_real(std::size_t i, Value* real);
  /// The output holds elements of input `from` and nothing else: if both are quantised alike, the integers are moved.
  /// `move` is called with the form to use.
  template <class Move> void move(std::size_t from, Move&& move) {
    if (alike(tensor(from), out_tensor(0)))
      set(0, move(stored(from)));
    else
      set_real(0, move(real(from)));
  }
  /// Input `i` as real numbers after its elements were moved; integers are moved before they are dequantised.
  template <class Move> Value* real_moved(std::size_t i, Move&& move) {
    const bool is_plain =
        is_quantized(i) && frame.resolved(input(i)) == input(i) && tensor(i).quantization->scale.size() == 1;
    if (!is_plain) return move(real(i));
    Value* moved = move(stored(i));
    return moved == stored(i) ? real(i) : frame.dequantize(moved, tensor(i), std::nullopt);
  }
  bool alike(const tfl::Tensor& a, const tfl::Tensor& c) const;

  /// The fused activation of the options.
  Value* activated(Value* x);
  Value* activated(Value* x, tfl::ActivationFunctionType activation);

  /// Integer weights with a float input are a reason for a note.
  void note_dynamic_range(std::size_t weights, std::size_t x);

  DType out_dtype(std::size_t i = 0) const { return frame.dtype(out_tensor(i)); }
  /// Refuses complex inputs and outputs, which stand as pairs of floats where an operator does not know of it.
  void refuse_complex() const;
  [[noreturn]] void refuse(std::string why) const;
  void require(bool condition, std::string_view why) const {
    if (!condition) refuse(std::string(why));
  }
};

/// Numbers in `tensor` as an integer type of one or two bytes, or int32 and int64.
Tensor integer_tensor(const Tensor& tensor, DType dtype);

}  // namespace ingot::frontends::tflite
