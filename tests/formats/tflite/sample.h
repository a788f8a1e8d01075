#pragma once
#include <bit>
#include <cstring>
#include <span>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/model.h"

namespace ingot::formats::tflite {

template <class T> Bytes bytes_from(std::initializer_list<T> values) {
  return Bytes::copy(std::as_bytes(std::span(values.begin(), values.size())));
}

/// x[1,4] -> FULLY_CONNECTED(w[2,4], b[2]) -> y[1,2]
inline Model sample_model() {
  const auto tensor = [](std::string name, std::vector<std::int64_t> shape, std::uint32_t buffer) {
    Tensor t;
    t.name = std::move(name);
    t.shape = std::move(shape);
    t.buffer = buffer;
    return t;
  };
  Model model;
  model.description = "sample";
  model.buffers = {Bytes(), bytes_from<float>({1, 2, 3, 4, 5, 6, 7, 8}), bytes_from<float>({9, 10}),
                   Bytes::own(std::string("1.14.0\0\0", 8))};
  SubGraph& graph = model.subgraphs.emplace_back();
  graph.name = "main";
  graph.tensors = {tensor("x", {1, 4}, 0), tensor("w", {2, 4}, 1), tensor("b", {2}, 2), tensor("y", {1, 2}, 0)};
  graph.inputs = {0};
  graph.outputs = {3};
  Operator& op = graph.operators.emplace_back();
  op.code.builtin = BuiltinOperator::FULLY_CONNECTED;
  op.inputs = {0, 1, 2};
  op.outputs = {3};
  op.options = Options(op.code.builtin).set("fused_activation_function", ActivationFunctionType::RELU6);
  model.metadata = {{"min_runtime_version", 3}};
  return model;
}

/// The error that `work` ends with; Code::internal and "no error" if it does not.
template <class Work> Error error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::internal, "no error");
}

}  // namespace ingot::formats::tflite
