// Conversions: from file to file, and of models in memory.
#include <pybind11/stl.h>

#include "bind.h"
#include "held_model.h"
#include "request.h"
#include "unlocked.h"

namespace ingot::python {
namespace {

/// What a conversion did, as Python sees it.
struct Report {
  HeldModel model;
  std::string from, to;
  std::size_t nodes_changed = 0, nodes_added = 0;
  std::optional<Verdict> verdict{};
  std::string not_verified{};
  double seconds = 0;
};

Report convert_file(const py::object& source, const py::object& output, bool is_verified, const py::dict& options) {
  ConvertRequest request = to_request(options);
  request.input = to_path(source);
  request.output = to_path(output);
  return unlocked([&](Budget& budget) {
    Report report;
    request.budget = &budget;
    Peers peers = find_peers();
    peers.budget = &budget;
    if (is_verified) request.verify = verifier(peers, report.verdict);
    ConvertReport done = convert(request);
    report.model = {std::move(done.model), std::string(done.from->name), std::move(done.notes)};
    report.from = done.from->name;
    report.to = done.to->name;
    report.nodes_changed = done.nodes_changed;
    report.nodes_added = done.nodes_added;
    report.not_verified = is_verified ? done.not_verified : "not asked for";
    report.seconds = done.load_seconds + done.convert_seconds + done.write_seconds;
    return report;
  });
}

HeldModel adjusted(const HeldModel& held, const py::dict& options) {
  AdjustOptions how = to_adjust(to_request(options));
  return unlocked([&](Budget& budget) {
    how.budget = &budget;
    HeldModel result{held.model.clone(), held.format};
    result.notes = adjust(result.model, how).notes;
    return result;
  });
}

/// Of what adjust() did not do already.
std::vector<std::string> save_model(const HeldModel& held, const py::object& path, const py::dict& options) {
  const SaveOptions how = to_save(to_request(options));
  const std::string name = to_path(path);
  return unlocked([&](Budget&) { return save(held.model, name, how); });
}

}  // namespace

void bind_convert(py::module_& m) {
  py::class_<Report>(m, "Report", "What a conversion did.")
      .def_property_readonly(
          "model", [](const Report& r) -> const HeldModel& { return r.model; },
          py::return_value_policy::reference_internal, "The result as ONNX")
      .def_property_readonly(
          "notes", [](const Report& r) { return r.model.notes; },
          "Every change that was not asked for by name, a line each")
      .def_readonly("from_format", &Report::from)
      .def_readonly("to_format", &Report::to)
      .def_readonly("nodes_changed", &Report::nodes_changed)
      .def_readonly("nodes_added", &Report::nodes_added)
      .def_readonly("verdict", &Report::verdict, "How source and result compare; None: they were not run")
      .def_readonly("not_verified", &Report::not_verified, "Why there is no verdict")
      .def_readonly("seconds", &Report::seconds)
      .def_property_readonly(
          "verified",
          [](const Report& r) -> std::optional<bool> {
            if (!r.verdict || r.verdict->answer == Verdict::Answer::unknown) return std::nullopt;
            return r.verdict->answer == Verdict::Answer::same;
          },
          "Whether both give the same numbers; None: nobody knows")
      .def("__repr__", [](const Report& r) {
        return "<ingot.Report " + r.from + " to " + r.to + ", " + std::to_string(r.model.notes.size()) + " notes>";
      });
  m.def("convert_file", &convert_file);
  m.def("adjust", &adjusted);
  m.def("save", &save_model);
}

}  // namespace ingot::python
