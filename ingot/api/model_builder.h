#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ingot/api/graph_view.h"

namespace ingot {

class Value;

/// Builds a model node by node, in the order in which they run.
///
///   ingot::ModelBuilder b(21);
///   const auto x = b.input("x", ingot::Type::tensor(ingot::DType::f32, ingot::Shape{ingot::Dim::symbol("N"), 4}));
///   const auto w = b.initializer("w", ingot::Tensor::of<float>({4, 2}, weights));
///   b.output("y", b.node("Softmax", {b.node("MatMul", {x, w})}, {{"axis", -1}}));
///   const ingot::Model model = b.build();
///
/// Graphs inside of nodes (If, Loop, Scan) are written as text: see parse_model().
class ModelBuilder {
 public:
  /// A value of the graph that is being built; none: an optional input that is left out.
  class Ref {
   public:
    Ref() = default;
    explicit operator bool() const { return value_ != nullptr; }

   private:
    friend class ModelBuilder;
    explicit Ref(Value* value) : value_(value) {}
    Value* value_ = nullptr;
  };

  /// An attribute of a node: {"axis", 1}, {"alpha", 0.5}, {"mode", "linear"}, {"pads", {0, 1}}, {"to", DType::f32}.
  struct Attribute {
    Attribute(std::string name, AttributeValue value);
    Attribute(std::string name, int value);
    Attribute(std::string name, bool value);
    Attribute(std::string name, double value);
    Attribute(std::string name, const char* value);
    Attribute(std::string name, DType value);
    Attribute(std::string name, std::initializer_list<std::int64_t> values);

    std::string name;
    AttributeValue value;
  };

  /// `opset` is the version of ai.onnx.
  explicit ModelBuilder(std::int64_t opset = 21, std::string graph_name = "graph");
  ModelBuilder(ModelBuilder&&) noexcept;
  ModelBuilder& operator=(ModelBuilder&&) noexcept;
  ~ModelBuilder();

  /// Imports another domain, whose operators node() takes.
  void import_opset(const std::string& domain, std::int64_t version);
  Ref input(const std::string& name, const Type& type);
  Ref initializer(const std::string& name, const Tensor& value);
  /// A node with one output. `op` may name its domain: "ai.onnx.ml.Scaler". A name that is taken is made unique.
  Ref node(const std::string& op, const std::vector<Ref>& inputs, const std::vector<Attribute>& attributes = {},
           const std::string& output_name = {});
  /// A node with so many outputs.
  std::vector<Ref> node_outputs(const std::string& op, const std::vector<Ref>& inputs, std::size_t outputs,
                                const std::vector<Attribute>& attributes = {});
  /// Makes the value an output of the model, under this name.
  void output(const std::string& name, Ref value);

  /// The model with types inferred, and checked: throws one Error that lists every problem. The builder is empty
  /// afterwards.
  Model build();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A model in the text syntax of ONNX (docs/text.md). Errors name line and column.
Model parse_model(const std::string& text);

}  // namespace ingot
