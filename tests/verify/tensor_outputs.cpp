// Sequences and maps told by tensors.
#include "tests/verify/tensor_outputs.h"

#include <algorithm>
#include <map>

#include "ingot/ops/builder.h"

namespace ingot::test {
namespace {

const Datum& find(const std::vector<engine::NamedDatum>& all, const std::string& name) {
  static const Datum none;
  const auto it = std::ranges::find(all, name, &engine::NamedDatum::name);
  return it == all.end() ? none : it->value;
}

/// One map per row, keys in ascending order.
template <class Key> Datum maps_by(const std::vector<Key>& labels, const Array& scores) {
  const auto width = static_cast<std::int64_t>(labels.size());
  Sequence maps;
  for (std::int64_t row = 0; row * width < scores.size(); ++row) {
    std::map<Key, float> sorted;
    for (std::int64_t i = 0; i < width; ++i)
      sorted[labels[static_cast<std::size_t>(i)]] = scores.data<float>()[static_cast<std::size_t>(row * width + i)];
    MapData map;
    std::vector<float> values;
    for (const auto& [key, value] : sorted) {
      if constexpr (std::is_same_v<Key, std::string>)
        map.string_keys.push_back(key);
      else
        map.int_keys.push_back(key);
      values.push_back(value);
    }
    map.values = Array::of<float>({static_cast<std::int64_t>(values.size())}, values);
    maps.emplace_back(std::move(map));
  }
  return maps;
}

}  // namespace

TensorOutputs::TensorOutputs(const Model& model, const std::vector<engine::NamedDatum>& own) {
  model_ = model.clone();
  Graph& graph = *model_.graph;
  const Values before = graph.outputs();
  Values after;
  for (Value* output : before) {
    const Datum& result = find(own, output->name());
    Change change;
    change.output = output->name();
    const Node* node = output->producer();
    if (node && node->is("ZipMap", "ai.onnx.ml")) {
      if (const auto* labels = node->attributes.get<std::vector<std::string>>("classlabels_strings"))
        change.string_labels = *labels;
      change.int_labels = node->attributes.ints_or("classlabels_int64s", {});
      Value* scores = node->input(0);
      if (!scores->type.is_tensor()) scores->type = Type::tensor(DType::f32);
      change.tensors = {scores->name()};
      after.push_back(scores);
    } else if (result.sequence() && std::ranges::all_of(*result.sequence(), [](const Datum& d) { return d.array(); })) {
      GraphBuilder g(graph);
      Value* length = g.op("SequenceLength", {output});
      length->type = Type::tensor(DType::i64, Shape{});
      change.length = length->name();
      after.push_back(length);
      for (std::size_t i = 0; i < result.sequence()->size(); ++i) {
        Value* element = g.op("SequenceAt", {output, g.index(static_cast<std::int64_t>(i))});
        element->type = Type::tensor((*result.sequence())[i].array()->dtype());
        change.tensors.push_back(element->name());
        after.push_back(element);
      }
    } else {
      after.push_back(output);
      continue;
    }
    changes_.push_back(std::move(change));
  }
  graph.resize_outputs(0);
  for (std::size_t i = 0; i < after.size(); ++i)  // scores may be an output already
    if (std::find(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(i), after[i]) ==
        after.begin() + static_cast<std::ptrdiff_t>(i))
      graph.add_output(after[i]);
}

Datum TensorOutputs::sequence_of(const Change& change, const std::vector<engine::NamedDatum>& tensors) {
  Sequence sequence;
  for (const std::string& name : change.tensors) sequence.push_back(find(tensors, name));
  // Where it is longer or shorter, the comparison says so.
  if (const Array* length = find(tensors, change.length).array())
    sequence.resize(static_cast<std::size_t>(length->data<std::int64_t>()[0]));
  return sequence;
}

Datum TensorOutputs::maps_of(const Change& change, const Array& scores) {
  return change.string_labels.empty() ? maps_by(change.int_labels, scores) : maps_by(change.string_labels, scores);
}

std::vector<engine::NamedDatum> TensorOutputs::outputs(const std::vector<engine::NamedDatum>& tensors) const {
  std::vector<engine::NamedDatum> all;
  for (const engine::NamedDatum& tensor : tensors) {
    const bool is_part = std::ranges::any_of(changes_, [&](const Change& c) {
      return c.length == tensor.name || std::ranges::find(c.tensors, tensor.name) != c.tensors.end();
    });
    if (!is_part) all.push_back(tensor);
  }
  for (const Change& change : changes_) {
    if (!change.length.empty()) {
      all.push_back({change.output, sequence_of(change, tensors)});
    } else if (const Array* scores = find(tensors, change.tensors[0]).array()) {
      all.push_back({change.output, maps_of(change, *scores)});
    }
  }
  return all;
}

}  // namespace ingot::test
