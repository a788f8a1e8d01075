#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot::formats::tflite {

// The names are the format's own; a file may carry numbers that are not listed here.

enum class TensorType : std::int8_t {
  FLOAT32 = 0,
  FLOAT16 = 1,
  INT32 = 2,
  UINT8 = 3,
  INT64 = 4,
  STRING = 5,
  BOOL = 6,
  INT16 = 7,
  COMPLEX64 = 8,
  INT8 = 9,
  FLOAT64 = 10,
  COMPLEX128 = 11,
  UINT64 = 12,
  RESOURCE = 13,
  VARIANT = 14,
  UINT32 = 15,
  UINT16 = 16,
  INT4 = 17,
  BFLOAT16 = 18,
  INT2 = 19,
  UINT4 = 20,
  FLOAT8_E4M3FN = 21,
  FLOAT8_E5M2 = 22,
};

enum class BuiltinOperator : std::int32_t {
#define INGOT_TFLITE_OPERATOR(number, name, options) name = number,
#include "ingot/formats/tflite/builtin_operators.def"
#undef INGOT_TFLITE_OPERATOR
};

enum class Padding : std::int8_t { SAME = 0, VALID = 1 };
enum class ActivationFunctionType : std::int8_t { NONE = 0, RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT };
enum class FullyConnectedOptionsWeightsFormat : std::int8_t { DEFAULT = 0, SHUFFLED4x16INT8 };
enum class LSTMKernelType : std::int8_t { FULL = 0, BASIC };
enum class MirrorPadMode : std::int8_t { REFLECT = 0, SYMMETRIC };
enum class CombinerType : std::int8_t { SUM = 0, MEAN, SQRTN };
enum class LSHProjectionType : std::int8_t { UNKNOWN = 0, SPARSE, DENSE };
enum class DimensionType : std::int8_t { DENSE = 0, SPARSE_CSR };
enum class CustomOptionsFormat : std::int8_t { FLEXBUFFERS = 0 };
enum class RngAlgorithm : std::int8_t { DEFAULT = 0, PHILOX, THREEFRY };
enum class ReduceWindowFunction : std::int32_t { UNSUPPORTED = 0, ADD, MUL, MINIMUM, MAXIMUM, ALL, ANY };
enum class StablehloComparisonDirection : std::uint32_t { EQ = 0, NE, GE, GT, LE, LT };
enum class StablehloComparisonType : std::uint32_t { NOTYPE = 0, FLOAT, FLOAT_TOTAL_ORDER, SIGNED, UNSIGNED };
enum class StablehloPrecisionConfig : std::uint32_t { DEFAULT = 0, HIGH, HIGHEST };

/// What the schema calls an enum: Options::get_enum checks with it that a field is read as what it is.
template <class Enum> inline constexpr std::string_view kEnumName = "";
template <> inline constexpr std::string_view kEnumName<TensorType> = "TensorType";
template <> inline constexpr std::string_view kEnumName<BuiltinOperator> = "BuiltinOperator";
template <> inline constexpr std::string_view kEnumName<Padding> = "Padding";
template <> inline constexpr std::string_view kEnumName<ActivationFunctionType> = "ActivationFunctionType";
template <>
inline constexpr std::string_view kEnumName<FullyConnectedOptionsWeightsFormat> = "FullyConnectedOptionsWeightsFormat";
template <> inline constexpr std::string_view kEnumName<LSTMKernelType> = "LSTMKernelType";
template <> inline constexpr std::string_view kEnumName<MirrorPadMode> = "MirrorPadMode";
template <> inline constexpr std::string_view kEnumName<CombinerType> = "CombinerType";
template <> inline constexpr std::string_view kEnumName<LSHProjectionType> = "LSHProjectionType";
template <> inline constexpr std::string_view kEnumName<DimensionType> = "DimensionType";
template <> inline constexpr std::string_view kEnumName<CustomOptionsFormat> = "CustomOptionsFormat";
template <> inline constexpr std::string_view kEnumName<RngAlgorithm> = "RngAlgorithm";
template <> inline constexpr std::string_view kEnumName<ReduceWindowFunction> = "ReduceWindowFunction";
template <> inline constexpr std::string_view kEnumName<StablehloComparisonDirection> = "StablehloComparisonDirection";
template <> inline constexpr std::string_view kEnumName<StablehloComparisonType> = "StablehloComparisonType";
template <> inline constexpr std::string_view kEnumName<StablehloPrecisionConfig> = "StablehloPrecisionConfig";

/// The name of a value of one of the schema's enums; empty if the schema does not have it.
std::string_view enum_value_name(std::string_view enum_name, std::int64_t value);
std::optional<std::int64_t> enum_value(std::string_view enum_name, std::string_view name);

/// "CONV_2D", "INT8"; empty for a number without a name.
template <class Enum> std::string_view name(Enum value) {
  return enum_value_name(kEnumName<Enum>, static_cast<std::int64_t>(value));
}

std::optional<BuiltinOperator> builtin_operator(std::string_view name);
std::optional<TensorType> tensor_type(std::string_view name);

/// Bits of one element; nothing for types without a fixed size (STRING, RESOURCE, VARIANT) and unknown ones.
std::optional<unsigned> element_bits(TensorType type);

}  // namespace ingot::formats::tflite
