// Weights alone: stored in few bits, computed with as floats.
#include <unordered_map>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/vendor/packed_bits.h"
#include "ingot/passes/quantize/choice.h"
#include "ingot/passes/quantize/ranged.h"
#include "ingot/passes/quantize/scales.h"

namespace ingot::passes::quantize_parts {
namespace {

/// Where the weight is, and along which axes it has scales.
struct Place {
  std::size_t input;
  std::int64_t outputs, summed;  // axes
};

Place place_of(const Node& node) {
  if (node.op == "Gather") return {0, 0, 1};
  if (node.op == "Gemm" && node.attributes.int_or("transB", 0)) return {1, 0, 1};
  if (node.op == "Conv") return {1, 0, 1};
  if (node.op == "ConvTranspose") return {1, 1, 0};
  return {1, 1, 0};
}

bool is_for_weights(const Node& node) {
  return role_of(node) == Role::product || (node.is("Gather") && node.attributes.int_or("axis", 0) == 0);
}

class Storing {
 public:
  Storing(Model& model, const QuantizeOptions& options) : model_(model), graph_(*model.graph), options_(options) {}

  QuantizeReport run() {
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes())
      if (is_for_weights(node) && is_float(node.output(0))) nodes.push_back(&node);
    for (Node* node : nodes) {
      const std::string why = why_not(*node);
      if (!why.empty()) {
        if (node->op != "Gather") report_.kept.push_back({node->label(), node->op, why});
        continue;
      }
      const std::string name = node->output(0)->name();
      report_.values.push_back({node->label(), node->op, name, name});
      if (options_.form == QuantizeForm::integer && fits_bits(*node))
        to_n_bits(*node);
      else
        dequantize(*node);
      ++report_.quantized;
    }
    return std::move(report_);
  }

 private:
  std::string why_not(const Node& node) const {
    const Tensor* weight = stored(node.input(place_of(node).input));
    if (!weight || weight->dtype() != DType::f32 || weight->rank() < 2) return "its weight is not stored as a matrix";
    constexpr std::int64_t kFewest = 32;
    if (weight->size() < kFewest) return "its weight is small";
    if (block_of(node) > 0 && weight->rank() != 2) return "its weight has no rows of blocks";
    if (node.op == "Gather" && weight->rank() != 2) return "its weight is no matrix";
    return why_left(node, options_);
  }

  /// Filters are small and have no rows to cut into blocks: 4 bits would cost them more than they save.
  static bool is_filter(const Node& node) { return node.op == "Conv" || node.op == "ConvTranspose"; }
  std::int64_t block_of(const Node& node) const { return is_filter(node) ? 0 : options_.block; }
  DType type_of(const Node& node) const {
    if (options_.bits != 4 || is_filter(node)) return options_.weights;
    return options_.weights == DType::u8 ? DType::u4 : DType::i4;
  }

  void dequantize(Node& node) {
    const Place place = place_of(node);
    Value* v = node.input(place.input);
    Value*& made = made_[v];
    if (!made) {
      const Tensor weight = *stored(v);
      const DType dtype = type_of(node);
      WeightGrid grid{.dtype = dtype, .axis = place.outputs, .block = block_of(node), .block_axis = place.summed};
      if (weight.rank() > 2 && node.op == "MatMul") grid.axis = weight.rank() - 1;
      if (!options_.is_per_channel && !grid.block) grid.axis = -1;
      grid.is_symmetric = dtype == DType::i8 || dtype == DType::i4;
      const QuantizedTensor q = quantized(weight, grid);
      Dims dims = grid.axis < 0 ? Dims{} : Dims{weight.dims()[static_cast<std::size_t>(grid.axis)]};
      if (grid.block > 0) {
        dims = weight.dims();
        auto& length = dims[static_cast<std::size_t>(place.summed)];
        length = (length + grid.block - 1) / grid.block;
      }
      Value* whole = graph_.add_initializer(graph_.fresh_name(v->name() + "_quantized"), q.values);
      Value* scale = graph_.add_initializer(graph_.fresh_name(v->name() + "_scale"), Tensor::of<float>(dims, q.scales));
      Values inputs = {whole, scale};
      if (!grid.is_symmetric)
        inputs.push_back(
            graph_.add_initializer(graph_.fresh_name(v->name() + "_zero_point"), packed(dtype, dims, q.zero_points)));
      Attrs attrs;
      if (grid.block > 0)
        attrs = {{"axis", place.summed}, {"block_size", grid.block}};
      else if (grid.axis >= 0)
        attrs = {{"axis", grid.axis}};
      GraphBuilder g(graph_, graph_.first());
      g.name_after(v->name() + "_dequantized");
      made = g.op("DequantizeLinear", inputs, attrs);
      const std::uint64_t bytes = q.values.bytes().size() + q.scales.size() * sizeof(float);
      report_.weights.push_back({v->name(), weight.bytes().size(), bytes, q.noise});
    }
    node.set_input(place.input, made);
  }

  bool fits_bits(const Node& node) const {
    const bool is_power = options_.block >= 16 && options_.block <= 256 && (options_.block & (options_.block - 1)) == 0;
    const bool is_plain =
        node.op == "MatMul" || (node.op == "Gemm" && node.attributes.int_or("transA", 0) == 0 &&
                                node.attributes.float_or("alpha", 1) == 1 && node.attributes.float_or("beta", 1) == 1);
    return is_power && is_plain && stored(node.input(1))->rank() == 2;
  }

  /// Rows of outputs, each in blocks of a power of two; low bits first.
  void to_n_bits(Node& node) {
    const Tensor weight = *stored(node.input(1));
    const std::string name = node.input(1)->name(), scope = node.output(0)->name();
    const Place place = place_of(node);
    const bool is_by_row = place.outputs == 0;
    const std::int64_t k = weight.dims()[is_by_row ? 1 : 0], n = weight.dims()[is_by_row ? 0 : 1],
                       blocks = (k + options_.block - 1) / options_.block;
    WeightGrid grid{.dtype = options_.bits == 4 ? DType::u4 : DType::u8,
                    .axis = place.outputs,
                    .block = options_.block,
                    .block_axis = place.summed};
    const QuantizedTensor q = quantized(weight, grid);
    const std::vector<std::int64_t> integers = q.values.to_ints();
    const ops::NBits form{k, n, options_.bits, options_.block};
    const Tensor bytes = ops::packed_weights(form, [&](std::int64_t row, std::int64_t i) {
      return integers[static_cast<std::size_t>(is_by_row ? row * k + i : i * n + row)];
    });
    std::vector<float> scales(static_cast<std::size_t>(n * blocks));
    for (std::int64_t row = 0; row < n; ++row)
      for (std::int64_t b = 0; b < blocks; ++b)
        scales[static_cast<std::size_t>(row * blocks + b)] =
            q.scales[static_cast<std::size_t>(is_by_row ? row * blocks + b : b * n + row)];
    report_.weights.push_back(
        {name, weight.bytes().size(), bytes.bytes().size() + scales.size() * sizeof(float), q.noise});
    Value* packed_value = graph_.add_initializer(graph_.fresh_name(name + "_quantized"), bytes);
    Value* scale = graph_.add_initializer(graph_.fresh_name(name + "_scale"), Tensor::of<float>({n, blocks}, scales));
    GraphBuilder g(graph_, &node);
    g.name_after(scope);
    const Attrs attrs = {{"K", k}, {"N", n}, {"bits", options_.bits}, {"block_size", options_.block}};
    Node* made = g.node("MatMulNBits", "com.microsoft", {node.input(0), packed_value, scale}, attrs, 1);
    model_.opsets.set("com.microsoft", 1);
    made->output(0)->type = node.output(0)->type;
    replace_node(node, {node.op == "Gemm" && node.input(2) ? g.add(made->output(0), node.input(2)) : made->output(0)});
  }

  Model& model_;
  Graph& graph_;
  const QuantizeOptions& options_;
  std::unordered_map<const Value*, Value*> made_;
  QuantizeReport report_;
};

}  // namespace

QuantizeReport quantize_weights(Model& model, const QuantizeOptions& options) { return Storing(model, options).run(); }

}  // namespace ingot::passes::quantize_parts
