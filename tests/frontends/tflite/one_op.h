#pragma once
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ingot/engine/session.h"
#include "ingot/formats/tflite/model.h"
#include "ingot/frontends/tflite/import.h"
#include "ingot/frontends/tflite/op.h"

namespace ingot::frontends::tflite {

using enum formats::tflite::TensorType;

/// An input of a model of one operator; constants are part of the model.
struct In {
  std::vector<std::int64_t> dims{};
  std::vector<double> values{};
  formats::tflite::TensorType type = FLOAT32;
  bool is_constant = false;
  std::optional<formats::tflite::Quantization> quantization{};
};

inline In constant(std::vector<std::int64_t> dims, std::vector<double> values,
                   formats::tflite::TensorType type = FLOAT32) {
  return {std::move(dims), std::move(values), type, true, {}};
}
inline In numbers(std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return constant({count}, std::move(values), INT32);
}
inline In number(double value) { return constant({}, {value}, INT32); }
inline In quantized(In in, float scale, std::int64_t zero, formats::tflite::TensorType type = INT8) {
  in.type = type;
  in.quantization = formats::tflite::Quantization{{}, {}, {scale}, {zero}, 0, {}};
  return in;
}

inline Tensor packed(const In& in) {
  const DType dtype = dtype_for(in.type);
  const Tensor wide = Tensor::of<double>(in.dims, in.values);
  if (is_integer(dtype)) return integer_tensor(wide, dtype);
  if (dtype == DType::boolean) {
    std::vector<std::byte> bytes;
    for (const double v : in.values) bytes.push_back(static_cast<std::byte>(v != 0));
    return Tensor(dtype, in.dims, Bytes::own(std::move(bytes)));
  }
  return float_tensor(in.dims, in.values);
}

/// What an operator (a builtin one, or a custom one of version 2) makes of its inputs, in Ingot's engine. `outputs`
/// says the types (and quantisation) of the results.
inline std::vector<Array> run_op(std::string_view op, const formats::tflite::Options& options,
                                 const std::vector<In>& inputs, const std::vector<In>& outputs = {In{}},
                                 const Bytes& custom_options = {}) {
  namespace tfl = formats::tflite;
  tfl::Model model;
  model.buffers.emplace_back();
  tfl::SubGraph& graph = model.subgraphs.emplace_back();
  tfl::Operator& made = graph.operators.emplace_back();
  if (const auto builtin = tfl::builtin_operator(op)) {
    made.code.builtin = *builtin;
  } else {
    made.code = {tfl::BuiltinOperator::CUSTOM, std::string(op), 2};
    made.custom_options = custom_options;
  }
  made.options = options;
  std::vector<engine::NamedDatum> feeds;
  const auto add = [&](const In& in, const std::string& name) {
    tfl::Tensor& t = graph.tensors.emplace_back();
    t.name = name;
    t.type = in.type;
    t.shape = in.dims;
    t.has_rank = true;
    t.quantization = in.quantization;
    return static_cast<std::int32_t>(graph.tensors.size() - 1);
  };
  for (const In& in : inputs) {
    const std::string name = "x" + std::to_string(graph.tensors.size());
    const std::int32_t index = add(in, name);
    made.inputs.push_back(index);
    const Tensor data = packed(in);
    if (in.is_constant) {
      graph.tensors.back().buffer = static_cast<std::uint32_t>(model.buffers.size());
      model.buffers.push_back(data.bytes());
    } else {
      graph.inputs.push_back(index);
      feeds.push_back({name, Array::from(data)});
    }
  }
  for (const In& out : outputs) {
    graph.outputs.push_back(add(out, "y" + std::to_string(graph.tensors.size())));
    made.outputs.push_back(graph.outputs.back());
  }
  const Imported imported = import_model(model);
  std::vector<Array> results;
  for (const auto& [name, datum] : engine::Session(imported.model).run(feeds)) results.push_back(*datum.array());
  return results;
}

inline std::vector<double> values_of(std::string_view op, const formats::tflite::Options& options,
                                     const std::vector<In>& inputs, const In& output = {}) {
  return run_op(op, options, inputs, {output}).at(0).to_doubles();
}
inline std::vector<double> values_of(std::string_view op, const std::vector<In>& inputs, const In& output = {}) {
  return values_of(op, formats::tflite::Options(*formats::tflite::builtin_operator(op)), inputs, output);
}

inline In of_type(formats::tflite::TensorType type) { return {{}, {}, type, false, {}}; }

MATCHER_P(IsNear, expected, "") {
  const std::vector<double> wanted = expected;
  if (arg.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(std::abs(arg[i] - wanted[i]) <= 1e-5 * std::max(1.0, std::abs(wanted[i])))) return false;
  return true;
}
inline auto near(std::vector<double> wanted) { return IsNear(std::move(wanted)); }

}  // namespace ingot::frontends::tflite
