// Outputs that runtimes would not fill by themselves.
#include "ingot/backends/tflite/settle_outputs.h"

#include <algorithm>

#include "ingot/backends/tflite/links.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;

/// x and x, by an operator that is computed in the run: what passes the elements on may not be.
Operator copy_of(std::int32_t x, std::int32_t y, TensorType type) {
  Operator copy;
  copy.code.builtin = type == TensorType::BOOL ? Op::LOGICAL_OR : Op::MAXIMUM;
  copy.options = Options(copy.code.builtin);
  copy.inputs = {x, x};
  copy.outputs = {y};
  return copy;
}

class Settling {
 public:
  explicit Settling(Output& output) : output_(output), graph_(output.model.subgraphs[0]), links_(graph_) {}

  void run() {
    find_data();
    gone_.resize(graph_.operators.size());
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      std::int32_t& t = graph_.outputs[i];
      const bool is_second = std::find(graph_.outputs.begin(), graph_.outputs.begin() + static_cast<std::ptrdiff_t>(i),
                                       t) != graph_.outputs.begin() + static_cast<std::ptrdiff_t>(i);
      if (is_second)
        t = copied(t);
      else if (!is_constant_copy(t))
        make_in_run(t);
    }
    drop(graph_, gone_);
    for (Operator& op : added_) graph_.operators.push_back(std::move(op));
  }

 private:
  fmt_tflite::Tensor& tensor(std::int32_t i) { return graph_.tensors[static_cast<std::size_t>(i)]; }
  int maker(std::int32_t t) const { return links_.maker[static_cast<std::size_t>(t)]; }
  Operator& op(int i) { return graph_.operators[static_cast<std::size_t>(i)]; }

  /// Which tensors depend on what the inputs hold, not on their sizes alone.
  void find_data() {
    has_data_.resize(graph_.tensors.size());
    for (const std::int32_t t : graph_.inputs) has_data_[static_cast<std::size_t>(t)] = true;
    for (const Operator& o : graph_.operators) {
      bool has = o.code.builtin == Op::CUSTOM;
      if (o.code.builtin != Op::SHAPE && o.code.builtin != Op::RANK)
        for (const std::int32_t t : o.inputs) has |= t >= 0 && has_data_[static_cast<std::size_t>(t)];
      for (const std::int32_t t : o.outputs)
        if (t >= 0) has_data_[static_cast<std::size_t>(t)] = has;
    }
  }

  std::int32_t copied(std::int32_t t) {
    constexpr TensorType kTypes[] = {TensorType::FLOAT32, TensorType::INT32, TensorType::INT64,
                                     TensorType::INT8,    TensorType::UINT8, TensorType::BOOL};
    if (std::ranges::find(kTypes, tensor(t).type) == std::end(kTypes)) return t;
    fmt_tflite::Tensor again = tensor(t);
    again.name += "/copy";
    graph_.tensors.push_back(std::move(again));
    const auto y = static_cast<std::int32_t>(graph_.tensors.size() - 1);
    added_.push_back(copy_of(t, y, tensor(t).type));
    return y;
  }

  /// A copy of a constant is the constant, under the name of the output.
  bool is_constant_copy(std::int32_t t) {
    const int i = maker(t);
    if (i < 0 || op(i).code.builtin != Op::RESHAPE || tensor(t).type == TensorType::STRING) return false;
    const fmt_tflite::Tensor& x = tensor(op(i).inputs[0]);
    if (fmt_tflite::constant_data(output_.model, x).empty() || !tensor(t).shape_signature.empty()) return false;
    const bool is_last = std::ranges::count(gone_, false) == 1;  // a file without operators is not for every runtime
    if (links_.readers[static_cast<std::size_t>(t)] != 1 || is_last) return false;
    tensor(t).buffer = x.buffer;
    gone_[static_cast<std::size_t>(i)] = true;
    return true;
  }

  void make_in_run(std::int32_t& t) {
    const int i = maker(t);
    const TensorType type = tensor(t).type;
    if (i < 0 || (type != TensorType::INT32 && type != TensorType::INT64 && type != TensorType::BOOL)) return;
    if (has_data_[static_cast<std::size_t>(t)]) return;
    // What makes the output makes another tensor, which is copied.
    fmt_tflite::Tensor before = tensor(t);
    before.name += "/made";
    graph_.tensors.push_back(std::move(before));
    const auto x = static_cast<std::int32_t>(graph_.tensors.size() - 1);
    for (Operator& o : graph_.operators) {
      std::ranges::replace(o.inputs, t, x);
      std::ranges::replace(o.outputs, t, x);
    }
    added_.push_back(copy_of(x, t, type));
  }

  Output& output_;
  SubGraph& graph_;
  Links links_;
  std::vector<bool> has_data_, gone_;
  std::vector<Operator> added_;
};

}  // namespace

void settle_outputs(Output& output) { Settling(output).run(); }

}  // namespace ingot::backends::tflite
