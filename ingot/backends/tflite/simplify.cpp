// Fewer operators for the same numbers.
#include "ingot/backends/tflite/simplify.h"

#include <algorithm>
#include <cstring>

#include "ingot/backends/tflite/links.h"
#include "ingot/backends/tflite/pack.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;

class Simplifier {
 public:
  Simplifier(Output& output, SubGraph& graph) : output_(output), graph_(graph) {}

  void run() {
    link();
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      Operator& op = graph_.operators[i];
      if (op.code.builtin == Op::RESHAPE) reshape(op);
      if (op.code.builtin == Op::TRANSPOSE) transpose(op);
      if (op.code.builtin == Op::FULLY_CONNECTED && !op.options.get_bool("keep_num_dims")) flatten(op);
      if (op.code.builtin == Op::RESHAPE) keep_dimensions(op);
      if (op.code.builtin == Op::BATCH_MATMUL) adjoint(op);
      if (op.code.builtin == Op::CAST) cast(op);
      if (op.code.builtin == Op::CAST) truth_of_all(op);
      if (op.code.builtin == Op::DIV) reciprocal_root(op);
      if (op.code.builtin == Op::DIV) floor_division(op);
      if (op.code.builtin == Op::MUL) squared_difference(op);
    }
    skip_same();
    drop_unread();
  }

 private:
  fmt_tflite::Tensor& tensor(std::int32_t i) { return graph_.tensors[static_cast<std::size_t>(i)]; }
  Operator* maker(std::int32_t t) {
    const int i = maker_[static_cast<std::size_t>(t)];
    return i < 0 ? nullptr : &graph_.operators[static_cast<std::size_t>(i)];
  }
  bool is_output(std::int32_t t) const { return std::ranges::find(graph_.outputs, t) != graph_.outputs.end(); }
  bool is_input(std::int32_t t) const { return std::ranges::find(graph_.inputs, t) != graph_.inputs.end(); }

  void link() {
    Links links(graph_);
    maker_ = std::move(links.maker);
    readers_ = std::move(links.readers);
  }

  void read_instead(Operator& op, std::int32_t t) {
    --readers_[static_cast<std::size_t>(op.inputs[0])];
    ++readers_[static_cast<std::size_t>(t)];
    op.inputs[0] = t;
  }

  /// The same bytes under other parameters are made by a reshape: such a one must stay.
  bool mean_the_same(std::int32_t a, std::int32_t b) {
    const auto &x = tensor(a).quantization, &y = tensor(b).quantization;
    return tensor(a).type == tensor(b).type && (!x || !y || (x->scale == y->scale && x->zero_point == y->zero_point));
  }

  // Reshape(Reshape(x, s), t) = Reshape(x, t)
  void reshape(Operator& op) {
    const Operator* before = maker(op.inputs[0]);
    if (!before) return;
    const Op kind = before->code.builtin;
    if (kind != Op::RESHAPE && kind != Op::EXPAND_DIMS && kind != Op::SQUEEZE) return;
    if (mean_the_same(before->inputs[0], op.inputs[0]) && mean_the_same(before->inputs[0], op.outputs[0]))
      read_instead(op, before->inputs[0]);
  }

  void become(Operator& op, Op kind, std::vector<std::int32_t> inputs, Options options) {
    for (const std::int32_t t : op.inputs) --readers_[static_cast<std::size_t>(t)];
    for (const std::int32_t t : inputs) ++readers_[static_cast<std::size_t>(t)];
    op.code.builtin = kind;
    op.code.version = 1;
    op.inputs = std::move(inputs);
    op.options = std::move(options);
  }

  static bool widens(TensorType from, TensorType to) {
    return (from == TensorType::INT32 && to == TensorType::INT64) ||
           (from == TensorType::FLOAT32 && to == TensorType::FLOAT64) ||
           (from == TensorType::FLOAT16 && to == TensorType::FLOAT32);
  }

  // Cast(Cast(x, wide), narrow) = x, also around a reshape.
  void cast(Operator& op) {
    const Operator* before = maker(op.inputs[0]);
    const Operator* shape = before && before->code.builtin == Op::RESHAPE ? before : nullptr;
    if (shape) before = maker(shape->inputs[0]);
    if (!before || before->code.builtin != Op::CAST) return;
    const std::int32_t x = before->inputs[0];
    if (tensor(x).type != tensor(op.outputs[0]).type || !widens(tensor(x).type, tensor(before->outputs[0]).type))
      return;
    if (!shape) return read_instead(op, x);
    std::vector<std::int32_t> inputs = shape->inputs;
    inputs[0] = x;
    become(op, Op::RESHAPE, std::move(inputs), shape->options);
  }

  // bool(ReduceMin(int(x))) = ReduceAll(x), and so of ReduceMax and any
  void truth_of_all(Operator& op) {
    const Operator* reduction = maker(op.inputs[0]);
    if (!reduction || tensor(op.outputs[0]).type != TensorType::BOOL) return;
    const bool is_all = reduction->code.builtin == Op::REDUCE_MIN;
    if (!is_all && reduction->code.builtin != Op::REDUCE_MAX) return;
    const Operator* numbers = maker(reduction->inputs[0]);
    if (!numbers || numbers->code.builtin != Op::CAST || tensor(numbers->inputs[0]).type != TensorType::BOOL) return;
    const Op kind = is_all ? Op::REDUCE_ALL : Op::REDUCE_ANY;
    Options options(kind);
    options.set("keep_dims", reduction->options.get_bool("keep_dims"));
    become(op, kind, {numbers->inputs[0], reduction->inputs[1]}, std::move(options));
  }

  // (a - FloorMod(a, b)) / b = FloorDiv(a, b) of integers
  void floor_division(Operator& op) {
    const Operator* multiple = maker(op.inputs[0]);
    if (!multiple || multiple->code.builtin != Op::SUB || activation(op) || activation(*multiple)) return;
    if (tensor(op.outputs[0]).type != TensorType::INT32) return;
    const Operator* rest = maker(multiple->inputs[1]);
    if (!rest || rest->code.builtin != Op::FLOOR_MOD) return;
    if (rest->inputs[0] != multiple->inputs[0] || rest->inputs[1] != op.inputs[1]) return;
    become(op, Op::FLOOR_DIV, {rest->inputs[0], rest->inputs[1]}, Options(Op::FLOOR_DIV));
  }

  // FULLY_CONNECTED makes rows of its input by itself.
  void flatten(Operator& op) {
    const Operator* before = maker(op.inputs[0]);
    if (!before || before->code.builtin != Op::RESHAPE || !mean_the_same(before->inputs[0], op.inputs[0])) return;
    if (!tensor(before->inputs[0]).shape.empty()) read_instead(op, before->inputs[0]);
  }

  // Reshape(FULLY_CONNECTED(x)) with the dimensions of x: it keeps them by itself. The reshape is left with nothing to
  // do.
  void keep_dimensions(Operator& op) {
    Operator* before = maker(op.inputs[0]);
    if (!before || before->code.builtin != Op::FULLY_CONNECTED || readers_[static_cast<std::size_t>(op.inputs[0])] != 1)
      return;
    const fmt_tflite::Tensor &x = tensor(before->inputs[0]), &w = tensor(before->inputs[1]), &y = tensor(op.outputs[0]);
    if (before->options.get_bool("keep_num_dims") || !mean_the_same(op.inputs[0], op.outputs[0])) return;
    if (!x.shape_signature.empty() || !y.shape_signature.empty() || w.shape.size() != 2 || x.shape.size() < 3) return;
    std::vector<std::int64_t> kept = x.shape;
    if (kept.back() != w.shape[1]) return;
    kept.back() = w.shape[0];
    if (y.shape != kept) return;
    before->options.set("keep_num_dims", true);
    before->code.version = std::max(before->code.version, 2);
    tensor(op.inputs[0]).shape = kept;
  }

  std::optional<std::vector<std::int32_t>> constant_ints(std::int32_t t) {
    const Bytes bytes = fmt_tflite::constant_data(output_.model, tensor(t));
    if (bytes.empty() || tensor(t).type != TensorType::INT32) return std::nullopt;
    std::vector<std::int32_t> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), 4 * values.size());
    return values;
  }

  // Transpose(Transpose(x, p), q) = Transpose(x, p[q])
  void transpose(Operator& op) {
    const Operator* before = maker(op.inputs[0]);
    if (!before || before->code.builtin != Op::TRANSPOSE || !mean_the_same(before->inputs[0], op.outputs[0])) return;
    const auto first = constant_ints(before->inputs[1]), second = constant_ints(op.inputs[1]);
    if (!first || !second || first->size() != second->size()) return;
    std::vector<std::int32_t> both;
    for (const std::int32_t axis : *second) both.push_back((*first)[static_cast<std::size_t>(axis)]);
    fmt_tflite::Tensor order = tensor(op.inputs[1]);
    order.name += "/joined";
    order.buffer = output_.buffer(Bytes::copy(std::as_bytes(std::span(both))));
    graph_.tensors.push_back(std::move(order));
    maker_.push_back(-1);
    readers_.push_back(1);
    op.inputs[1] = static_cast<std::int32_t>(graph_.tensors.size() - 1);
    read_instead(op, before->inputs[0]);
  }

  // BATCH_MATMUL turns its matrices by itself.
  void adjoint(Operator& op) {
    for (const std::size_t i : {0U, 1U}) {
      const Operator* before = maker(op.inputs[i]);
      if (!before || before->code.builtin != Op::TRANSPOSE || !mean_the_same(before->inputs[0], op.inputs[i])) continue;
      auto order = constant_ints(before->inputs[1]);
      if (!order || order->size() < 2) continue;
      std::swap(order->end()[-1], order->end()[-2]);
      if (!std::ranges::is_sorted(*order)) continue;
      const char* option = i == 0 ? "adj_x" : "adj_y";
      op.options.set(option, !op.options.get_bool(option));
      --readers_[static_cast<std::size_t>(op.inputs[i])];
      ++readers_[static_cast<std::size_t>(before->inputs[0])];
      op.inputs[i] = before->inputs[0];
    }
  }

  bool is_one(std::int32_t t) {
    const Bytes bytes = fmt_tflite::constant_data(output_.model, tensor(t));
    float value = 0;
    if (tensor(t).type != TensorType::FLOAT32 || bytes.size() != sizeof value) return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value == 1;
  }

  // 1 / Sqrt(x) = Rsqrt(x)
  void reciprocal_root(Operator& op) {
    const Operator* root = maker(op.inputs[1]);
    if (!root || root->code.builtin != Op::SQRT || !is_one(op.inputs[0])) return;
    if (tensor(op.inputs[0]).shape.size() > tensor(op.outputs[0]).shape.size() || activation(op)) return;
    become(op, Op::RSQRT, {root->inputs[0]}, Options(Op::RSQRT));
  }

  // (a - b) * (a - b) = SquaredDifference(a, b)
  void squared_difference(Operator& op) {
    const Operator* difference = maker(op.inputs[0]);
    if (op.inputs[0] != op.inputs[1] || !difference || difference->code.builtin != Op::SUB) return;
    if (readers_[static_cast<std::size_t>(op.inputs[0])] != 2 || activation(*difference) || activation(op)) return;
    if (tensor(op.outputs[0]).type != TensorType::FLOAT32) return;
    become(op, Op::SQUARED_DIFFERENCE, difference->inputs, Options(Op::SQUARED_DIFFERENCE));
  }

  static bool activation(const Operator& op) { return op.options.get_int("fused_activation_function") != 0; }

  /// A reshape to the shape that is there, a transpose that moves nothing, or a cast to the same type.
  bool changes_nothing(const Operator& op) {
    if (op.code.builtin == Op::RESHAPE) {
      const fmt_tflite::Tensor &x = tensor(op.inputs[0]), &y = tensor(op.outputs[0]);
      // One open size follows from the others.
      return x.shape == y.shape && x.shape_signature == y.shape_signature && x.has_rank && y.has_rank &&
             std::ranges::count(x.shape_signature, -1) <= 1 && mean_the_same(op.inputs[0], op.outputs[0]);
    }
    if (op.code.builtin == Op::CAST) return tensor(op.inputs[0]).type == tensor(op.outputs[0]).type;
    if (op.code.builtin != Op::TRANSPOSE || !mean_the_same(op.inputs[0], op.outputs[0])) return false;
    const auto order = constant_ints(op.inputs[1]);
    return order && std::ranges::is_sorted(*order);
  }

  void skip_same() {
    std::vector<std::int32_t> stands_for(graph_.tensors.size());
    for (std::size_t i = 0; i < stands_for.size(); ++i) stands_for[i] = static_cast<std::int32_t>(i);
    const auto resolved = [&](std::int32_t t) {
      while (t >= 0 && stands_for[static_cast<std::size_t>(t)] != t) t = stands_for[static_cast<std::size_t>(t)];
      return t;
    };
    std::vector<bool> gone(graph_.operators.size());
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      const Operator& op = graph_.operators[i];
      if (!changes_nothing(op)) continue;
      const std::int32_t x = resolved(op.inputs[0]), y = op.outputs[0];
      const bool is_made = maker(x) != nullptr && !is_output(x) && !is_input(x);
      if (is_output(y)) {
        if (!is_made) continue;  // a name from outside to outside: somebody must carry it
        stands_for[static_cast<std::size_t>(x)] = y;
        if (!tensor(y).quantization) tensor(y).quantization = tensor(x).quantization;
      } else {
        stands_for[static_cast<std::size_t>(y)] = x;
        if (!tensor(x).quantization) tensor(x).quantization = tensor(y).quantization;
      }
      gone[i] = true;
    }
    for (Operator& op : graph_.operators) {
      for (std::int32_t& t : op.inputs) t = resolved(t);
      for (std::int32_t& t : op.outputs) t = resolved(t);
    }
    drop(graph_, gone);
  }

  /// What nobody reads any more, from the end to the beginning.
  void drop_unread() {
    link();
    std::vector<bool> gone(graph_.operators.size());
    for (std::size_t i = graph_.operators.size(); i-- > 0;) {
      const Operator& op = graph_.operators[i];
      const auto is_read = [&](std::int32_t t) { return t >= 0 && readers_[static_cast<std::size_t>(t)] != 0; };
      // A custom operator may do more than its outputs tell.
      if (op.code.builtin == Op::CUSTOM || op.outputs.empty() || std::ranges::any_of(op.outputs, is_read)) continue;
      gone[i] = true;
      for (const std::int32_t t : op.inputs)
        if (t >= 0) --readers_[static_cast<std::size_t>(t)];
    }
    drop(graph_, gone);
  }

  Output& output_;
  SubGraph& graph_;
  std::vector<int> maker_, readers_;
};

}  // namespace

void simplify(Output& output) {
  for (SubGraph& graph : output.model.subgraphs) {
    pack(graph);
    Simplifier(output, graph).run();
  }
}

}  // namespace ingot::backends::tflite
