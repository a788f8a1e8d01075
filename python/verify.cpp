// Do two models give the same numbers?
#include <pybind11/stl.h>

#include "bind.h"
#include "unlocked.h"
#include "values.h"

namespace ingot::python {
namespace {

const char* word_of(Verdict::Answer answer) {
  return answer == Verdict::Answer::same ? "same" : answer == Verdict::Answer::different ? "different" : "unknown";
}

std::vector<Runtime> runtimes_of(const std::vector<std::string>& names) {
  std::vector<Runtime> runtimes;
  for (const std::string& name : names) runtimes.push_back(verify::runtime_by_name(name));
  return runtimes;
}

Verdict verify_files(const py::object& a, const py::object& b, const std::vector<std::string>& a_runtimes,
                     const std::vector<std::string>& b_runtimes, const std::vector<std::string>& inputs,
                     std::uint32_t seed, std::uint32_t seeds, std::optional<double> rtol, std::optional<double> atol,
                     const py::dict& shapes, bool bisects) {
  VerifyRequest request;
  request.a.file = to_path(a);
  request.b.file = to_path(b);
  request.a.runtimes = runtimes_of(a_runtimes);
  request.b.runtimes = runtimes_of(b_runtimes);
  request.inputs = inputs;
  request.seed = seed;
  request.seeds = seeds;
  request.rtol = rtol;
  request.atol = atol;
  request.input_shapes = to_input_shapes(shapes);
  request.bisects = bisects;
  return unlocked([&](Budget& budget) {
    request.a.load.budget = request.b.load.budget = &budget;
    request.peers = find_peers();
    request.peers.budget = &budget;
    return verify_models(request);
  });
}

}  // namespace

void bind_verify(py::module_& m) {
  py::class_<verify::OutputVerdict>(m, "OutputVerdict", "How one output of two models compares.")
      .def_property_readonly("name", [](const verify::OutputVerdict& o) { return to_text(o.a_name); })
      .def_property_readonly("other_name", [](const verify::OutputVerdict& o) { return to_text(o.b_name); })
      .def_readonly("agrees", &verify::OutputVerdict::agrees)
      .def_readonly("decided", &verify::OutputVerdict::is_decided)
      .def_readonly("figure", &verify::OutputVerdict::figure, "How far apart they are")
      .def_readonly("threshold", &verify::OutputVerdict::threshold, "How far they may be")
      .def_readonly("source", &verify::OutputVerdict::source, "Why that far")
      .def_readonly("worst", &verify::OutputVerdict::worst, "Where they differ most");
  py::class_<verify::FirstDifference>(m, "FirstDifference", "Where two models part.")
      .def_property_readonly("name", [](const verify::FirstDifference& f) { return to_text(f.name); })
      .def_readonly("op", &verify::FirstDifference::op)
      .def_property_readonly("other_name", [](const verify::FirstDifference& f) { return to_text(f.b_name); })
      .def_readonly("figure", &verify::FirstDifference::figure)
      .def_readonly("threshold", &verify::FirstDifference::threshold)
      .def_readonly("place", &verify::FirstDifference::place);
  py::class_<Verdict>(m, "Verdict", "Whether two models give the same numbers.")
      .def_property_readonly(
          "answer", [](const Verdict& v) { return word_of(v.answer); }, "'same', 'different' or 'unknown'")
      .def("__bool__", [](const Verdict& v) { return v.answer == Verdict::Answer::same; })
      .def_readonly("why_unknown", &Verdict::why_unknown)
      .def_readonly("runtime", &Verdict::a_runtime)
      .def_readonly("other_runtime", &Verdict::b_runtime)
      .def_readonly("independent", &Verdict::is_independent, "Another program than Ingot ran the first")
      .def_readonly("inputs", &Verdict::inputs)
      .def_readonly("outputs", &Verdict::outputs)
      .def_readonly("notes", &Verdict::notes)
      .def_readonly("first_difference", &Verdict::first)
      .def_readonly("seconds", &Verdict::seconds)
      .def("__repr__", [](const Verdict& v) {
        return "<ingot.Verdict " + std::string(word_of(v.answer)) + ": " + v.a_runtime + ", " + v.b_runtime + ">";
      });
  m.def("verify", &verify_files, Inside::guard());
}

}  // namespace ingot::python
