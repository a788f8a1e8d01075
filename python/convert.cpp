// Conversions: from file to file, and of models in memory.
#include <pybind11/stl.h>

#include <chrono>

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

/// On which inputs source and result are compared, and by which runtimes.
struct HowToVerify {
  bool is_wanted = true;
  verify::ConversionInputs inputs{};
  bool names_inputs = false;
  std::string peers{};
};

HowToVerify to_verification(const py::dict& options) {
  HowToVerify how;
  how.is_wanted = options["verify"].cast<bool>();
  how.inputs.given = options["verify_inputs"].cast<std::vector<std::string>>();
  how.names_inputs = !how.inputs.given.empty() || !options["seed"].is_none() || !options["seeds"].is_none();
  if (!options["seed"].is_none()) how.inputs.seed = options["seed"].cast<std::uint32_t>();
  if (!options["seeds"].is_none()) how.inputs.seeds = options["seeds"].cast<std::uint32_t>();
  if (!options["peers"].is_none()) how.peers = to_path(options["peers"]);
  if (!how.is_wanted && how.names_inputs)
    throw Error(Code::bad_usage, "verify_inputs, seed and seeds say on which inputs source and result are compared")
        .hint("leave verify=False out");
  return how;
}

Report convert_file(const py::object& source, const py::object& output, const py::dict& verification,
                    const py::object& on_progress, const py::dict& options) {
  ConvertRequest request = to_request(options);
  request.input = to_path(source);
  request.output = to_path(output);
  const HowToVerify how = to_verification(verification);
  request.verifies_onnx = how.names_inputs;
  if (!on_progress.is_none())
    request.on_stage = [&](std::string_view stage) {
      const WithLock lock;
      on_progress(py::str(stage.data(), stage.size()));
    };
  return unlocked([&](Budget& budget) {
    Report report;
    request.budget = &budget;
    Peers peers = find_peers(how.peers);
    peers.budget = &budget;
    if (how.is_wanted) request.verify = verifier(peers, report.verdict, how.inputs);
    ConvertReport done = convert(request);
    report.model = {std::move(done.model), std::string(done.from->name), std::move(done.notes)};
    report.from = done.from->name;
    report.to = done.to->name;
    report.nodes_changed = done.nodes_changed;
    report.nodes_added = done.nodes_added;
    report.not_verified = how.is_wanted ? done.not_verified : "not asked for";
    report.seconds = done.load_seconds + done.convert_seconds + done.write_seconds;
    return report;
  });
}

/// A model in memory changed as asked and, where an output is named, written.
Report convert_model(const HeldModel& held, const std::optional<py::object>& output, const py::dict& options) {
  const ConvertRequest request = to_request(options);
  refuse_reading(request);
  AdjustOptions how = driver::adjust_part(request);
  SaveOptions saving = driver::save_part(request);
  saving.to = request.to;
  const std::string path = output ? to_path(*output) : "";
  if (!output && (request.to || !driver::given(saving).empty()))
    throw Error(Code::bad_usage, "what says how a file is written means nothing without one")
        .hint("name the output: convert(model, path, ...)");
  return unlocked([&](Budget& budget) {
    how.budget = &budget;
    const auto begin = std::chrono::steady_clock::now();
    Report report;
    report.from = held.format;
    report.not_verified = "the source is no file";
    report.model = {held.model.clone(), held.format};
    if (output) {
      const Format& format = driver::format_to_write(path, request.to);
      report.to = format.name;
      if (format.is_onnx)
        saving.auto_cast.reset();  // the operator sets say which types are lacking
      else
        how.auto_cast = AutoCast::none;
    }
    AdjustReport adjusted = adjust(report.model.model, how);
    report.model.notes = std::move(adjusted.notes);
    report.nodes_changed = adjusted.nodes_changed;
    report.nodes_added = adjusted.nodes_added;
    if (output)
      for (std::string& note : save(report.model.model, path, saving)) report.model.notes.push_back(std::move(note));
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
  });
}

/// A file read and changed as asked, and not written.
HeldModel changed_file(const py::object& source, const py::dict& options) {
  const ConvertRequest request = to_request(options);
  SaveOptions saving = driver::save_part(request);
  saving.allow_custom.clear();  // these the reader takes
  saving.layout = {};
  saving.auto_cast.reset();
  if (request.to || !driver::given(saving).empty())
    throw Error(Code::bad_usage, "what says how a file is written means nothing without one")
        .hint("name the output: convert(source, path, ...)");
  LoadOptions load_options = to_load(request);
  AdjustOptions how = driver::adjust_part(request);
  how.input_shapes.clear();  // the reader takes them
  const std::string name = to_path(source);
  return unlocked([&](Budget& budget) {
    load_options.budget = how.budget = &budget;
    Loaded loaded = load(name, load_options);
    HeldModel result{std::move(loaded.model), std::string(loaded.format->name), std::move(loaded.notes)};
    for (std::string& note : adjust(result.model, how).notes) result.notes.push_back(std::move(note));
    return result;
  });
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
  m.def("convert_file", &convert_file, Inside::guard());
  m.def("convert_model", &convert_model, Inside::guard());
  m.def("changed_file", &changed_file, Inside::guard());
  m.def("convert_options", &option_names);
}

}  // namespace ingot::python
