#pragma once
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/ir/model.h"

namespace ingot::test {

/// One drawn use of an operator: a model of a node, with its inputs.
class VendorCase {
 public:
  /// `floats` is the type of what floats() draws.
  VendorCase(std::string op, std::string domain, unsigned seed, DType floats = DType::f32);

  // Draws.
  std::int64_t number(std::int64_t least, std::int64_t most);
  bool chance(double p) { return number(0, 999) < static_cast<std::int64_t>(p * 1000); }
  template <class T> const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(number(0, std::ssize(choices) - 1))];
  }
  Tensor floats(Dims dims, double least = -1, double most = 1);
  Tensor integers(DType dtype, Dims dims, std::int64_t least, std::int64_t most);

  // Inputs of the node, in their order; a weight is stored in the model.
  void input(Tensor value);
  void weight(Tensor value);
  void absent();
  std::size_t input_count() const { return slots_.size(); }
  void attribute(Attribute attribute);
  /// So many outputs; those whose bit is not set are not produced.
  void outputs(std::size_t count, unsigned produced = ~0u);
  /// What ONNX Runtime leaves in this output is undefined in part: only the others are compared.
  void leave_open(std::size_t output);
  bool is_open(std::string_view output) const;
  /// ONNX Runtime wants the output where the input is.
  void in_place(std::size_t output, std::size_t input);

  Model model() const;
  const std::vector<engine::NamedDatum>& inputs() const { return inputs_; }
  const std::vector<std::pair<std::string, std::string>>& in_place() const { return in_place_; }
  std::string text() const;

  std::int64_t opset = 21;  // of ai.onnx
  double scale = 1e-4;      // of the outputs' scale that they may differ; in half precision more
  std::int64_t steps = 1;   // that 8-bit integers may differ

 private:
  struct Slot {
    std::string name;
    Tensor value;
    bool is_weight;
  };
  std::string op_, domain_;
  DType float_type_;
  std::mt19937 engine_;
  std::vector<Slot> slots_;
  std::vector<engine::NamedDatum> inputs_;
  std::vector<std::pair<std::string, std::string>> in_place_;
  std::vector<std::function<void(Node&)>> attributes_;
  std::string attribute_text_;
  std::vector<bool> outputs_{true};
  std::vector<std::string> open_;
};

struct VendorOperator {
  std::string op;
  void (*draw)(VendorCase&);
  std::string domain = "com.microsoft";
  DType floats = DType::f32;
  std::string name() const { return floats == DType::f32 ? op : op + "_" + std::string(name_of(floats)); }
};
const std::vector<VendorOperator>& vendor_operators();
const std::vector<VendorOperator>& vendor_quantized_operators();
const std::vector<VendorOperator>& vendor_sequence_operators();
const std::vector<VendorOperator>& vendor_state_operators();

}  // namespace ingot::test
