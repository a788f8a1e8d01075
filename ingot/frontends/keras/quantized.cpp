// Layers that Keras has quantized: weights of 8 bits, inputs quantized by their largest number while running.
#include "ingot/frontends/keras/quantized.h"

#include <algorithm>
#include <cstdlib>

#include "ingot/frontends/keras/activations.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

constexpr double kMost = 127, kEpsilon = 1e-7;

/// Whether inputs are made integers too.
bool quantizes_inputs(const Call& call) {
  const Config stated = call.at("quantization_config")["config"];
  if (!stated.exists()) return true;
  const Config quantizer = stated["activation_quantizer"];
  if (quantizer.is_null()) return false;
  const Config range = quantizer["config"]["value_range"];
  if (range.exists() && (range[0].as_number() != -kMost || range[1].as_number() != kMost))
    call.refuse("inputs quantized to another range than -127 to 127 have no translation");
  return true;
}

struct Quantized {
  IrValue *numbers, *scale;  // int8; by what they were multiplied, with the axes of size 1
};

Quantized quantized(Call& call, IrValue* x, const Ints& axes) {
  GraphBuilder& b = call.b;
  IrValue* largest = b.op("ReduceMax", {b.op("Abs", {x}), b.ints(axes)});
  IrValue* scale = b.div(kMost, b.add(largest, kEpsilon));
  IrValue* rounded = b.op("Round", {b.mul(x, scale)});
  IrValue* clipped = b.op("Clip", {rounded, b.scalar(-kMost, x->type.elem), b.scalar(kMost, x->type.elem)});
  return {b.cast(clipped, DType::i8), scale};
}

IrValue* integer_weight(Call& call, const std::string& name) {
  IrValue* weight = call.weight(name, false);
  call.require(weight->type.elem == DType::i8, "its weights are not the 8-bit integers that its policy states");
  return weight;
}

/// Keras sums integers exactly.
IrValue* einsum_of_integers(GraphBuilder& b, const std::string& equation, IrValue* x, IrValue* y) {
  return b.op("Einsum", {b.cast(x, DType::i32), b.cast(y, DType::i32)}, {{"equation", equation}});
}

/// Letters of an equation "ab,bc->ac".
struct Equation {
  std::string input, kernel, output;
};
Equation letters_of(const Call& call, const std::string& equation) {
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  call.require(comma != equation.npos && arrow != equation.npos && comma < arrow, "its equation is not of two factors");
  if (equation.find('.') != equation.npos) call.refuse("a quantized equation with '...' has no translation");
  return {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1), equation.substr(arrow + 2)};
}

/// Scales of the input, without the axes that are summed, as the output has its axes.
IrValue* aligned(Call& call, IrValue* scale, const Equation& equation) {
  std::string left;
  Ints summed;
  for (std::size_t i = 0; i < equation.input.size(); ++i)
    if (equation.output.find(equation.input[i]) == std::string::npos)
      summed.push_back(static_cast<std::int64_t>(i));
    else
      left += equation.input[i];
  IrValue* y = summed.empty() ? scale : call.b.squeeze(scale, summed);
  Ints order, missing;
  for (std::size_t i = 0; i < equation.output.size(); ++i)
    if (const std::size_t at = left.find(equation.output[i]); at != left.npos)
      order.push_back(static_cast<std::int64_t>(at));
    else
      missing.push_back(static_cast<std::int64_t>(i));
  if (!std::ranges::is_sorted(order)) y = call.b.transpose(y, order);
  return missing.empty() ? y : call.b.unsqueeze(y, missing);
}

/// Five weights of -1, 0 and 1 in a byte, along the first axis.
Tensor unpacked(const Call& call, const Tensor& packed, std::int64_t rows) {
  call.require(packed.dtype() == DType::u8 && packed.rank() == 2 && rows > 0 && packed.dims()[0] == (rows - 1) / 5 + 1,
               "its packed weights do not fit the input");
  const std::int64_t units = packed.dims()[1];
  const std::vector<std::int64_t> codes = packed.to_ints();
  std::vector<float> weights(static_cast<std::size_t>(rows * units));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t unit = 0; unit < units; ++unit) {
      std::int64_t code = codes[static_cast<std::size_t>(row / 5 * units + unit)];
      for (std::int64_t i = 0; i < row % 5; ++i) code /= 3;
      weights[static_cast<std::size_t>(row * units + unit)] = static_cast<float>(code % 3 - 1);
    }
  return Tensor::of<float>({rows, units}, weights);
}

void ternary_product(Call& call) {
  GraphBuilder& b = call.b;
  const Tensor packed = call.stored(0);
  IrValue* kernel = call.parameter("kernel", unpacked(call, packed, call.size(0, -1)), false);
  call.weight("kernel");  // which is this one
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias") : nullptr;
  IrValue* y = b.mul(b.op("MatMul", {call.in(), kernel}), call.weight("kernel_scale", false));
  call.set(activated(call, call.at("activation"), bias ? b.add(y, bias) : y));
}

/// Numbers of `bits` bits, the lowest ones first, along an axis of a matrix that has `size` of them; int8 has signs.
Tensor unpacked_bits(const Call& call, const Tensor& packed, int bits, std::size_t axis, std::int64_t size) {
  const std::int64_t in_byte = 8 / bits;
  call.require((packed.dtype() == DType::u8 || packed.dtype() == DType::i8) && packed.rank() == 2 && size > 0 &&
                   packed.dims()[axis] == (size - 1) / in_byte + 1,
               "its packed weights do not fit the layer");
  const bool is_signed = packed.dtype() == DType::i8;
  Dims dims = packed.dims();
  dims[axis] = size;
  const std::vector<std::int64_t> bytes = packed.to_ints();
  std::vector<std::int8_t> values(static_cast<std::size_t>(dims[0] * dims[1]));
  for (std::int64_t row = 0; row < dims[0]; ++row)
    for (std::int64_t column = 0; column < dims[1]; ++column) {
      const std::int64_t along = axis == 0 ? row : column;
      const std::int64_t at = axis == 0 ? along / in_byte * dims[1] + column : row * packed.dims()[1] + along / in_byte;
      const std::int64_t code =
          (bytes[static_cast<std::size_t>(at)] >> (along % in_byte * bits)) & ((std::int64_t{1} << bits) - 1);
      const std::int64_t half = std::int64_t{1} << (bits - 1);
      values[static_cast<std::size_t>(row * dims[1] + column)] =
          static_cast<std::int8_t>(is_signed ? (code ^ half) - half : code);
    }
  return Tensor::of<std::int8_t>(dims, values);
}

/// The next weight is this one.
IrValue* unpacked_weight(Call& call, const Tensor& tensor) {
  IrValue* kernel = call.parameter("kernel", tensor, false);
  call.weight("kernel");
  return kernel;
}

/// (weights - zeros) * scales, whose groups lie along an axis.
IrValue* of_groups(Call& call, IrValue* weights, IrValue* scale, IrValue* zero, IrValue* group, std::int64_t axis) {
  GraphBuilder& b = call.b;
  IrValue* places = b.cast(group, DType::i64);
  const auto mapped = [&](IrValue* v) { return b.op("Gather", {b.cast(v, call.elem()), places}, {{"axis", axis}}); };
  return b.mul(b.sub(b.cast(weights, call.elem()), mapped(zero)), mapped(scale));
}

void finish_dense(Call& call, IrValue* y, IrValue* bias) {
  call.set(activated(call, call.at("activation"), bias ? call.b.add(y, bias) : y));
}

/// One scale for each unit, or one and a zero point for groups of inputs. Packed along the inputs up to 3.12, along the
/// units since, which leaves the inputs of the layer as they are.
void int4_product(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t rows = call.size(0, -1), units = call.integer("units");
  const Tensor packed = call.stored(0);
  const bool is_along_units = packed.rank() == 2 && packed.dims()[0] == rows && packed.dims()[1] != units;
  IrValue* kernel =
      unpacked_weight(call, unpacked_bits(call, packed, 4, is_along_units ? 1 : 0, is_along_units ? units : rows));
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias") : nullptr;
  IrValue* scale = call.weight("kernel_scale", false);
  if (rank_of(scale) == 2) {
    IrValue* zero = call.weight("kernel_zero", false);
    IrValue* group = call.weight("g_idx", false);
    return finish_dense(call, b.op("MatMul", {call.in(), of_groups(call, kernel, scale, zero, group, 0)}), bias);
  }
  const bool is_stated = call.at("quantization_config")["config"].exists();
  if (is_stated ? !quantizes_inputs(call) : is_along_units)
    return finish_dense(call, b.div(b.op("MatMul", {call.in(), b.cast(kernel, call.elem())}), scale), bias);
  const Quantized x = quantized(call, call.in(), {-1});
  IrValue* y = b.op("MatMulInteger", {x.numbers, kernel});
  finish_dense(call, b.div(b.cast(y, call.elem()), b.mul(x.scale, scale)), bias);
}

/// Units in rows; "awq" has made inputs that matter larger before, and divides by that.
void grouped_product(Call& call, const std::string& mode) {
  GraphBuilder& b = call.b;
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias") : nullptr;
  const Tensor packed = call.stored(bias ? 1 : 0);
  const Config policy = call.layer.config["dtype"]["config"];
  const std::string name(call.layer.config["dtype"].text());
  const std::size_t slash = name.find('/');
  const std::int64_t named = slash == name.npos ? 4 : std::atoi(name.c_str() + slash + 1);
  const std::int64_t bits = mode == "awq" ? 4 : policy["weight_bits"].as_int().value_or(named);
  call.require(bits == 2 || bits == 3 || bits == 4 || bits == 8, "its weights have no number of bits that is known");
  // What does not fill a byte evenly has one to itself.
  const bool is_packed = bits == 2 || bits == 4;
  IrValue* kernel =
      is_packed ? unpacked_weight(call, unpacked_bits(call, packed, static_cast<int>(bits), 0, call.integer("units")))
                : call.weight("kernel", false);
  IrValue* scale = call.weight("kernel_scale", false);
  IrValue* zero = call.weight("kernel_zero", false);
  IrValue* before = mode == "awq" ? call.weight("awq_scales", false) : nullptr;
  IrValue* group = call.weight("g_idx", false);
  IrValue* w = b.transpose(of_groups(call, kernel, scale, zero, group, 1), {1, 0});
  if (before) w = b.div(w, b.unsqueeze(before, {-1}));
  finish_dense(call, b.op("MatMul", {call.in(), w}), bias);
}

/// Inputs and weights rounded to 8 bits, by scales that training found.
void float8_product(Call& call) {
  GraphBuilder& b = call.b;
  const DType type = call.elem();
  const auto rounded = [&](IrValue* x, IrValue* scale) {
    constexpr double kLargest = 448;
    IrValue* y = b.op("Clip", {b.div(x, scale), b.scalar(-kLargest, type), b.scalar(kLargest, type)});
    return b.mul(b.cast(b.cast(y, DType::f8e4m3fn), type), scale);
  };
  IrValue* kernel = call.weight("kernel");
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias") : nullptr;
  IrValue* of_inputs = call.weight("inputs_scale", false);
  call.weight("inputs_amax_history", false);
  IrValue* of_kernel = call.weight("kernel_scale", false);
  if (bias && type == DType::f32) bias = b.cast(b.cast(bias, DType::bf16), DType::f32);  // as Keras does
  finish_dense(call, b.op("MatMul", {rounded(call.in(), of_inputs), rounded(kernel, of_kernel)}), bias);
}

}  // namespace

std::string quantization_mode(const Call& call) {
  const Config dtype = call.layer.config["dtype"];
  std::string mode(dtype["config"]["mode"].text());
  const std::string_view name = dtype.is_text() ? dtype.text() : std::string_view();
  if (const std::size_t from = name.find("_from_"); from != name.npos) mode = name.substr(0, from);
  mode = mode.substr(0, mode.find('/'));  // "gptq/4/128"
  const bool is_dense = call.layer.class_name == "Dense" || call.layer.class_name == "TernaryDense";
  constexpr std::string_view kOfDense[] = {"awq", "float8", "gptq", "int4", "ternary"};
  const bool is_known = is_dense && std::ranges::find(kOfDense, mode) != std::end(kOfDense);
  if (!mode.empty() && mode != "int8" && !is_known)
    call.refuse("weights of the policy '" + mode + "' have no translation",
                "save the model before it is quantized, or with 'int8'");
  return mode;
}

/// The kernel counts by its signs where it is large enough.
void ternary_dense(Call& call) {
  if (quantization_mode(call) == "ternary") return ternary_product(call);
  if (call.import.options.is_training) call.refuse("TernaryDense trains what its signs hide, which has no translation");
  GraphBuilder& b = call.b;
  IrValue* kernel = call.weight("kernel");
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias") : nullptr;
  IrValue* size = b.op("Abs", {kernel});
  IrValue* mean = b.op("ReduceMean", {size}, {{"keepdims", 0}});
  const auto stated = call.at("threshold").as_number();
  IrValue* counts = b.op("Greater", {size, stated ? b.scalar(*stated, size->type.elem) : b.mul(mean, 0.5)});
  IrValue* signs = b.mul(b.op("Sign", {kernel}), b.cast(counts, size->type.elem));
  IrValue* y = b.op("MatMul", {call.in(), signs});
  if (!stated) y = b.mul(y, mean);
  call.set(activated(call, call.at("activation"), bias ? b.add(y, bias) : y));
}

void quantized_dense(Call& call) {
  const std::string mode = quantization_mode(call);
  if (mode == "ternary") return ternary_product(call);
  if (mode == "int4") return int4_product(call);
  if (mode == "gptq" || mode == "awq") return grouped_product(call, mode);
  if (mode == "float8") return float8_product(call);
  GraphBuilder& b = call.b;
  IrValue* kernel = integer_weight(call, "kernel");
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias") : nullptr;
  IrValue* scale = call.weight("kernel_scale", false);
  IrValue* y = nullptr;
  if (quantizes_inputs(call)) {
    const Quantized x = quantized(call, call.in(), {-1});
    y = b.op("MatMulInteger", {x.numbers, kernel});
    y = b.div(b.cast(y, call.elem()), b.mul(x.scale, scale));
  } else {
    y = b.div(b.op("MatMul", {call.in(), b.cast(kernel, call.elem())}), scale);
  }
  call.set(activated(call, call.at("activation"), bias ? b.add(y, bias) : y));
}

void quantized_einsum_dense(Call& call) {
  GraphBuilder& b = call.b;
  const std::string text = call.text("equation");
  const Equation equation = letters_of(call, text);
  IrValue* kernel = integer_weight(call, "kernel");
  const bool has_bias = !call.at("bias_axes").is_null() && !call.text("bias_axes").empty();
  IrValue* bias = has_bias ? call.weight("bias") : nullptr;
  IrValue* scale = call.weight("kernel_scale", false);  // stands as the output does
  Ints summed;
  for (std::size_t i = 0; i < equation.input.size(); ++i)
    if (equation.output.find(equation.input[i]) == std::string::npos) summed.push_back(static_cast<std::int64_t>(i));
  IrValue* y = nullptr;
  if (quantizes_inputs(call)) {
    const Quantized x = quantized(call, call.in(), summed);
    y = b.cast(einsum_of_integers(b, text, x.numbers, kernel), call.elem());
    y = b.div(y, b.mul(aligned(call, x.scale, equation), scale));
  } else {
    y = b.div(einsum(b, {call.in(), b.cast(kernel, call.elem())}, text), scale);
  }
  call.set(activated(call, call.at("activation"), bias ? b.add(y, bias) : y));
}

void quantized_embedding(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* ids = call.in();
  IrValue* table = integer_weight(call, "embeddings");
  IrValue* scale = call.weight("embeddings_scale", false);
  IrValue* mask = nullptr;
  if (call.flag("mask_zero", false)) mask = b.op("Not", {b.op("Equal", {ids, b.scalar(0, ids->type.elem)})});
  const bool is_index = ids->type.elem == DType::i32 || ids->type.elem == DType::i64;
  if (!is_index) ids = b.cast(ids, DType::i32);
  IrValue* rows = b.cast(b.op("Gather", {table, ids}, {{"axis", 0}}), call.elem());
  IrValue* scales = b.op("Gather", {scale, ids}, {{"axis", 0}});
  call.set(b.div(rows, b.unsqueeze(scales, {-1})), mask);
}

}  // namespace ingot::frontends::keras
