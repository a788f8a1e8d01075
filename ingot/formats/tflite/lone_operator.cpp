// One operator as a file of its own.
#include "ingot/formats/tflite/lone_operator.h"

#include <algorithm>
#include <map>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"

namespace ingot::formats::tflite {

std::string lone_operator(const Model& model, const SubGraph& graph, const Operator& op,
                          const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs) {
  Model lone;
  lone.buffers.emplace_back();
  SubGraph& own = lone.subgraphs.emplace_back();
  std::map<std::int32_t, std::int32_t> places{{kNoTensor, kNoTensor}};
  const auto place = [&](std::int32_t t) {
    const auto [found, is_new] = places.try_emplace(t, static_cast<std::int32_t>(own.tensors.size()));
    if (!is_new) return found->second;
    const Tensor& source = graph.tensors.at(static_cast<std::size_t>(t));
    Tensor copy = source;
    copy.buffer = copy.external_buffer = 0;
    copy.sparsity.reset();  // the carrier has all elements
    const bool is_handed_in = std::ranges::find(inputs, t) != inputs.end();
    if (const Bytes data = constant_data(model, source); !data.empty() && !is_handed_in && !source.is_variable) {
      if (source.sparsity) throw Error(Code::unsupported_setting, "'" + source.name + "' is sparse");
      lone.buffers.push_back(data);
      copy.buffer = static_cast<std::uint32_t>(lone.buffers.size() - 1);
    }
    if (copy.quantization && copy.quantization->details.index() != 0)
      throw Error(Code::unsupported_setting, "'" + source.name + "' is quantised by other tensors");
    own.tensors.push_back(std::move(copy));
    return found->second;
  };
  const auto placed = [&](const std::vector<std::int32_t>& tensors) {
    std::vector<std::int32_t> all;
    for (const std::int32_t t : tensors) all.push_back(place(t));
    return all;
  };
  Operator copy = op;
  copy.debug_metadata_index = -1;
  copy.inputs = placed(op.inputs);
  copy.outputs = placed(op.outputs);
  copy.intermediates = placed(op.intermediates);
  own.inputs = placed(inputs);
  own.outputs = placed(outputs);
  own.operators.push_back(std::move(copy));
  return to_bytes(lone);
}

Model read_lone_operator(const Bytes& file) {
  Model lone = read(file);
  const bool is_one = lone.subgraphs.size() == 1 && lone.subgraphs[0].operators.size() == 1;
  if (!is_one || std::ranges::count(lone.subgraphs[0].operators[0].outputs, kNoTensor) > 0)
    throw Error(Code::bad_source_graph, "this is not one operator with all of its outputs");
  return lone;
}

}  // namespace ingot::formats::tflite
