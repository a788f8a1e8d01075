#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
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
  struct State;

 public:
  /// A value of the graph that is being built; none: an optional input that is left out.
  class Ref {
   public:
    Ref() = default;
    explicit operator bool() const { return value_ != nullptr; }

   private:
    friend class ModelBuilder;
    Ref(const std::shared_ptr<State>& owner, Value* value) : owner_(owner), value_(value) {}
    std::weak_ptr<State> owner_;  // what is gone has no values left
    Value* value_ = nullptr;
  };

  /// An attribute of a node: {"axis", 1}, {"alpha", 0.5}, {"mode", "linear"}, {"to", DType::f32}, {"pads", {0, 1}},
  /// {"scales", {0.5, 2.0}}, {"keys", {"a", "b"}}, or whatever an AttributeValue holds.
  struct Attribute {
    Attribute(std::string n, AttributeValue v) : name(std::move(n)), value(std::move(v)) {}
    template <std::integral T>
    Attribute(std::string n, T v) : name(std::move(n)), value(static_cast<std::int64_t>(v)) {}
    template <std::floating_point T> Attribute(std::string n, T v) : name(std::move(n)), value(static_cast<float>(v)) {}
    Attribute(std::string name, const char* value);
    Attribute(std::string n, DType v) : Attribute(std::move(n), static_cast<std::int64_t>(v)) {}
    Attribute(std::string n, std::initializer_list<std::int64_t> v)
        : name(std::move(n)), value(list<std::int64_t>(v)) {}
    template <std::integral T>
    Attribute(std::string n, std::initializer_list<T> v) : name(std::move(n)), value(list<std::int64_t>(v)) {}
    template <std::floating_point T>
    Attribute(std::string n, std::initializer_list<T> v) : name(std::move(n)), value(list<float>(v)) {}
    Attribute(std::string n, std::initializer_list<const char*> v) : name(std::move(n)), value(list<std::string>(v)) {}

    std::string name;
    AttributeValue value;

   private:
    template <class To, class T> static std::vector<To> list(std::initializer_list<T> values) {
      return std::vector<To>(values.begin(), values.end());
    }
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
  /// A node with so many outputs, 65536 at most.
  std::vector<Ref> node_outputs(const std::string& op, const std::vector<Ref>& inputs, std::size_t outputs,
                                const std::vector<Attribute>& attributes = {});
  /// Makes the value an output of the model, under this name.
  void output(const std::string& name, Ref value);

  /// The model with types inferred, and checked: throws one Error that lists every problem. The builder is empty
  /// afterwards.
  Model build();

 private:
  State& state() const;
  std::shared_ptr<State> state_;  // its values know it from afar
};

/// A model in the text syntax of ONNX (docs/text.md). Errors name line and column.
Model parse_model(const std::string& text);

}  // namespace ingot
