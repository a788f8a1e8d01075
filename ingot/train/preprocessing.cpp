// Preparation of data as nodes of the model.
#include "ingot/train/preprocessing.h"

#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/ops/builder.h"

namespace ingot::train {
namespace {

constexpr std::size_t kMostColumns = 100;

class Writer {
 public:
  Writer(Model& model, Dataset& data) : graph_(*model.graph), data_(data) {}

  void add_inputs() {
    Values old;
    for (Value* v : graph_.inputs())
      if (!v->initializer) old.push_back(v);
    const auto& columns = data_.preparation.columns;
    const bool is_split = old.size() == 1 && !columns.empty() && columns.size() <= kMostColumns;
    std::size_t next = 0;
    for (Value* v : old) {
      const Array* column = data_.find(v->name());
      std::size_t at = 0;
      for (const auto& [name, array] : data_.columns)
        if (name != data_.target && at++ == next && !column) column = &array;
      ++next;
      const DType raw = data_.images ? DType::u8 : column ? column->dtype() : v->type.elem;
      if (is_float(v->type.elem)) replace(*v, raw, is_split ? columns : std::vector<std::string>());
    }
    if (is_split) data_.preparation.columns.clear();
    data_.preparation.scale = 1;
    data_.preparation.mean.clear();
    data_.preparation.deviation.clear();
  }

  void add_answers(const std::string& prediction) {
    Value* y = nullptr;
    for (Value* v : graph_.outputs())
      if (!y && (prediction.empty() || v->name() == prediction)) y = v;
    const auto& classes = data_.preparation.classes;
    if (!y || classes.empty() || !y->type.shape || y->type.shape->size() != 2) return;
    GraphBuilder g(graph_, nullptr, false);
    g.name_after("postprocess");
    Value* names = g.constant(Tensor::of_strings({static_cast<std::int64_t>(classes.size())}, classes));
    Value* best = g.op("ArgMax", {y}, {{"axis", 1}, {"keepdims", 0}});
    const Shape batch{y->type.shape->front()};
    add_output(g.op("Gather", {names, best}), "class", Type::tensor(DType::string, batch));
    if (data_.preparation.scores == "logits") add_output(g.op("Softmax", {y}, {{"axis", 1}}), "probabilities", y->type);
    data_.preparation.scores.clear();
  }

 private:
  void add_output(Value* v, const char* name, const Type& type) {
    graph_.rename(v, graph_.fresh_name(name));
    v->type = type;
    graph_.add_output(v);
  }

  /// A name of the data's, for an input: whatever inside the model has it makes way.
  void free_name(const std::string& name) {
    Value* taken = graph_.find(name);
    if (!taken) return;
    for (const Value* output : graph_.outputs())
      if (output == taken)
        throw Error(Code::bad_usage, "column '" + name + "' has the name of an output")
            .hint("--with-preprocessing makes an input of each column: rename one of them");
    graph_.rename(taken, graph_.fresh_name(name + "/inner"));
  }

  /// The input gives way to one that takes the data as it is.
  void replace(Value& old, DType raw, const std::vector<std::string>& columns) {
    const std::string name = old.name();
    graph_.rename(&old, graph_.fresh_name(name + "/prepared"));
    Node* first = graph_.first();
    GraphBuilder g(graph_, first, false);
    g.name_after("preprocess");
    const Type type = old.type;
    Value* x = nullptr;
    if (columns.empty()) {
      x = graph_.add_input(name, Type::tensor(raw, type.shape));
    } else {
      Values parts;
      const Dim batch = type.shape && !type.shape->empty() ? type.shape->front() : Dim();
      for (const std::string& column : columns) {
        free_name(column);
        parts.push_back(graph_.add_input(column, Type::tensor(type.elem, Shape{batch, Dim(1)})));
      }
      x = g.op("Concat", parts, {{"axis", 1}});
      x = shaped(g, x, type);
    }
    x = treated(g, x, raw, type, !columns.empty());
    graph_.replace_all_uses(&old, x);
    graph_.erase_inputs_if([&](const Value& v) { return &v == &old; });
  }

  static Value* shaped(GraphBuilder& g, Value* x, const Type& type) {
    if (!type.shape || type.shape->size() == 2) return x;
    std::vector<std::int64_t> dims = {-1};
    for (std::size_t i = 1; i < type.shape->size(); ++i) {
      if (!(*type.shape)[i].is_known())
        throw Error(Code::bad_usage, "the input's sizes are open: its columns cannot be put into their places");
      dims.push_back((*type.shape)[i].value());
    }
    return g.reshape(x, dims);
  }

  Value* treated(GraphBuilder& g, Value* x, DType raw, const Type& type, bool is_table) {
    const Preparation& p = data_.preparation;
    const bool is_real = is_float(raw);
    if (raw != type.elem && !is_table) x = g.op("Cast", {x}, {{"to", type.elem}});
    const auto numbers = [&](const std::vector<double>& values) {
      Dims dims;
      if (values.size() > 1) dims.push_back(static_cast<std::int64_t>(values.size()));
      const auto known = type.shape ? static_dims(Shape(type.shape->begin() + 1, type.shape->end())) : std::nullopt;
      if (values.size() > 1 && known && known->size() == 3 && (*known)[0] == dims[0]) dims.insert(dims.end(), 2, 1);
      if (type.elem == DType::f64) return g.constant(Tensor::of<double>(dims, values));
      return g.constant(Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end())));
    };
    if (p.scale != 1 && (!is_real || data_.is_table)) x = g.op("Div", {x, numbers({p.scale})});
    if (!p.mean.empty()) x = g.op("Sub", {x, numbers(p.mean)});
    if (!p.deviation.empty()) x = g.op("Div", {x, numbers(p.deviation)});
    return x;
  }

  Graph& graph_;
  Dataset& data_;
};

}  // namespace

void add_preprocessing(Model& model, Dataset& data, const std::string& prediction) {
  constexpr std::int64_t kLeast = 7;  // before, operators do not broadcast
  if (model.opsets.version("") < kLeast)
    throw Error(Code::bad_usage, "the model's operator set is too old for --with-preprocessing")
        .hint("'ingot convert --opset 13' makes a newer one of it");
  Writer writer(model, data);
  writer.add_inputs();
  writer.add_answers(prediction);
}

}  // namespace ingot::train
