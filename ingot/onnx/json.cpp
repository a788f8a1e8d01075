// Models as JSON for other programs.
#include "ingot/onnx/json.h"

#include <complex>

#include "ingot/base/elements.h"
#include "ingot/onnx/json_writer.h"
#include "ingot/onnx/stated_values.h"
#include "ingot/onnx/text_words.h"

namespace ingot::onnx {
namespace {

class ModelToJson {
 public:
  explicit ModelToJson(const JsonOptions& options) : options_(options) {}
  std::string convert(const Model& m);

 private:
  void entries(std::string_view key, const Metadata& list);
  void opsets(const OpsetImports& imports);
  template <class List, class Each> void array(std::string_view key, const List& list, Each&& each);

  void type(const Type& t);
  void info(std::string_view name, const Type& t, std::string_view doc, const Metadata& metadata,
            std::string_view unknown);
  void info(const Value& v) { info(v.name(), v.type, v.doc_string, v.metadata, v.unknown); }
  void info(const ValueInfo& v) { info(v.name, v.type, v.doc_string, v.metadata, v.unknown); }
  void tensor(const Tensor& t, std::string_view name);
  void elements(const Tensor& t);
  void sparse(const SparseTensor& s, std::string_view name);
  void attribute(const Attribute& a);
  void node(const Node& n);
  void graph(const Graph& g);
  void function(const Function& f);
  void training(const TrainingInfo& t);

  void value(std::monostate) { json_.null(); }
  void value(float v) { json_.value(v); }
  void value(std::int64_t v) { json_.value(v); }
  void value(const std::string& v) { json_.value(std::string_view(v)); }
  void value(const Tensor& v) { tensor(v, {}); }
  void value(const SparseTensor& v) { sparse(v, {}); }
  void value(const Type& v) { type(v); }
  void value(const GraphPtr& v) {
    if (v)
      graph(*v);
    else
      json_.null();
  }
  template <class T> void value(const std::vector<T>& list) {
    json_.begin_array();
    for (const T& v : list) value(v);
    json_.end_array();
  }

  JsonWriter json_;
  JsonOptions options_;
};

template <class List, class Each> void ModelToJson::array(std::string_view key, const List& list, Each&& each) {
  if (list.begin() == list.end()) return;
  json_.key(key);
  json_.begin_array();
  for (const auto& item : list) each(item);
  json_.end_array();
}

void ModelToJson::entries(std::string_view key, const Metadata& list) {
  array(key, list, [&](const auto& entry) {
    json_.begin_object();
    json_.key("key");
    json_.value(std::string_view(entry.first));
    json_.key("value");
    json_.value(std::string_view(entry.second));
    json_.end_object();
  });
}

void ModelToJson::opsets(const OpsetImports& imports) {
  array("opset_import", imports, [&](const OpsetImport& import) {
    json_.begin_object();
    json_.key("domain");
    json_.value(std::string_view(import.domain));
    json_.key("version");
    json_.value(import.version);
    json_.bytes("unknown", import.unknown);
    json_.end_object();
  });
}

void ModelToJson::type(const Type& t) {
  static constexpr std::string_view kKinds[] = {"none", "tensor",   "sparse_tensor", "sequence",
                                                "map",  "optional", "opaque"};
  json_.begin_object();
  json_.key("kind");
  json_.value(kKinds[static_cast<std::size_t>(t.kind)]);
  if (t.elem != DType::undefined) json_.text(t.kind == Type::Kind::map ? "key_type" : "elem_type", name_of(t.elem));
  if (t.shape) {
    json_.key("shape");
    json_.begin_array();
    for (const Dim& dim : *t.shape) {
      if (dim.is_known())
        json_.value(dim.value());
      else if (dim.is_symbolic())
        json_.value(std::string_view(dim.str()));
      else
        json_.null();
    }
    json_.end_array();
  }
  if (t.element) {
    json_.key(t.kind == Type::Kind::map ? "value_type" : "element");
    type(*t.element);
  }
  if (t.notes) {
    json_.text("denotation", t.notes->denotation);
    array("dim_denotations", t.notes->dim_denotations, [&](const std::string& text) { value(text); });
    json_.text("opaque_domain", t.notes->opaque_domain);
    json_.text("opaque_name", t.notes->opaque_name);
    json_.bytes("unknown", t.notes->unknown);
  }
  json_.end_object();
}

void ModelToJson::info(std::string_view name, const Type& t, std::string_view doc, const Metadata& metadata,
                       std::string_view unknown) {
  json_.begin_object();
  json_.key("name");
  json_.value(name);
  if (t || t.notes) {
    json_.key("type");
    type(t);
  }
  json_.text("doc_string", doc);
  entries("metadata_props", metadata);
  json_.bytes("unknown", unknown);
  json_.end_object();
}

void ModelToJson::elements(const Tensor& t) {
  json_.begin_array();
  for (const std::string& text : t.strings()) json_.value(std::string_view(text));
  if (t && t.dtype() != DType::string) {
    dispatch(t.dtype(), Fixed{}, [&]<class T>() {
      for (std::size_t i = 0; i < static_cast<std::size_t>(t.size()); ++i) {
        const T v = load_element<T>(t.bytes().data(), i);
        if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
          json_.begin_array();
          json_.value(v.real());
          json_.value(v.imag());
          json_.end_array();
        } else if constexpr (std::is_floating_point_v<T>) {
          json_.value(v);
        } else if constexpr (is_float(dtype_of<T>)) {
          json_.value(static_cast<float>(v));
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
          json_.value(v);
        } else {
          json_.value(static_cast<std::int64_t>(v));
        }
      }
    });
  }
  json_.end_array();
}

void ModelToJson::tensor(const Tensor& t, std::string_view name) {
  json_.begin_object();
  json_.text("name", name.empty() && t.notes ? std::string_view(t.notes->name) : name);
  json_.text("data_type", name_of(t.dtype()));
  json_.key("dims");
  value(t.dims());
  json_.key("bytes");
  json_.value(static_cast<std::uint64_t>(t.bytes().size()));
  if (options_.values) {
    json_.key("values");
    elements(t);
  }
  if (t.notes) {
    json_.text("doc_string", t.notes->doc_string);
    entries("metadata_props", t.notes->metadata);
    json_.bytes("unknown", t.notes->unknown);
  }
  json_.end_object();
}

void ModelToJson::sparse(const SparseTensor& s, std::string_view name) {
  json_.begin_object();
  json_.text("name", name);
  json_.key("dims");
  value(s.dims);
  json_.key("values");
  tensor(s.values, {});
  json_.key("indices");
  tensor(s.indices, {});
  json_.bytes("unknown", s.unknown);
  json_.end_object();
}

void ModelToJson::attribute(const Attribute& a) {
  json_.begin_object();
  json_.key("name");
  json_.value(std::string_view(a.name));
  json_.text("type", word_of(a.type()));
  json_.text("ref_attr_name", a.reference);
  if (!std::holds_alternative<std::monostate>(a.value)) {
    json_.key("value");
    std::visit([&](const auto& v) { value(v); }, a.value);
  }
  json_.text("doc_string", a.doc_string);
  json_.bytes("unknown", a.unknown);
  json_.end_object();
}

void ModelToJson::node(const Node& n) {
  const auto value_name = [&](const Value* v) { json_.value(v ? std::string_view(v->name()) : std::string_view()); };
  json_.begin_object();
  json_.text("name", n.name);
  json_.key("op_type");
  json_.value(std::string_view(n.op));
  json_.text("domain", n.domain);
  json_.text("overload", n.overload);
  array("input", n.inputs(), value_name);
  array("output", n.outputs(), value_name);
  array("attribute", n.attributes, [&](const Attribute& a) { attribute(a); });
  json_.text("doc_string", n.doc_string);
  entries("metadata_props", n.metadata);
  json_.bytes("device_configurations", n.device_configurations);
  json_.bytes("unknown", n.unknown);
  json_.end_object();
}

void ModelToJson::graph(const Graph& g) {
  std::vector<const Value*> dense, sparse_ones;
  for (const Value* v : g.initializers()) (v->initializer ? dense : sparse_ones).push_back(v);
  json_.begin_object();
  json_.key("name");
  json_.value(std::string_view(g.name));
  json_.text("doc_string", g.doc_string);
  array("input", g.inputs(), [&](const Value* v) { info(*v); });
  array("output", g.outputs(), [&](const Value* v) { info(*v); });
  array("initializer", dense, [&](const Value* v) { tensor(*v->initializer, v->name()); });
  array("sparse_initializer", sparse_ones, [&](const Value* v) { sparse(*v->sparse_initializer, v->name()); });
  array("value_info", stated_values(g), [&](const Value* v) { info(*v); });
  array("stray_value_info", g.stray_infos, [&](const ValueInfo& v) { info(v); });
  if (g.node_count()) {
    json_.key("node");
    json_.begin_array();
    for (const Node& n : g.nodes()) node(n);
    json_.end_array();
  }
  array("quantization_annotation", g.quantization, [&](const QuantizationAnnotation& q) {
    json_.begin_object();
    json_.key("tensor_name");
    json_.value(std::string_view(q.tensor_name));
    entries("quant_parameter_tensor_names", q.parameters);
    json_.bytes("unknown", q.unknown);
    json_.end_object();
  });
  entries("metadata_props", g.metadata);
  json_.bytes("unknown", g.unknown);
  json_.end_object();
}

void ModelToJson::function(const Function& f) {
  const auto value_name = [&](const Value* v) { json_.value(std::string_view(v->name())); };
  json_.begin_object();
  json_.key("name");
  json_.value(std::string_view(f.name));
  json_.text("domain", f.domain);
  json_.text("overload", f.overload);
  json_.text("doc_string", f.doc_string);
  opsets(f.opsets);
  array("input", f.body->inputs(), value_name);
  array("output", f.body->outputs(), value_name);
  array("attribute", f.attributes, [&](const std::string& text) { value(text); });
  array("attribute_proto", f.attribute_defaults, [&](const Attribute& a) { attribute(a); });
  array("value_info", stated_function_values(*f.body), [&](const Value* v) { info(*v); });
  array("stray_value_info", f.body->stray_infos, [&](const ValueInfo& v) { info(v); });
  json_.key("node");
  json_.begin_array();
  for (const Node& n : f.body->nodes()) node(n);
  json_.end_array();
  entries("metadata_props", f.metadata);
  json_.bytes("unknown", f.unknown);
  json_.end_object();
}

void ModelToJson::training(const TrainingInfo& t) {
  json_.begin_object();
  if (t.initialization) {
    json_.key("initialization");
    graph(*t.initialization);
  }
  if (t.algorithm) {
    json_.key("algorithm");
    graph(*t.algorithm);
  }
  entries("initialization_binding", t.initialization_binding);
  entries("update_binding", t.update_binding);
  json_.bytes("unknown", t.unknown);
  json_.end_object();
}

std::string ModelToJson::convert(const Model& m) {
  json_.begin_object();
  json_.key("ir_version");
  json_.value(m.ir_version);
  opsets(m.opsets);
  json_.text("producer_name", m.producer_name);
  json_.text("producer_version", m.producer_version);
  json_.text("domain", m.domain);
  if (m.model_version) {
    json_.key("model_version");
    json_.value(m.model_version);
  }
  json_.text("doc_string", m.doc_string);
  entries("metadata_props", m.metadata);
  json_.key("graph");
  graph(*m.graph);
  array("functions", m.functions, [&](const auto& f) { function(*f); });
  array("training_info", m.training, [&](const TrainingInfo& t) { training(t); });
  array("configuration", m.device_configurations, [&](const DeviceConfiguration& device) {
    json_.begin_object();
    json_.key("name");
    json_.value(std::string_view(device.name));
    json_.key("num_devices");
    json_.value(static_cast<std::int64_t>(device.device_count));
    array("device", device.devices, [&](const std::string& text) { value(text); });
    json_.bytes("unknown", device.unknown);
    json_.end_object();
  });
  json_.bytes("unknown", m.unknown);
  json_.end_object();
  return json_.take() + "\n";
}

}  // namespace

std::string to_json(const Model& model, const JsonOptions& options) { return ModelToJson(options).convert(model); }

}  // namespace ingot::onnx
