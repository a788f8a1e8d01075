// Models: reading, looking at, changing, writing.
#include <pybind11/stl.h>

#include "bind.h"
#include "held_model.h"
#include "request.h"
#include "unlocked.h"
#include "values.h"

namespace ingot::python {
namespace {

struct ToPython {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(float value) const { return py::float_(value); }
  py::object operator()(std::int64_t value) const { return py::int_(value); }
  py::object operator()(const std::string& value) const { return to_text(value); }
  py::object operator()(const Tensor& value) const { return to_numpy(value); }
  py::object operator()(const SparseTensor& value) const {
    return py::module_::import("ingot._sparse")
        .attr("SparseTensor")(to_numpy(value.values), to_numpy(value.indices), py::tuple(py::cast(value.dims)));
  }
  py::object operator()(const Type& value) const { return py::str(value.str()); }
  py::object operator()(const GraphView& value) const { return py::cast(value); }
  template <class T> py::object operator()(const std::vector<T>& values) const {
    py::list list;
    for (const T& value : values) list.append((*this)(value));
    return list;
  }
};

py::dict attributes_of(const NodeView& node) {
  py::dict attributes;
  for (const AttributeView& a : node.attributes)
    attributes[to_text(a.name)] = a.reference.empty() ? std::visit(ToPython{}, a.value) : py::str("@" + a.reference);
  return attributes;
}

py::dict dict_of(const Metadata& metadata) {
  py::dict dict;
  for (const auto& [key, value] : metadata) dict[to_text(key)] = to_text(value);
  return dict;
}

py::dict initializers_dict(const std::vector<InitializerView>& list) {
  py::dict dict;
  for (const InitializerView& i : list) dict[to_text(i.name)] = i.sparse ? ToPython{}(*i.sparse) : to_numpy(i.value);
  return dict;
}

/// A list or dictionary that is made when it is first asked for; models do not change. Users get copies of it.
template <class F> py::object made_once(const py::object& self, const char* name, F&& make) {
  const py::dict kept = self.attr("__dict__");
  if (!kept.contains(name)) kept[name] = make(self.cast<const HeldModel&>());
  return kept[name].attr("copy")();
}

HeldModel load_path(const py::object& path, const py::dict& keywords) {
  const ConvertRequest request = to_request(keywords);
  refuse_writing(request);
  LoadOptions options = to_load(request);
  const std::string name = to_path(path);
  return unlocked([&](Budget& budget) {
    options.budget = &budget;
    Loaded loaded = load(name, options);
    return HeldModel{std::move(loaded.model), std::string(loaded.format->name), std::move(loaded.notes)};
  });
}

HeldModel load_bytes(const py::bytes& contents, const py::dict& keywords) {
  const ConvertRequest request = to_request(keywords);
  refuse_writing(request);
  LoadOptions options = to_load(request);
  const auto view = static_cast<std::string_view>(contents);
  // Weights stay where they are: in the bytes object, which lives as long as a tensor needs it.
  const Bytes bytes(keep(contents), reinterpret_cast<const std::byte*>(view.data()), view.size());
  return unlocked([&](Budget& budget) {
    options.budget = &budget;
    Loaded loaded = load_memory(bytes, options);
    return HeldModel{std::move(loaded.model), std::string(loaded.format->name), std::move(loaded.notes)};
  });
}

HeldModel optimized(const HeldModel& held, const std::string& level, bool ignore_nan, std::int64_t opset) {
  return unlocked([&](Budget& budget) {
    HeldModel result{held.model.clone(), held.format};
    OptimizeOptions options{level, ignore_nan, opset, &budget};
    const OptimizeSummary summary = optimize(result.model, options);
    result.notes.push_back(std::to_string(summary.nodes_before) + " nodes became " +
                           std::to_string(summary.nodes_after));
    for (const auto& [rule, count] : summary.rules) result.notes.push_back(rule + ": " + std::to_string(count));
    return result;
  });
}

void bind_views(py::module_& m) {
  py::class_<PortView>(m, "Port", "An input, an output or another value of a graph.")
      .def_property_readonly("name", [](const PortView& p) { return to_text(p.name); })
      .def_property_readonly(
          "type", [](const PortView& p) { return to_text(p.type.str()); }, "As text: float[N,3]")
      .def_property_readonly(
          "element_type", [](const PortView& p) { return std::string(name_of(p.type.elem)); },
          "ONNX's name of the element type: float, bfloat16, ...")
      .def_property_readonly(
          "dtype", [](const PortView& p) { return numpy_dtype(p.type.elem); },
          "numpy's type of the elements, or of the bits of what numpy lacks")
      .def_property_readonly(
          "shape", [](const PortView& p) { return to_python(p.type.shape); },
          "A number, a name or None per dimension; None: not even the rank is known")
      .def_readonly("has_default", &PortView::has_default, "An input that may be left out")
      .def("__repr__", [](const PortView& p) { return "<ingot.Port " + p.name + ": " + p.type.str() + ">"; });
  py::class_<NodeView>(m, "Node", "A node of a graph.")
      .def_property_readonly("name", [](const NodeView& n) { return to_text(n.name); })
      .def_property_readonly("op", [](const NodeView& n) { return to_text(n.op); })
      .def_property_readonly(
          "domain", [](const NodeView& n) { return to_text(n.domain); }, "'' is ai.onnx")
      .def_readonly("inputs", &NodeView::inputs, "Names of values; '': absent")
      .def_readonly("outputs", &NodeView::outputs, "Names of values; '': absent")
      .def_property_readonly("attributes", &attributes_of, "By name; graphs are lists of Graphs")
      .def_property_readonly("metadata", [](const NodeView& n) { return dict_of(n.metadata); })
      .def("__repr__", [](const NodeView& n) { return "<ingot.Node " + n.op + " '" + n.name + "'>"; });
  py::class_<GraphView>(m, "Subgraph", "A graph inside of a node or a function.")
      .def_readonly("name", &GraphView::name)
      .def_readonly("inputs", &GraphView::inputs)
      .def_readonly("outputs", &GraphView::outputs)
      .def_readonly("nodes", &GraphView::nodes)
      .def_property_readonly("initializers", [](const GraphView& g) { return initializers_dict(g.initializers); });
  py::class_<FunctionView>(m, "Function", "A function that the model defines.")
      .def_readonly("domain", &FunctionView::domain)
      .def_readonly("name", &FunctionView::name)
      .def_readonly("attributes", &FunctionView::attributes)
      .def_readonly("body", &FunctionView::body);
}

void bind_checking(py::module_& m) {
  py::class_<Problem>(m, "Problem", "One breach of the rules of ONNX.")
      .def_property_readonly("code", [](const Problem& p) { return code_name(p.code); })
      .def_property_readonly("severity", [](const Problem& p) { return std::string(passes::name_of(p.severity)); })
      .def_property_readonly("place", [](const Problem& p) { return to_text(p.place); })
      .def_property_readonly("message", [](const Problem& p) { return to_text(p.message); })
      .def_property_readonly("hint", [](const Problem& p) { return to_text(p.hint); })
      .def("__str__", &Problem::str)
      .def("__repr__", [](const Problem& p) { return "<ingot.Problem " + p.str() + ">"; });
  m.def("check",
        [](const HeldModel& held) { return unlocked([&](Budget& budget) { return check(held.model, &budget); }); });
}

}  // namespace

void bind_model(py::module_& m) {
  bind_views(m);
  bind_checking(m);
  py::class_<HeldModel>(m, "Model", "A model in memory. It does not change: what changes models returns new ones.",
                        py::dynamic_attr())
      .def_property_readonly("inputs", [](const HeldModel& h) { return inputs_of(h.model); })
      .def_property_readonly("outputs", [](const HeldModel& h) { return outputs_of(h.model); })
      .def_property_readonly(
          "values", [](const HeldModel& h) { return values_of(h.model); },
          "What nodes make, with the types that the model states; see infer_shapes")
      .def_property_readonly(
          "nodes",
          [](const py::object& self) {
            return made_once(self, "_nodes", [](const HeldModel& h) { return py::cast(nodes_of(h.model)); });
          },
          "In the order of the graph")
      .def_property_readonly("functions", [](const HeldModel& h) { return functions_of(h.model); })
      .def_property_readonly(
          "initializers",
          [](const py::object& self) {
            return made_once(self, "_initializers",
                             [](const HeldModel& h) { return initializers_dict(initializers_of(h.model)); });
          },
          "Weights by name: read-only views of the model's own bytes")
      .def_property_readonly("opset", [](const HeldModel& h) { return h.model.opsets.version(""); })
      .def_property_readonly("opsets",
                             [](const HeldModel& h) {
                               py::dict dict;
                               for (const OpsetImport& import : h.model.opsets)
                                 dict[to_text(import.domain)] = import.version;
                               return dict;
                             })
      .def_property_readonly("ir_version", [](const HeldModel& h) { return h.model.ir_version; })
      .def_property_readonly("producer", [](const HeldModel& h) { return to_text(h.model.producer_name); })
      .def_property_readonly("doc_string", [](const HeldModel& h) { return to_text(h.model.doc_string); })
      .def_property_readonly("metadata", [](const HeldModel& h) { return dict_of(h.model.metadata); })
      .def_readonly("format", &HeldModel::format, "The format that it was read from")
      .def_readonly("notes", &HeldModel::notes, "What was changed or assumed on the way, a line each")
      .def(
          "to_bytes",
          [](const HeldModel& h) { return py::bytes(unlocked([&](Budget&) { return save_memory(h.model); })); },
          "The bytes of a .onnx file; onnx.load_from_string reads them")
      .def(
          "text", [](const HeldModel& h) { return readable_text(h.model); },
          "The graph in ONNX's text syntax, long weights left out")
      .def("__repr__", [](const HeldModel& h) {
        const Summary s = summarise(h.model);
        return "<ingot.Model " + s.graph_name + ": " + std::to_string(s.nodes) + " nodes, " +
               std::to_string(s.parameter_elements) + " parameters, opset " +
               std::to_string(h.model.opsets.version("")) + ">";
      });
  m.def("load_path", &load_path, Inside::guard());
  m.def("load_bytes", &load_bytes, Inside::guard());
  m.def("parse", [](const std::string& text) { return HeldModel{parse_model(text), "onnxtxt"}; });
  m.def("optimize", &optimized);
  m.def("formats", [] {
    py::list names;
    for (const Format* format : all_formats())
      names.append(py::make_tuple(std::string(format->name), std::string(format->title), format->load != nullptr,
                                  format->save != nullptr));
    return names;
  });
}

}  // namespace ingot::python
