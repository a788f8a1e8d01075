// Models in integers, and models divided among targets.
#include <pybind11/stl.h>

#include "bind.h"
#include "dataset.h"
#include "held_model.h"
#include "options.h"
#include "unlocked.h"
#include "values.h"

namespace ingot::python {
namespace {

/// A quantised model and how near it is to the one in floats.
struct Quantized {
  HeldModel model;
  QuantizeResult result;
};

QuantizeWords to_words(const py::dict& o) {
  QuantizeWords w;
  take(o, "method", w.method);
  take(o, "form", w.form);
  take(o, "activations", w.activations);
  take(o, "weights", w.weights);
  take(o, "calibration", w.calibration);
  take(o, "percentile", w.percentile);
  take(o, "bits", w.bits);
  take(o, "block", w.block);
  take(o, "opset", w.opset);
  take(o, "per_tensor", w.per_tensor);
  take(o, "symmetric", w.symmetric);
  take(o, "full_range", w.full_range);
  take(o, "only", w.only);
  take(o, "exclude", w.exclude);
  return w;
}

/// Tells Python of each batch, of all that are run.
void report_progress(QuantizeRequest& request, const py::object& on_progress) {
  if (on_progress.is_none()) return;
  const auto done = std::make_shared<std::size_t>(0);
  const std::size_t total = request.samples.count + request.held_back.count;
  for (driver::Samples* samples : {&request.samples, &request.held_back})
    if (samples->batch)
      samples->batch = [&on_progress, done, total, inner = samples->batch](std::size_t i) {
        {
          const WithLock lock;
          on_progress(std::min(++*done, total), total);
        }
        return inner(i);
      };
}

Quantized quantize_model(const HeldModel& held, const py::object& data, double hold_back, std::uint64_t batch,
                         std::uint64_t samples, std::uint64_t drawn, const py::object& on_progress,
                         const py::dict& options) {
  QuantizeRequest request = quantize_request(to_words(options));
  if (data.is_none())
    set_random_samples(request, held.model, drawn);
  else
    set_samples(request, held.model, to_dataset(data, "", held.model), hold_back, batch, samples);
  report_progress(request, on_progress);
  return unlocked([&](Budget& budget) {
    request.budget = request.calibration.budget = &budget;
    Quantized made{{held.model.clone(), held.format}, {}};
    made.result = quantize(made.model.model, request);
    for (const auto& kept : made.result.report.kept)
      made.model.notes.push_back(kept.node + " (" + kept.op + ") stays float: " + kept.reason);
    return made;
  });
}

std::unique_ptr<DividedModel> divide(const HeldModel& held, const std::vector<std::string>& targets,
                                     std::size_t least_nodes, bool functions) {
  return unlocked([&](Budget& budget) {
    const PartitionOptions options{
        .targets = targets, .least_nodes = least_nodes, .wants_functions = functions, .budget = &budget};
    return std::make_unique<DividedModel>(partition(held.model, options));
  });
}

void bind_quantized(py::module_& m) {
  using driver::LayerError;
  py::class_<LayerError>(m, "Agreement", "How near a value of the quantised model is to the same in floats.")
      .def_property_readonly("value", [](const LayerError& l) { return to_text(l.value); })
      .def_property_readonly("node", [](const LayerError& l) { return to_text(l.node); })
      .def_readonly("op", &LayerError::op)
      .def_property_readonly(
          "decibels", [](const LayerError& l) { return l.agreement.decibels(); },
          "The float signal above the difference; more is better")
      .def_property_readonly(
          "largest", [](const LayerError& l) { return l.agreement.largest(); }, "The largest difference")
      .def_property_readonly("rows", [](const LayerError& l) { return l.agreement.rows(); })
      .def_property_readonly(
          "same_class", [](const LayerError& l) { return l.agreement.same_rows(); },
          "Rows of scores whose largest is the same")
      .def_property_readonly(
          "integers", [](const LayerError& l) { return l.agreement.integers(); }, "Elements that are no reals")
      .def_property_readonly("same_integers", [](const LayerError& l) { return l.agreement.same_integers(); })
      .def_property_readonly(
          "other_shapes", [](const LayerError& l) { return l.agreement.other_shapes(); },
          "Runs in which the shape was another, of which nothing else is told")
      .def("__repr__", [](const LayerError& l) {
        return "<ingot.Agreement " + l.value + ": " + std::to_string(l.agreement.decibels()) + " dB>";
      });
  py::class_<Quantized>(m, "Quantized", "A model in integers, and how near it is to the one in floats.")
      .def_property_readonly(
          "model", [](const Quantized& q) -> const HeldModel& { return q.model; },
          py::return_value_policy::reference_internal)
      .def_property_readonly(
          "nodes", [](const Quantized& q) { return q.result.report.quantized; }, "How many were quantised")
      .def_property_readonly(
          "kept",
          [](const Quantized& q) {
            std::vector<std::tuple<std::string, std::string, std::string>> kept;
            for (const auto& k : q.result.report.kept) kept.emplace_back(k.node, k.op, k.reason);
            return kept;
          },
          "Node, operator and reason of what stays in floats")
      .def_property_readonly(
          "weights",
          [](const Quantized& q) {
            std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t, double>> weights;
            for (const auto& w : q.result.report.weights)
              weights.emplace_back(w.name, w.bytes_before, w.bytes_after, w.noise);
            return weights;
          },
          "Name, bytes before and after, decibels of each weight")
      .def_property_readonly(
          "values", [](const Quantized& q) { return q.result.layers; }, "Agreement of values inside")
      .def_property_readonly(
          "outputs", [](const Quantized& q) { return q.result.outputs; }, "Agreement of outputs")
      .def_property_readonly("opset", [](const Quantized& q) { return q.result.opset; })
      .def("__repr__", [](const Quantized& q) {
        return "<ingot.Quantized: " + std::to_string(q.result.report.quantized) + " nodes>";
      });
  m.def("quantize", &quantize_model, Inside::guard());
}

}  // namespace

void bind_quantize(py::module_& m) {
  bind_quantized(m);
  py::class_<ModelPart>(m, "Part", "A part of a model, for one target.")
      .def_readonly("name", &ModelPart::name)
      .def_readonly("target", &ModelPart::target)
      .def_readonly("nodes", &ModelPart::nodes)
      .def_property_readonly("model", [](const ModelPart& p) { return HeldModel{p.model.clone()}; })
      .def("__repr__", [](const ModelPart& p) {
        return "<ingot.Part " + p.name + " for " + p.target + ": " + std::to_string(p.nodes) + " nodes>";
      });
  py::class_<NodeFallback>(m, "Fallback", "A node that a target does not run, and why.")
      .def_property_readonly("node", [](const NodeFallback& f) { return to_text(f.node); })
      .def_readonly("op", &NodeFallback::op)
      .def_readonly("target", &NodeFallback::target)
      .def_readonly("part", &NodeFallback::part)
      .def_readonly("code", &NodeFallback::code)
      .def_readonly("reason", &NodeFallback::reason)
      .def_readonly("remedy", &NodeFallback::remedy);
  py::class_<DividedModel>(m, "Partition", "A model among targets.")
      .def_property_readonly(
          "parts",
          [](const DividedModel& d) {
            py::list parts;
            for (const ModelPart& part : d.parts)
              parts.append(ModelPart{part.name, part.target, part.nodes, part.model.clone()});
            return parts;
          },
          "In running order")
      .def_readonly("fallbacks", &DividedModel::fallbacks)
      .def_readonly("crossing_bytes", &DividedModel::crossing_bytes, "What passes from part to part")
      .def_readonly("crossing_values", &DividedModel::crossing_values)
      .def_property_readonly(
          "model",
          [](const DividedModel& d) -> std::optional<HeldModel> {
            if (!d.functions) return std::nullopt;
            return HeldModel{d.functions->clone()};
          },
          "The whole model, a function per part; None unless functions=True asked for it");
  m.def("partition", &divide);
  m.def("targets", &known_targets);
  m.def("load_plugin", [](const py::object& path) { load_plugin(to_path(path)); });
}

}  // namespace ingot::python
