// Where an integer network parts from TFLite: for each operator how far its result is apart in the whole network.
#include <cstdio>
#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/backends/other_runtime.h"
#include "tests/frontends/tflite/parts.h"

int main(int argc, char** argv) try {
  using namespace ingot;
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
  if (argc < 2 || !native) {
    std::fprintf(stderr, "usage: %s MODEL.tflite [SEED]      needs tfjs-tflite-node in build/peers\n", argv[0]);
    return 2;
  }
  const formats::tflite::Model model = test::with_all_outputs(formats::tflite::read(map_file(argv[1])));
  std::mt19937 random(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
  const auto inputs = test::random_inputs(model, random);
  if (!inputs) throw Error(Code::bad_usage, "inputs are not all integers of fixed shapes");
  const auto expected = native->run(formats::tflite::to_bytes(model), *inputs);
  if (!expected.failure.empty()) throw Error(Code::bad_usage, "TFLite: " + expected.failure);
  const std::vector<Tensor> got = test::run_in_ingot(model, *inputs);
  const formats::tflite::SubGraph& graph = model.subgraphs.front();
  std::size_t output = 0;
  for (std::size_t i = 0; i < graph.operators.size(); ++i)
    for (const std::int32_t t : graph.operators[i].outputs) {
      if (t == formats::tflite::kNoTensor) continue;
      const auto apart = test::steps_apart(expected.outputs[output], got[output]);
      ++output;
      std::size_t off = 0, far = 0;
      std::int64_t worst = 0;
      for (const std::int64_t a : apart.value_or(std::vector<std::int64_t>{})) {
        off += a > 0;
        far += a > 2;
        worst = std::max(worst, a);
      }
      std::printf("%4zu %-28s %8zu elements, %7zu differ, %7zu beyond 2, worst %lld%s  %s\n", i,
                  formats::tflite::describe(graph.operators[i].code).c_str(), apart ? apart->size() : 0, off, far,
                  static_cast<long long>(worst), apart ? "" : " (type or shape)",
                  graph.tensors[static_cast<std::size_t>(t)].name.substr(0, 60).c_str());
    }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
