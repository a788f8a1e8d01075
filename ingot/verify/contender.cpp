// One side of a comparison: a file in a runtime.
#include "ingot/verify/contender.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/driver/work_directory.h"

namespace ingot::verify {
namespace {

using driver::Format;
using driver::Layout;

Runtime chosen(const Format& format, const std::vector<Runtime>& wanted, const Peers& peers, Contender::Role role) {
  const std::vector<Runtime> able = runtimes_for(format);
  for (const Runtime r : wanted)
    if (std::ranges::find(able, r) != able.end()) return r;
  if (!wanted.empty())
    throw Error(Code::bad_usage,
                std::string(info_of(wanted[0]).title) + " does not run " + std::string(format.title) + " files");
  if (role == Contender::Role::candidate && format.is_onnx) return Runtime::ingot;
  for (const Runtime r : able)
    if (r != Runtime::ingot && !why_missing(peers, r)) return r;
  return role == Contender::Role::candidate || format.is_onnx ? Runtime::ingot : able.front();
}

}  // namespace

struct Contender::State {
  Entry entry() const { return {file, loaded, load, peers, scratch}; }
  void take(Runtime next) {
    runtime = next;
    runner = info_of(next).make_runner(entry());
  }

  std::string file;
  driver::Loaded loaded{};
  driver::LoadOptions load{};
  Peers peers{};
  driver::WorkDirectory scratch{};
  Runtime runtime{};
  std::vector<Runtime> untried{};
  std::unique_ptr<Runner> runner{};  // goes before what it refers to
};

Contender::Contender(const std::string& file, const std::vector<Runtime>& runtimes, const driver::LoadOptions& load,
                     const Peers& peers, Role role) try
    : state_(new State{.file = file}) {
  State& s = *state_;
  s.load = load;
  s.peers = peers;
  s.loaded = driver::load(file, load);
  passes::restore_node_metadata(s.loaded.model);
  const Format& format = *s.loaded.format;
  s.take(chosen(format, runtimes, peers, role));
  if (!runtimes.empty() || s.runtime == Runtime::ingot) return;
  for (const Runtime r : runtimes_for(format))
    if (r != s.runtime && !why_missing(peers, r) && (r != Runtime::ingot || format.is_onnx)) s.untried.push_back(r);
} catch (Error& error) {
  error.in_file(file);
  throw;
}

Contender::~Contender() = default;

const std::string& Contender::file() const { return state_->file; }
const Format& Contender::format() const { return *state_->loaded.format; }
Runtime Contender::runtime() const { return state_->runtime; }
const Model& Contender::model() const { return state_->loaded.model; }

std::string Contender::runtime_text() const {
  const std::string title(info_of(state_->runtime).title), version = state_->runner->version();
  return version.empty() ? title : title + " " + version;
}

bool Contender::inputs_moved() const { return state_->loaded.written_as.inputs_as == Layout::channels_last; }
bool Contender::outputs_moved() const { return state_->loaded.written_as.outputs_as == Layout::channels_last; }

Answer Contender::run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) {
  return state_->runner->run(inputs, points);
}

bool Contender::try_next_runtime() {
  State& s = *state_;
  if (s.untried.empty()) return false;
  const Runtime next = s.untried.front();
  s.untried.erase(s.untried.begin());
  s.take(next);
  return true;
}

Contender Contender::in_ingot() const {
  return Contender(state_->file, {Runtime::ingot}, state_->load, state_->peers, Role::candidate);
}

std::vector<Point> Contender::points() const { return state_->runner->points(); }

}  // namespace ingot::verify
