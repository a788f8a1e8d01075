#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ingot/ir/tensor.h"
#include "ingot/lower/expr.h"

// A model as structured loops over flat, row-major buffers: what backends print.

namespace ingot::lower {

/// The memory of a tensor.
struct Buffer {
  enum class Role : std::uint8_t { input, output, weight, scratch };
  std::string name;  // the model's, for people
  DType type = DType::f32;
  Exprs dims;  // the shape it is made in; loads may see it in another of the same size
  Role role = Role::scratch;
  std::optional<Tensor> value;  // of a weight
};

/// A scalar with a name of its own: a loop's counter, a size, something computed once.
struct Variable {
  std::string name;  // a dimension's, else empty
  DType type = DType::i64;
  bool is_index = true;
  bool is_natural = false;  // never negative
};

/// One loop: `variable` runs from 0 to below `extent`.
struct Axis {
  int variable = -1;
  Expr extent;
};
using Axes = std::vector<Axis>;

struct Statement;
using Body = std::vector<Statement>;

/// out[at] = value for all values of the axes, in any order. `dims` is the shape in which `at` counts.
struct Map {
  int out = -1;
  Axes axes;
  Exprs at, dims;
  Expr value;
};

enum class Combine : std::uint8_t { sum, product, min, max };

/// out[axes] = the sum (product, ...) of value over `reduced`.
struct Reduce {
  int out = -1;
  Axes axes, reduced;
  Combine combine = Combine::sum;
  Expr value;
};

/// What results are held in: all that is less becomes `low`, all that is more `high`.
struct Range {
  double low, high;
};

/// out[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]; each matrix is dense and may be stored transposed.
/// Where a matrix starts is an expression of the batch axes.
struct Product {
  int out = -1, a = -1, b = -1;
  Axes batch;
  Expr m, n, k;
  bool a_transposed = false, b_transposed = false;
  Expr a_start, b_start, out_start;
  // A backend's own: memory that its kernel works in, whether a matrix lies in the panels that it wants, what results
  // are held in.
  int scratch = -1;
  bool a_packed = false, b_packed = false;
  std::optional<Range> range;
};

/// A convolution [N, C, ...] * [M, C / group, ...] + bias.
struct Convolution {
  int out = -1, x = -1, w = -1, bias = -1;  // bias: -1 if there is none
  Expr batch;
  std::int64_t channels = 0, features = 0, group = 1;
  Exprs in, outs;  // spatial sizes
  std::vector<std::int64_t> kernel, strides, dilations;
  Exprs pads;  // at the beginning of each axis
  // A backend's own, as in Product.
  int scratch = -1;
  bool w_packed = false;
  std::optional<Range> range;
};

/// The places along the middle axis of [outer, n, inner] in ascending order of their numbers, equal ones in order; NaN
/// is the largest.
struct Sort {
  int places = -1, x = -1;
  Expr outer, n, inner;
  bool is_descending = false;  // equal ones in order all the same
};

/// out[row, target] = the sum of the votes of all trees, in double. What is compared are ranks: of the numbers that
/// branches ask a column for, how many a value is above of.
struct Forest {
  int out = -1, x = -1;
  Expr rows;
  std::int64_t width = 0, columns = 0, trees = 0, targets = 0;  // width: of x; columns: that branches ask for
  // Tables, as ranked_forest.cpp makes them; aims: -1 where each leaf votes for all targets in order.
  int numbers = -1, begins = -1, places = -1, tops = -1, nodes = -1, shapes = -1, votes = -1, aims = -1;
};

/// tensor[at] = value, once. `dims` is the shape in which `at` counts.
struct Store {
  int tensor = -1;
  Exprs at, dims;
  Expr value;
};

/// Declares a variable with its first value.
struct Let {
  int variable = -1;
  Expr value;
  bool is_changed = false;  // later, by Assign
};
struct Assign {
  int variable = -1;
  Expr value;
};

struct Loop {
  Axis axis;
  Body body;
  Expr go_on;  // asked before each round; null: always
};
struct Branch {
  Expr condition;
  Body yes, no;
};

/// The run ends here unless this holds: sizes that only it tells do not fit each other.
struct Require {
  Expr holds;
  std::string label;  // of whose sizes
};

/// Memory of a size that is known only now, of a buffer whose size is not constant.
struct Allocate {
  int tensor = -1;
};
/// The same with the elements that it had before, as many as fit.
struct Grow {
  int tensor = -1;
  Expr size;
};

/// Statements that belong together: what one node of the model, with all that is fused into it, became.
struct Group {
  std::string label;
  Body body;
};

struct Statement {
  std::variant<Map, Reduce, Product, Convolution, Sort, Forest, Store, Let, Assign, Loop, Branch, Require, Allocate,
               Grow, Group>
      is;
};

/// What a backend has besides loops, products, convolutions and sorting.
struct Kernels {
  bool forests = false;  // Forest
};

struct Port {
  std::string name;
  int tensor = -1;
  Exprs dims;
};

struct Program {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Variable> variables;
  std::vector<int> sizes;  // the variables that the caller gives: named dimensions of the inputs
  std::vector<Port> inputs, outputs;
  Body body;

  /// Whether every buffer has a constant size, and every output a constant shape.
  bool is_static() const;
};

/// Elements of a buffer, if that is constant.
std::optional<std::int64_t> static_size(const Buffer& buffer);

}  // namespace ingot::lower
