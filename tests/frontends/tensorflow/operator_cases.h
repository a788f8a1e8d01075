#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ingot/formats/tensorflow/graph_def.h"
#include "ingot/ir/array.h"

namespace ingot::test {

/// One operator with inputs and the values that it must give.
struct OperatorCase {
  struct Tensor {
    std::string name;
    Array value;
  };
  /// An output of random numbers: what its mean and standard deviation must be, and how far off they may be.
  struct Distribution {
    std::string name;
    DType dtype = DType::f32;
    Dims dims;
    double mean = 0, deviation = 1, slack = 0.1;
  };
  std::string name;
  std::string place;  // file and line
  std::string text;   // the graph as protobuf text
  std::vector<Tensor> inputs, outputs;
  std::vector<Tensor> variables;                            // what the checkpoint would hold
  std::vector<std::pair<std::string, std::string>> assets;  // files beside the model
  std::vector<Distribution> distributions;
  std::vector<std::string> makes;  // operators that the model must have; then it has no Loop
  bool keeps_sizes = false;        // the operator needs to know the sizes of its inputs
};

/// All cases of numpy_cases.txt, python_cases.txt and hand_cases.txt. They read
///   case Cholesky
///   in x float [2,2] 4 2 2 3
///   const k int32 [] 1
///   node y Cholesky x T=type:float
///   out y float [2,2] 2 0 1 1.4142135
/// A value is a number or a quoted text; an attribute is i:, f:, s:, b:, type:, shape:, li:, lf:, ls: or func: and the
/// value. "random y float [1000] 0 1 0.1" states mean, deviation and slack. "sized": only with the sizes of the inputs
/// known. "makes LSTM": the model has that operator and no Loop. "text" puts protobuf text into the graph as it is,
/// "variable" is a value from the checkpoint, "asset name text" a file.
std::vector<OperatorCase> read_operator_cases();

/// Operators, each with the attributes that were seen, as "name=value".
using Operators = std::map<std::string, std::set<std::string>>;

/// Converts, checks, runs, compares (rtol 1e-4, atol 1e-5; whatever is no real number exactly). Empty: all is well, and
/// the operators of the graph are added.
std::string run_operator_case(const OperatorCase& c, bool is_open, Operators* operators = nullptr);

}  // namespace ingot::test
