#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingot/frontends/custom_operators.h"
#include "ingot/frontends/notes.h"
#include "ingot/frontends/problems.h"
#include "ingot/frontends/torch/heap.h"
#include "ingot/frontends/torch/item.h"

namespace ingot {
class Budget;
}

namespace ingot::frontends::torch {

/// Thrown when an operator tells more of an input than was assumed: the translation begins anew with that.
struct Demand {
  std::string input;
  std::optional<Shape> shape{};
  DType dtype = DType::undefined;
  bool is_guess = false;  // the operator takes other ranks too
  bool is_new = false;    // of an input that was not known of
};

/// Domain of operators that stay as they are.
inline constexpr std::string_view kCustomDomain = "org.pytorch.aten";

/// The graph that is being written, and the tensors of the source in it.
class Translation {
 public:
  Translation(Graph& main, const std::vector<std::string>& allow_custom, Budget* budget);

  /// Writes into the graph at hand: the main one, or a branch or body inside it.
  GraphBuilder& g() { return *builders_.back(); }
  Graph& main() { return main_; }
  Budget* budget() const { return budget_; }

  /// Runs `body` with the graph as the one at hand.
  template <class Body> void inside(Graph& graph, Body&& body) {
    builders_.push_back(std::make_unique<GraphBuilder>(graph));
    name_after(scope_, op_);
    try {
      body();
    } catch (...) {
      builders_.pop_back();
      throw;
    }
    builders_.pop_back();
    name_after(scope_, op_);
  }
  /// What is made from now on is named after this place of the source, and comes from this operator.
  void name_after(const std::string& scope, const std::string& op);
  const std::string& scope() const { return scope_; }

  /// The tensor's value now.
  Value* read(const TensorRef& tensor);
  /// Changes it in place, in its storage and so in all that share it.
  void write(const TensorRef& tensor, Value* value);

  /// Calls an operator of ATen by its name without overload ("add", "conv2d"). What cannot be translated becomes a
  /// problem and an unknown result.
  Item call(std::string_view name, std::vector<Item> args, const std::vector<std::pair<std::string, Item>>& named = {});

  /// Counts work that is done before anything runs, and refuses more than programs need: code can call, nest and
  /// double without end.
  void spend(std::size_t amount);
  /// Before a list, dictionary or object holds another thing: what may change could nest without end.
  void hold(const Item& item);

  /// Numbers, known or not, as a value: int64, bool, or `elem` for floats.
  Value* value_of(const Item& number, DType elem = DType::f32);
  /// A number again: a known one where inference knows it.
  Item number_of(Value* scalar);

  /// Where the value is an input whose shape or type was only assumed, asks for this one instead.
  void demand_shape(Value* value, const Shape& shape, bool is_guess = false);
  void demand_dtype(Value* value, DType dtype);
  /// An input of the model of which no shape may be known, nor the type.
  void assume(const Value* input, bool is_untyped) {
    assumed_.push_back(input);
    if (is_untyped) untyped_.push_back(input);
  }

  /// The model is to be trained: normalisation and dropout stay what they are, whatever the file's flags say.
  bool is_trainable = false;
  Journal journal;
  Problems problems;
  Notes notes;

 private:
  Item translate(const Call& call, std::string_view name);
  Item custom(const Call& call, std::string_view name, const std::string& domain);
  bool is_visible(const Value* value);
  bool has_unknown(const std::vector<Item>& items);
  const Value* assumed_source(Value* value) const;

  Graph& main_;
  CustomOperators custom_;
  Budget* budget_;
  std::vector<std::unique_ptr<GraphBuilder>> builders_;
  std::vector<const Value*> assumed_, untyped_;
  std::string scope_, op_;
  std::size_t spent_ = 0;
};

}  // namespace ingot::frontends::torch
