// Which element types the kernels of TFLite take, and whether a file keeps to them.
#include "ingot/backends/tflite/type_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/enums.h"

namespace ingot::backends::tflite {
namespace {

namespace tfl = formats::tflite;
using Op = tfl::BuiltinOperator;
using Type = tfl::TensorType;

/// A letter for each type, so that a kernel's types are a word.
char letter_of(Type type) {
  switch (type) {
    case Type::FLOAT32:
      return 'f';
    case Type::FLOAT16:
      return 'h';
    case Type::FLOAT64:
      return 'd';
    case Type::INT8:
      return 'c';
    case Type::UINT8:
      return 'u';
    case Type::INT16:
      return 's';
    case Type::INT32:
      return 'i';
    case Type::INT64:
      return 'l';
    case Type::BOOL:
      return 'b';
    case Type::STRING:
      return 'x';
    case Type::INT4:
      return '4';
    default:
      return '?';
  }
}

/// The types of one input of an operator.
struct Line {
  Op op;
  std::size_t input;
  std::string_view types;
};

constexpr Line kInputs[] = {
    {Op::ABS, 0, "fcsi"},
    {Op::ADD, 0, "filucs"},
    {Op::ARG_MAX, 0, "fucib"},
    {Op::ARG_MIN, 0, "fucib"},
    {Op::AVERAGE_POOL_2D, 0, "fucs"},
    {Op::BATCH_MATMUL, 0, "fcs"},
    {Op::CEIL, 0, "f"},
    {Op::CONV_2D, 0, "fucs"},
    {Op::CONV_2D, 1, "fuc4"},
    {Op::CONV_3D, 0, "f"},
    {Op::COS, 0, "f"},
    {Op::CUMSUM, 0, "fil"},
    {Op::DEPTHWISE_CONV_2D, 0, "fucs"},
    {Op::DEPTHWISE_CONV_2D, 1, "fuc4"},
    {Op::DEPTH_TO_SPACE, 0, "fucil"},
    {Op::DEQUANTIZE, 0, "ucsh4"},
    {Op::DIV, 0, "fiu"},
    {Op::ELU, 0, "fc"},
    {Op::EQUAL, 0, "bfilucsx"},
    {Op::EXP, 0, "fcs"},
    {Op::FLOOR, 0, "f"},
    {Op::FLOOR_DIV, 0, "fics"},
    {Op::FLOOR_MOD, 0, "filcs"},
    {Op::FULLY_CONNECTED, 0, "fucs"},
    {Op::FULLY_CONNECTED, 1, "fuc4"},
    {Op::GREATER, 0, "filucs"},
    {Op::GREATER_EQUAL, 0, "filucs"},
    {Op::HARD_SWISH, 0, "fuc"},
    {Op::LEAKY_RELU, 0, "fucs"},
    {Op::LESS, 0, "filucs"},
    {Op::LESS_EQUAL, 0, "filucs"},
    {Op::LOCAL_RESPONSE_NORMALIZATION, 0, "f"},
    {Op::LOG, 0, "fcs"},
    {Op::LOGICAL_AND, 0, "b"},
    {Op::LOGICAL_NOT, 0, "b"},
    {Op::LOGICAL_OR, 0, "b"},
    {Op::LOGISTIC, 0, "fucs"},
    {Op::LOG_SOFTMAX, 0, "fuc"},
    {Op::MAXIMUM, 0, "fucsil"},
    {Op::MAX_POOL_2D, 0, "fucs"},
    {Op::MEAN, 0, "fucsil"},
    {Op::MINIMUM, 0, "fucsil"},
    {Op::MUL, 0, "filucs"},
    {Op::NEG, 0, "filcs"},
    {Op::NON_MAX_SUPPRESSION_V4, 0, "f"},
    {Op::NOT_EQUAL, 0, "bfilucsx"},
    {Op::ONE_HOT, 0, "il"},
    {Op::POW, 0, "fi"},
    {Op::PRELU, 0, "fuc"},
    {Op::QUANTIZE, 0, "fucsi"},
    {Op::RANGE, 0, "fil"},
    {Op::REDUCE_ALL, 0, "b"},
    {Op::REDUCE_ANY, 0, "b"},
    {Op::REDUCE_MAX, 0, "fucsil"},
    {Op::REDUCE_MIN, 0, "fucsil"},
    {Op::REDUCE_PROD, 0, "filucs"},
    {Op::RELU, 0, "fucs"},
    {Op::RELU6, 0, "fucs"},
    {Op::RELU_N1_TO_1, 0, "fucs"},
    {Op::RESIZE_BILINEAR, 0, "fucs"},
    {Op::ROUND, 0, "f"},
    {Op::RSQRT, 0, "fcs"},
    {Op::SELECT_V2, 0, "b"},
    {Op::SELECT_V2, 1, "bfilucs"},
    {Op::SIN, 0, "f"},
    {Op::SOFTMAX, 0, "fucs"},
    {Op::SPACE_TO_DEPTH, 0, "fucil"},
    {Op::SQRT, 0, "f"},
    {Op::SQUARED_DIFFERENCE, 0, "fic"},
    {Op::SUB, 0, "filucs"},
    {Op::SUM, 0, "fucsil"},
    {Op::SVDF, 4, "fs"},
    {Op::TANH, 0, "fucs"},
    {Op::TOPK_V2, 0, "fucsil"},
    {Op::TRANSPOSE_CONV, 2, "fucs"},
    {Op::UNIDIRECTIONAL_SEQUENCE_LSTM, 0, "fc"},
};

/// Operators whose first two inputs have one type.
constexpr Op kAlike[] = {
    Op::ADD,        Op::DIV,     Op::EQUAL,   Op::FLOOR_DIV, Op::FLOOR_MOD, Op::GREATER, Op::LESS,
    Op::LESS_EQUAL, Op::MAXIMUM, Op::MINIMUM, Op::MUL,       Op::NOT_EQUAL, Op::POW,     Op::SQUARED_DIFFERENCE,
    Op::SUB};

/// Operators whose result has the type of their first input: kernels do not ask, and write what they make.
constexpr Op kKept[] = {Op::ABS,
                        Op::ADD,
                        Op::AVERAGE_POOL_2D,
                        Op::CEIL,
                        Op::COS,
                        Op::DIV,
                        Op::ELU,
                        Op::EXP,
                        Op::FLOOR,
                        Op::FLOOR_DIV,
                        Op::FLOOR_MOD,
                        Op::HARD_SWISH,
                        Op::LEAKY_RELU,
                        Op::LOG,
                        Op::LOGISTIC,
                        Op::MAXIMUM,
                        Op::MAX_POOL_2D,
                        Op::MINIMUM,
                        Op::MUL,
                        Op::NEG,
                        Op::POW,
                        Op::RELU,
                        Op::RELU6,
                        Op::RELU_N1_TO_1,
                        Op::ROUND,
                        Op::RSQRT,
                        Op::SIN,
                        Op::SQRT,
                        Op::SQUARED_DIFFERENCE,
                        Op::SUB,
                        Op::TANH};

class Checker {
 public:
  Checker(const tfl::SubGraph& graph, const tfl::Operator& op) : graph_(graph), op_(op) {}

  void run() const {
    for (const Line& line : kInputs)
      if (line.op == op_.code.builtin && line.types.find(letter_of(type_of(line.input))) == line.types.npos)
        refuse(line.input);
    if (std::ranges::find(kAlike, op_.code.builtin) != std::end(kAlike) && type_of(0) != type_of(1)) refuse(1);
    if (std::ranges::find(kKept, op_.code.builtin) != std::end(kKept) && !op_.outputs.empty()) {
      const Type made = graph_.tensors[static_cast<std::size_t>(op_.outputs[0])].type;
      if (made != type_of(0)) fail(fmt::format("makes {} of {}", tfl::name(made), tfl::name(type_of(0))));
    }
    if (op_.code.builtin == Op::QUANTIZE && type_of(0) == Type::INT32) refuse_wide();
  }

 private:
  Type type_of(std::size_t input) const {
    const std::int32_t t = input < op_.inputs.size() ? op_.inputs[input] : tfl::kNoTensor;
    return t == tfl::kNoTensor ? Type::FLOAT32 : graph_.tensors[static_cast<std::size_t>(t)].type;
  }

  [[noreturn]] void fail(const std::string& why) const {
    const std::int32_t made = op_.outputs.empty() ? tfl::kNoTensor : op_.outputs[0];
    const std::string name = made == tfl::kNoTensor ? "" : graph_.tensors[static_cast<std::size_t>(made)].name;
    throw Error(Code::internal,
                fmt::format("the operator {} that makes '{}' {}", tfl::describe(op_.code), name, why));
  }

  [[noreturn]] void refuse(std::size_t input) const {
    fail(fmt::format("has an input {} of {}, which TFLite's kernel does not take", input, tfl::name(type_of(input))));
  }

  /// Integers of 32 bits become narrower ones, no others.
  void refuse_wide() const {
    const Type to = graph_.tensors[static_cast<std::size_t>(op_.outputs.at(0))].type;
    if (to != Type::INT8 && to != Type::INT16) refuse(0);
  }

  const tfl::SubGraph& graph_;
  const tfl::Operator& op_;
};

}  // namespace

void check_types(const tfl::Model& model) {
  for (const tfl::SubGraph& graph : model.subgraphs)
    for (const tfl::Operator& op : graph.operators) Checker(graph, op).run();
}

bool has_known_types(const tfl::Model& model) try {
  check_types(model);
  return true;
} catch (const Error&) {
  return false;
}

}  // namespace ingot::backends::tflite
