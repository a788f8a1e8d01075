// Fuzzes the readers of TensorFlow's files and the translation of graphs: the first byte says which.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/checkpoint.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/formats/tensorflow/table_file.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/frontends/tensorflow/checkpoint_keys.h"
#include "ingot/frontends/tensorflow/import.h"

namespace {

using namespace ingot;
namespace tf = formats::tensorflow;

void import(const tf::GraphDef& graph, Budget& budget) {
  frontends::tensorflow::ImportOptions options;
  options.budget = &budget;
  check_invariants(frontends::tensorflow::import_graph(graph, options).model);
}

void read(int kind, const Bytes& file) {
  Budget budget({.memory = std::uint64_t{16} << 20, .time = std::chrono::seconds(2), .nodes = 20'000});
  switch (kind) {
    case 'g':
      return import(tf::read_graph(file, budget), budget);
    case 'm':
      return import(tf::read_meta_graph(file, budget).graph, budget);
    case 's':
      for (const tf::MetaGraph& meta : tf::read_saved_model(file, budget).meta_graphs) {
        (void)frontends::tensorflow::checkpoint_keys(meta);
        import(meta.graph, budget);
      }
      return;
    case 'z':
      (void)tf::uncompress_snappy(file.span(), budget);
      return;
    case 'j':
      return import(formats::tfjs::read_graph_model(file, "/nonexistent", {}, budget).graph, budget);
    case 'c': {
      const tf::Checkpoint checkpoint = tf::Checkpoint::of(file, {file}, budget);
      for (const std::string& key : checkpoint.keys()) (void)checkpoint.read(key, budget);
      return;
    }
    default:
      (void)tf::kind_of(file);
      (void)tf::kind_of_text(file.text());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  try {
    read(data[0], Bytes::copy(std::as_bytes(std::span(data + 1, size - 1))));
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
