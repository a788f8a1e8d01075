// Graphs of TensorFlow in TF.js, and in Ingot again.
#include "tests/backends/tensorflow_runs.h"

#include "ingot/base/atomic_file.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/float_types.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tensorflow/writer.h"
#include "ingot/formats/tfjs/graph_model_writer.h"
#include "ingot/verify/peer.h"
#include "tests/backends/agreement.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot::test {

struct Tfjs::State {
  TempDir directory{};
  std::unique_ptr<verify::Peer> peer{};
  int runs = 0;
};

Tfjs::Tfjs(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tfjs::~Tfjs() = default;

std::unique_ptr<Tfjs> Tfjs::find() {
  if (verify::why_missing(peers(), verify::Runtime::tfjs)) return nullptr;
  return std::unique_ptr<Tfjs>(new Tfjs(std::make_unique<State>()));
}

TensorflowResult Tfjs::run(const backends::tensorflow::Exported& model, const std::vector<Tensor>& inputs) {
  State& s = *state_;
  constexpr int kRuns = 100;
  if (!s.peer || ++s.runs % kRuns == 0) s.peer = std::make_unique<verify::Peer>(verify::Runtime::tfjs, peers());
  formats::tfjs::GraphModelOptions options;
  options.signature = &model.signature;
  try {
    formats::tfjs::write_graph_model(model.graph, options, Budget::unlimited(),
                                     [&](const std::string& name, const std::function<void(Sink&)>& write) {
                                       AtomicFile file(s.directory / name);
                                       write(file);
                                       file.commit();
                                     });
  } catch (const Error& e) {
    return {e.message()};
  }
  verify::PeerRequest request{.model = s.directory / "model.json"};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    request.inputs.push_back({model.signature.inputs[i].second.name, Array::from(inputs[i])});
  for (const auto& output : model.signature.outputs) request.outputs.push_back(output.second.name);
  const verify::PeerAnswer answer = s.peer->run(request);
  if (!answer.error.empty()) {
    s.peer.reset();
    return {answer.error};
  }
  if (!answer.not_passed.empty()) return {"an output of another type"};
  TensorflowResult result;
  for (const auto& output : answer.outputs) result.outputs.push_back(output.value.array()->to_tensor());
  return result;
}

TensorflowResult run_read_again(const backends::tensorflow::Exported& model, const std::vector<Tensor>& inputs) try {
  const TempDir directory;
  AtomicFile file(directory / "graph.pb");
  formats::tensorflow::write_graph(model.graph, file);
  file.commit();
  const auto plain = [](std::string tensor) { return tensor.substr(0, tensor.find(':')); };
  driver::LoadOptions options;
  for (const auto& input : model.signature.inputs) options.import.inputs.push_back(plain(input.second.name));
  for (const auto& output : model.signature.outputs) options.import.outputs.push_back(plain(output.second.name));
  const driver::Loaded loaded = driver::load(directory / "graph.pb", options);
  const engine::Session session(loaded.model);
  std::vector<engine::NamedDatum> named;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = plain(model.signature.inputs[i].second.name);
    for (const Value* v : loaded.model.graph->inputs())
      if (v->name() == name) named.push_back({name, Array::from(inputs[i])});
  }
  TensorflowResult result;
  for (const auto& output : session.run(named)) result.outputs.push_back(output.value.array()->to_tensor());
  return result;
} catch (const Error& e) {
  return {e.what()};
}

namespace {

/// The elements in the type that is expected, where both hold integers or both hold floats.
Tensor in_type_of(const Tensor& got, const Tensor& expected) {
  const DType from = got.dtype(), to = expected.dtype();
  if (from == to || from == DType::string || to == DType::string) return got;
  if (is_float(from) != is_float(to) || (from == DType::boolean) != (to == DType::boolean)) return got;
  Tensor made = got;
  dispatch(to, Any{}, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      std::vector<std::byte> bytes;
      for (const double v : got.to_doubles()) {
        T element;
        if constexpr (std::is_arithmetic_v<T>)
          element = static_cast<T>(v);
        else
          element = T(static_cast<float>(v));
        const auto* begin = reinterpret_cast<const std::byte*>(&element);
        bytes.insert(bytes.end(), begin, begin + sizeof element);
      }
      made = Tensor(to, got.dims(), Bytes::own(std::move(bytes)));
    }
  });
  return made;
}

}  // namespace

std::string difference_in_value(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  if (got.size() != expected.size()) return "another number of outputs";
  std::vector<Tensor> same;
  for (std::size_t i = 0; i < got.size(); ++i) same.push_back(in_type_of(got[i], expected[i]));
  return difference(same, expected);
}

}  // namespace ingot::test
