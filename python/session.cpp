// Running models.
#include <pybind11/stl.h>

#include "bind.h"
#include "held_model.h"
#include "unlocked.h"
#include "values.h"

namespace ingot::python {
namespace {

/// A session and its budget. A budget that was cancelled stays so, hence Ctrl-C ends a session's whole life: the next
/// run gets another one.
class HeldSession {
 public:
  HeldSession(const HeldModel& held, int threads, bool is_fast, std::uint64_t memory, bool is_checked)
      : model_(held.model.clone()), threads_(threads), is_fast_(is_fast), memory_(memory), is_checked_(is_checked) {
    inputs = inputs_of(model_);
    outputs = outputs_of(model_);
    life_ = new_life();
  }

  py::dict run(const py::dict& feeds, std::uint64_t draw, bool copies) {
    const std::vector<NamedDatum> values = to_inputs(feeds, inputs);
    const std::shared_ptr<Life> life = current();
    const std::vector<NamedDatum> made = unlocked_with(life->budget, [&](Budget&) {
      RunOptions options;
      options.draw = draw;
      return life->session->run(values, options);
    });
    py::dict results;
    for (const NamedDatum& output : made) results[to_text(output.name)] = to_python(output.value, copies);
    return results;
  }

  /// What each node did in one run: name, operator, kernel, microseconds.
  py::list profile(const py::dict& feeds) {
    const std::vector<NamedDatum> values = to_inputs(feeds, inputs);
    const std::shared_ptr<Life> life = current();
    Profile profile;
    unlocked_with(life->budget, [&](Budget&) {
      RunOptions options;
      life->session->run(values, options);  // nothing is cold then
      options.profile = &profile;
      life->session->run(values, options);
      return 0;
    });
    py::list events;
    for (const auto& e : profile.events) events.append(py::make_tuple(to_text(e.node), e.op, e.kernel, e.duration));
    return events;
  }

  std::vector<PortView> inputs, outputs;

 private:
  struct Life {
    explicit Life(const Limits& limits) : budget(limits) {}
    Budget budget;
    std::optional<Session> session{};
  };

  std::shared_ptr<Life> new_life() {
    Limits limits;
    if (memory_) limits.memory = memory_;
    const auto life = std::make_shared<Life>(limits);
    unlocked_with(life->budget, [&](Budget& budget) {
      SessionOptions options;
      options.budget = &budget;
      options.threads = threads_;
      options.is_fast = is_fast_;
      options.requires_valid = is_checked_;
      life->session.emplace(model_, options);
      return 0;
    });
    return life;
  }

  std::shared_ptr<Life> current() {
    if (life_->budget.cancelled()) life_ = new_life();
    return life_;
  }

  Model model_;
  int threads_;
  bool is_fast_;
  std::uint64_t memory_;
  bool is_checked_;
  std::shared_ptr<Life> life_;  // replaced with the lock held
};

}  // namespace

void bind_session(py::module_& m) {
  py::class_<HeldSession>(m, "Session")
      .def(py::init<const HeldModel&, int, bool, std::uint64_t, bool>())
      .def_readonly("inputs", &HeldSession::inputs)
      .def_readonly("outputs", &HeldSession::outputs)
      .def("run", &HeldSession::run, Inside::guard())
      .def("profile", &HeldSession::profile, Inside::guard());
  m.def("random_inputs", [](const HeldModel& held, std::uint32_t seed) {
    py::dict inputs;
    for (const NamedDatum& input : random_inputs(held.model, seed))
      inputs[to_text(input.name)] = to_python(input.value, true);
    return inputs;
  });
}

}  // namespace ingot::python
