// Work on graphs: parts of models, one of two, other names, what differs; and models as source code.
#include <pybind11/stl.h>

#include "bind.h"
#include "held_model.h"
#include "unlocked.h"
#include "values.h"

namespace ingot::python {
namespace {

using Names = std::vector<std::string>;

/// A changed copy, without the lock; the format that it was read from stays known.
template <class F> HeldModel changed(const HeldModel& held, F&& change) {
  return unlocked([&](Budget&) {
    HeldModel result{held.model.clone(), held.format};
    change(result);
    return result;
  });
}

/// {"old": "new"}; a number stands for a dimension's size.
driver::Renames to_renames(const py::dict& names) {
  driver::Renames renames;
  for (const auto& [from, to] : names)
    renames.emplace_back(py::str(from).cast<std::string>(), py::str(to).cast<std::string>());
  return renames;
}

HeldModel extract_part(const HeldModel& held, const Names& inputs, const Names& outputs) {
  if (inputs.empty() && outputs.empty())
    throw Error(Code::bad_usage, "nothing says where to cut").hint("inputs=[...] and outputs=[...] name values");
  return changed(held, [&](HeldModel& m) { extract(m.model, inputs, outputs); });
}

std::vector<std::pair<std::string, HeldModel>> split_model(const HeldModel& held, const std::vector<Names>& cuts,
                                                           std::uint64_t most_bytes, std::size_t parts, bool stages) {
  return unlocked([&](Budget&) {
    std::vector<std::pair<std::string, HeldModel>> result;
    SplitOptions options{.cuts = cuts, .by_stage = stages, .most_bytes = most_bytes, .parts = parts};
    for (auto& part : ingot::split(held.model, options))
      result.emplace_back(part.name, HeldModel{std::move(part.model), held.format});
    return result;
  });
}

HeldModel merge_models(const HeldModel& a, const HeldModel& b, const py::dict& connections, bool shares_inputs,
                       const std::string& prefix_a, const std::string& prefix_b, const Names& outputs) {
  const MergeOptions options{to_renames(connections), shares_inputs, prefix_a, prefix_b, outputs};
  return unlocked([&](Budget&) {
    MergeReport report;
    HeldModel result{ingot::merge(a.model.clone(), b.model.clone(), options, report)};
    result.notes = std::move(report.notes);
    return result;
  });
}

HeldModel rename_values(const HeldModel& held, const py::dict& values, const py::dict& dims,
                        const std::string& prefix) {
  const RenameOptions options{to_renames(values), to_renames(dims), prefix};
  return changed(held, [&](HeldModel& m) { rename(m.model, options); });
}

CompileReport compile_model(const HeldModel& held, const py::object& output, const py::dict& shapes,
                            const std::string& emit, const std::string& target, const std::string& weights,
                            bool has_threads, bool no_alloc, bool half_weights, bool has_profile, bool has_test) {
  CompileRequest request{to_path(output), emit,        target,      weights, no_alloc,
                         half_weights,    has_profile, has_threads, has_test};
  AdjustOptions adjusted{.input_shapes = to_input_shapes(shapes)};
  return unlocked([&](Budget& budget) {
    adjusted.budget = &budget;
    Model model = held.model.clone();
    if (!adjusted.input_shapes.empty()) adjust(model, adjusted);
    return compile(model, request);
  });
}

void bind_difference(py::module_& m) {
  using Weight = driver::WeightDifference;
  py::class_<Weight>(m, "WeightDifference", "A weight that two models have, and that is not the same in both.")
      .def_property_readonly("name", [](const Weight& w) { return to_text(w.a_name); })
      .def_property_readonly("other_name", [](const Weight& w) { return to_text(w.b_name); })
      .def_readonly("type", &Weight::a_type)
      .def_readonly("other_type", &Weight::b_type)
      .def_readonly("comparable", &Weight::is_comparable, "Same shape, both numbers: else the figures are 0")
      .def_readonly("norm", &Weight::norm, "Euclidean, of the difference")
      .def_readonly("a_norm", &Weight::a_norm)
      .def_readonly("b_norm", &Weight::b_norm)
      .def_readonly("largest", &Weight::largest, "The largest absolute difference")
      .def_readonly("elements", &Weight::elements)
      .def_readonly("differing", &Weight::differing, "How many elements are not the same")
      .def("__repr__", [](const Weight& w) {
        return "<ingot.WeightDifference " + w.a_name + ": " + std::to_string(w.differing) + " of " +
               std::to_string(w.elements) + ">";
      });
  const auto texts = [](Names Difference::*member) {
    return [member](const Difference& d) {
      py::list list;
      for (const std::string& text : d.*member) list.append(to_text(text));
      return list;
    };
  };
  py::class_<Difference>(m, "Difference", "What two models say differently.")
      .def_property_readonly("same", &Difference::is_same, "Whether they say the same")
      .def_property_readonly("model", texts(&Difference::model), "Versions, operator sets, inputs, outputs, functions")
      .def_property_readonly(
          "operators",
          [](const Difference& d) {
            py::dict counts;
            for (const auto& c : d.operators) counts[to_text(c.op)] = py::make_tuple(c.a, c.b);
            return counts;
          },
          "How often each has an operator, of those that differ")
      .def_property_readonly("nodes_only_in_a", texts(&Difference::only_a))
      .def_property_readonly("nodes_only_in_b", texts(&Difference::only_b))
      .def_property_readonly(
          "nodes",
          [](const Difference& d) {
            py::list nodes;
            for (const auto& n : d.nodes) nodes.append(py::make_tuple(to_text(n.node), to_text(n.op), n.changes));
            return nodes;
          },
          "Node, operator and changes of nodes that both have")
      .def_property_readonly("weights_only_in_a", texts(&Difference::weights_only_a))
      .def_property_readonly("weights_only_in_b", texts(&Difference::weights_only_b))
      .def_readonly("weights", &Difference::weights)
      .def_readonly("same_nodes", &Difference::same_nodes, "How many nodes are the same")
      .def_readonly("same_weights", &Difference::same_weights)
      .def("__repr__", [](const Difference& d) {
        return std::string("<ingot.Difference: ") + (d.is_same() ? "the models say the same>" : "the models differ>");
      });
  m.def("diff", [](const HeldModel& a, const HeldModel& b) {
    return unlocked([&](Budget&) { return diff(a.model, b.model); });
  });
}

}  // namespace

void bind_edit(py::module_& m) {
  bind_difference(m);
  m.def("extract", &extract_part);
  m.def("split", &split_model);
  m.def("merge", &merge_models);
  m.def("rename", &rename_values);
  py::class_<CompileReport>(m, "Compiled", "What a model became as source code.")
      .def_readonly("files", &CompileReport::files, "As written")
      .def_readonly("weight_bytes", &CompileReport::weight_bytes)
      .def_readonly("arena_bytes", &CompileReport::arena_bytes, "Memory to run")
      .def_readonly("static", &CompileReport::is_static, "Every size is known before it runs")
      .def_readonly("why_no_test", &CompileReport::why_no_test)
      .def("__repr__",
           [](const CompileReport& r) { return "<ingot.Compiled: " + std::to_string(r.files.size()) + " files>"; });
  m.def("compile", &compile_model);
  m.def("compile_targets", &compile_targets);
}

}  // namespace ingot::python
