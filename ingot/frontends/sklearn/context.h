#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/frontends/notes.h"
#include "ingot/frontends/sklearn/estimator.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::sklearn {

/// Columns on their way through a pipeline, in parts side by side. A part is a value [N, width], or an input of the
/// model that nobody has read yet: whoever reads it first decides whether it holds numbers or texts.
struct Part {
  Value* value = nullptr;
  std::size_t input = 0;  // where there is no value
  std::int64_t width = 1;
  std::string name{};  // of the one column of a data frame
};
using Columns = std::vector<Part>;
std::int64_t width_of(const Columns& columns);

/// What an estimator says. What it does not say is null.
struct Result {
  Value* values = nullptr;         // [N, outputs]: a regressor's predictions
  Value* scores = nullptr;         // [N, K], or [N, 1] where there are two classes
  bool decides_by_scores = true;   // they are its decision function, which estimators around it then ask for
  Value* probabilities = nullptr;  // [N, K]
  Value* place = nullptr;          // [N] int64: of the class
  Value* label = nullptr;          // [N] or [N, outputs]: where it does not follow from `place` and `classes`
  Labels classes{};
  std::vector<Value*> more_probabilities{};  // of further outputs
  Value* paths = nullptr;  // [N, trees] texts: 1 for each node of the tree that the row passes, else 0
};

struct Options {
  DType elem = DType::f64;   // what is computed in double there is computed in this
  bool wants_paths = false;  // trees tell which nodes a row passes
};

class Context {
 public:
  Context(Graph& graph, const pickle::Document& document, const Options& options);

  GraphBuilder g;
  const pickle::Document& document;
  const DType elem;
  const bool wants_paths;
  Notes notes;
  bool couples_rows = false;  // what a row gives depends on the others of its batch

  // Inputs.
  Columns add_input(const std::string& name, std::int64_t width);  // 0: any
  /// Those that nobody read are left out.
  void finish_inputs();

  // Columns as one value.
  Value* numbers(const Columns& columns);  // [N, width], of type elem
  Value* texts(const Columns& columns);    // [N, width]
  /// As they are, without a change of type where they have one.
  Value* any(const Columns& columns);
  Columns columns_of(Value* value);  // [N, width]
  Columns select(const Columns& columns, const std::vector<std::int64_t>& places);
  /// Of a data frame, by name.
  Columns by_names(const Columns& columns, const std::vector<std::string>& names);

  // Constants of type elem.
  Value* number(double value);
  Value* row(const std::vector<double>& values);  // [1, n]
  Value* matrix(const Matrix& matrix);
  Value* constant(const Labels& labels);  // rank 1, of the labels' own type

  // What many estimators need.
  Value* linear(Value* x, const Matrix& coefficients, const std::vector<double>& intercepts);  // x C^T + b
  Value* sum_rows(Value* x);                                                                   // [N, 1]
  Value* arg_max(Value* scores);                                                               // [N] int64
  Value* softmax(Value* scores);
  Value* sigmoid(Value* x);
  /// Rows divided by their sums; those of sum 0 get 1 / K.
  Value* normalised(Value* x);
  Value* column(Value* x, std::int64_t i);  // [N, 1]
  Value* is_nan(Value* x);
  Value* one_hot(Value* place, std::int64_t depth);  // [N, depth] of type elem
  /// Squared euclidean distances [N, rows], from differences.
  Value* square_distances(Value* x, const Matrix& points);

  // Estimators inside of others. They count, and their depth is limited.
  Result predict(const Estimator& estimator, const Columns& x);
  Columns transform(const Estimator& estimator, const Columns& x);
  /// The decision function, or else the probabilities: [N, 1] for two classes where it has one.
  Value* label_of(const Result& result);

 private:
  struct Input {
    Value* value;
    bool is_read;  // and its type settled
  };
  Value* realise(const Part& part, DType wanted);

  Graph& graph_;
  std::vector<Input> inputs_;
  int depth_ = 0;
  std::size_t count_ = 0;
};

/// Refuses a setting of an estimator.
[[noreturn]] void refuse(const std::string& why, const std::string& remedy = {});

}  // namespace ingot::frontends::sklearn
