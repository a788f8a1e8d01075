// The trainer behind a wall.
#include "ingot/api/trainer.h"

#include "ingot/api/engine_options.h"
#include "ingot/train/trainer.h"

namespace ingot {

struct Trainer::State {
  train::Trainer trainer;
};

Trainer::Trainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trainer::Trainer(const Model& model, const train::TrainingOptions& options, const SessionOptions& session)
    : Trainer(std::unique_ptr<State>(
          new State{train::Trainer(checked(model, session), options, engine_options(session))})) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

Trainer Trainer::stored(const Model& model, const std::vector<std::size_t>& algorithms, const SessionOptions& session) {
  return Trainer(std::unique_ptr<State>(
      new State{train::Trainer::stored(checked(model, session), algorithms, engine_options(session))}));
}

double Trainer::step(const std::vector<NamedDatum>& batch) { return held(state_, "Trainer").trainer.step(batch); }

train::LoopReport Trainer::fit(const train::Dataset& data, const train::LoopOptions& options,
                               const train::LoopEvents& events) {
  return held(state_, "Trainer").trainer.fit(data, options, events);
}

Model Trainer::trained(bool with_training) const { return held(state_, "Trainer").trainer.trained(with_training); }
const std::string& Trainer::target_name() const { return held(state_, "Trainer").trainer.target_name(); }

std::vector<std::string> Trainer::notes() const {
  std::vector<std::string> all;
  for (const train::TrainingGraph& graph : held(state_, "Trainer").trainer.graphs())
    all.insert(all.end(), graph.notes.begin(), graph.notes.end());
  return all;
}

}  // namespace ingot
