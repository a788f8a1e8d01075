// What the runners share.
#include "ingot/verify/runner.h"

#include <algorithm>

#include "ingot/ir/source_notes.h"
#include "ingot/driver/work_directory.h"

namespace ingot::verify {

PeerRunner::PeerRunner(const Entry& entry, Runtime runtime)
    : entry_(entry),
      peer_(entry.peers.pool ? entry.peers.pool->take(runtime, entry.peers)
                             : std::make_unique<Peer>(runtime, entry.peers)) {}

PeerRunner::~PeerRunner() {
  if (entry_.peers.pool) entry_.peers.pool->give_back(std::move(peer_));
}

Answer PeerRunner::ask(const PeerRequest& request, std::size_t output_count) {
  PeerAnswer got = peer_->run(request);
  if (!got.error.empty()) return {.error = std::move(got.error)};
  version_ = got.version;
  if (!got.not_passed.empty()) return {.error = "output '" + got.not_passed[0] + "' is no tensor that it can pass"};
  if (got.outputs.size() != output_count) return {.error = "it gives another number of outputs"};
  return {.error = {}, .outputs = std::move(got.outputs)};
}

std::string PeerRunner::path_in_scratch(const char* name) const { return (entry_.scratch.path() / name).string(); }

std::vector<Point> points_of(const Model& model) {
  PointList points;
  for (const Node& node : model.graph->nodes())
    for (const Value* v : node.outputs())
      if (v) points.add({v->name(), node.op, std::string(note_of(node.metadata, kSource))});
  return points.take();
}

Model with_outputs(const Model& model, const std::vector<std::string>& names) {
  Model copy = model.clone();
  for (const std::string& name : names) {
    Value* v = copy.graph->find(name);
    const Values outputs = copy.graph->outputs();
    if (v && std::ranges::find(outputs, v) == outputs.end()) copy.graph->add_output(v);
  }
  return copy;
}

}  // namespace ingot::verify
