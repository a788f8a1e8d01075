// The engine's session behind a wall, for whatever model `ingot run` takes.
#include "ingot/api/session.h"

#include "ingot/api/engine_options.h"
#include "ingot/driver/run.h"

namespace ingot {
namespace {

engine::Session make_session(const Model& model, const SessionOptions& options) {
  const std::optional<Model> form = driver::runnable_form(checked(model, options));
  return engine::Session(form ? *form : model, engine_options(options));
}

}  // namespace

struct Session::State {
  engine::Session session;
};

Session::Session(const Model& model, const SessionOptions& options) : state_(new State{make_session(model, options)}) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

std::vector<NamedDatum> Session::run(const std::vector<NamedDatum>& inputs, const RunOptions& options) const {
  engine::RunOptions own;
  own.profile = options.profile;
  own.draw = options.draw;
  return held(state_, "Session").session.run(inputs, own);
}

}  // namespace ingot
