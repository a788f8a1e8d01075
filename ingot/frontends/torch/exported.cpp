// Programs of torch.export: their tensors, inputs and outputs.
#include "ingot/formats/torch/exported.h"

#include <fmt/format.h>

#include <set>

#include "ingot/base/error.h"
#include "ingot/frontends/torch/exported_graph.h"
#include "ingot/frontends/torch/finish.h"
#include "ingot/frontends/torch/import.h"
#include "ingot/frontends/torch/interface.h"
#include "ingot/frontends/torch/module_reader.h"

namespace ingot::frontends::torch {
namespace {

namespace files = formats::torch;
using files::Argument;

/// The tensors of an exported program by their names, in whichever of its forms the archive keeps them.
class Weights {
 public:
  Weights(const files::Archive& archive, Budget* budget) : budget_(budget) {
    for (const std::string_view name : {"serialized_state_dict.pt", "serialized_state_dict.json",
                                        "serialized_constants.pt", "serialized_constants.json"})
      if (archive.has(name)) add_saved(archive.read(name));
    for (const std::string directory : {"data/weights/", "data/constants/"})
      for (const std::string& name : archive.below(directory)) {
        if (name.ends_with(".pt")) add_saved(archive.read(directory + name));
        if (name.ends_with("_config.json")) add_configured(archive, directory, archive.read(directory + name));
      }
  }

  const files::Tensor& get(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw Error(Code::bad_archive, fmt::format("the archive has no tensor '{}'", name));
    return found->second;
  }

 private:
  /// A dictionary of tensors, or one tensor of this name.
  void add_saved(const Bytes& file, const std::string& name = {}) {
    const files::Archive inner(file, budget_);
    if (inner.kind() != files::Kind::saved) return;
    const files::Saved saved = inner.saved("data");
    if (const files::Tensor* tensor = saved.tensor(saved.root())) tensors_.emplace(name, *tensor);
    const auto entries = formats::pickle::entries_of(saved.root());
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
      if (const files::Tensor* tensor = saved.tensor(*entries[i + 1]); tensor && entries[i]->is_text())
        tensors_.emplace(std::string(entries[i]->text), *tensor);
  }

  void add_configured(const files::Archive& archive, const std::string& directory, const Bytes& json) {
    for (const files::Payload& payload : files::read_payloads(json)) {
      if (payload.is_pickled) {
        add_saved(archive.read(directory + payload.path), payload.name);
        continue;
      }
      files::Tensor tensor{.dtype = payload.meta.dtype,
                           .storage = archive.read(directory + payload.path),
                           .offset = payload.meta.offset};
      for (const files::SymbolicInt& size : payload.meta.sizes) tensor.sizes.push_back(size.value);
      for (const files::SymbolicInt& stride : payload.meta.strides) tensor.strides.push_back(stride.value);
      if (tensor.strides.empty()) tensor.strides = files::contiguous_strides(tensor.sizes);
      tensors_.emplace(payload.name, std::move(tensor));
    }
  }

  Budget* budget_;
  std::map<std::string, files::Tensor> tensors_;
};

bool is_identifier(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos;
}

class Exported {
 public:
  Exported(Translation& t, const Weights& weights, const ImportOptions& options)
      : t_(t), weights_(weights), options_(options), graph_(t) {}

  std::vector<Parameter> parameters;

  void run(const files::ExportedProgram& program) {
    const files::ExportedGraph& graph = program.graph;
    if (program.inputs.size() != graph.inputs.size() || program.outputs.size() != graph.outputs.size())
      throw Error(Code::bad_source_graph, "the signature does not fit the graph");
    for (const files::OutputSpec& output : program.outputs)
      if (!output.is_user && options_.keeps_state) state_.insert(output.target);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) add_input(program.inputs[i], graph.inputs[i], graph);
    graph_.run(graph);
    t_.problems.throw_if_any("--allow-custom NAME keeps an operator as a custom node");
    std::vector<Item> outputs;
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      if (program.outputs[i].is_user)
        outputs.push_back(graph_.item(graph.outputs[i]));
      else if (!options_.keeps_state)
        t_.notes.add(
            fmt::format("the program changes '{}' while it runs; the model begins each run with the file's value",
                        program.outputs[i].target));
    }
    t_.name_after("output", "");
    add_outputs(t_, outputs.size() == 1 ? outputs[0] : Item::tuple(std::move(outputs)));
    for (std::size_t i = 0; i < graph.outputs.size() && options_.keeps_state; ++i)
      if (const Item now = program.outputs[i].is_user ? Item() : graph_.item(graph.outputs[i]); now.is_tensor())
        add_state_output(t_, program.outputs[i].target, t_.read(*now.get<TensorRef>()));
  }

 private:
  void add_input(const files::InputSpec& spec, const Argument& argument, const files::ExportedGraph& graph) {
    using Kind = files::InputSpec::Kind;
    Graph& main = t_.main();
    if (spec.kind == Kind::parameter || spec.kind == Kind::buffer || spec.kind == Kind::constant) {
      const files::Tensor& stored = weights_.get(spec.target);
      Item made(main.add_initializer(main.fresh_name(spec.target), stored_tensor(stored, t_.budget())));
      (*made.get<TensorRef>())->is_complex = is_complex(stored.dtype);
      Value* value = (*made.get<TensorRef>())->value;
      if (spec.kind == Kind::parameter) parameters.push_back({value->name(), true});
      if (state_.contains(spec.target)) main.set_is_input(value, true);
      graph_.set(argument.text, std::move(made));
      return;
    }
    const auto meta = graph.tensors.find(argument.text);
    if (argument.kind == Argument::Kind::symbol) {
      Value* value = main.add_input(main.fresh_name(argument.text), Type::tensor(DType::i64, Shape()));
      value->is_declared = true;
      graph_.set(argument.text, Scalar{value});
    } else if (argument.kind == Argument::Kind::tensor && meta != graph.tensors.end()) {
      Value* value = main.add_input(main.fresh_name(argument.text),
                                    Type::tensor(meta->second.dtype, shape_of(argument.text, meta->second)));
      value->is_declared = true;
      graph_.set(argument.text, Item(value));
    }
  }

  Shape shape_of(const std::string& name, const files::TensorMeta& meta) const {
    Shape shape;
    for (const files::SymbolicInt& size : meta.sizes) {
      if (size.expression.empty())
        shape.emplace_back(size.value);
      else
        shape.push_back(is_identifier(size.expression) ? Dim::symbol(size.expression)
                                                       : Dim::symbol(fmt::format("{}_{}", name, shape.size())));
    }
    for (const auto& [wanted, dims] : options_.input_shapes)
      for (std::size_t i = 0; wanted == name && i < dims.size() && i < shape.size(); ++i)
        if (!dims[i].is_unknown()) shape[i] = dims[i];
    return shape;
  }

  Translation& t_;
  const Weights& weights_;
  const ImportOptions& options_;
  ExportedGraph graph_;
  std::set<std::string> state_;  // buffers that go out as they are after the run
};

Bytes program_of(const files::Archive& archive) {
  if (archive.kind() == files::Kind::exported_flat) return archive.read("serialized_exported_program.json");
  for (const std::string& name : archive.below("models/"))
    if (name.ends_with(".json")) return archive.read("models/" + name);
  throw Error(Code::unsupported_format_version, "the archive holds compiled code instead of a graph")
      .hint("torch.export.save writes the graph");
}

}  // namespace

Imported import_exported(const files::Archive& archive, const ImportOptions& options) {
  const files::ExportedProgram program = files::read_exported(program_of(archive));
  Imported result;
  result.model = empty_model("main");
  Translation t(*result.model.graph, options.allow_custom, options.budget);
  const Weights weights(archive, options.budget);
  t.is_trainable = options.is_trainable;
  Exported exported(t, weights, options);
  exported.run(program);
  put_state_last(*result.model.graph);
  result.parameters = std::move(exported.parameters);
  finish(result.model);
  result.notes = t.notes.take();
  return result;
}

}  // namespace ingot::frontends::torch
