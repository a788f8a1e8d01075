#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {

/// Whole numbers of any type, from `low` on and below `high`; bool: whether they are odd.
inline Array whole_numbers(Random& random, DType type, Dims dims, std::int64_t low, std::int64_t high) {
  Array made(type, std::move(dims));
  dispatch(type, JoinTypes<ops::ComputeNumbers, Types<bool>>{}, [&]<class T>() {
    for (T& value : made.mutable_data<T>()) {
      const std::int64_t number = low + random.below(high - low);
      if constexpr (std::is_same_v<T, bool>)
        value = number % 2 != 0;
      else
        value = static_cast<T>(number);
    }
  });
  return made;
}

inline std::vector<double> numbers_of(const Array& array) {
  if (array.dtype() != DType::boolean) return array.to_doubles();
  return {array.data<bool>().begin(), array.data<bool>().end()};
}

inline Type tensor_of(const Array& x) { return Type::tensor(x.dtype(), Shape(x.dims().begin(), x.dims().end())); }

/// One node over inputs a, b, c, ...
struct OneNode {
  Model model = empty_model();
  std::vector<NamedDatum> inputs;

  OneNode(const char* op, const std::vector<Array>& arrays, const Attrs& attrs = {}, std::size_t outputs = 1) {
    std::vector<Value*> values;
    for (const Array& array : arrays) {
      const std::string name(1, static_cast<char>('a' + values.size()));
      values.push_back(model.graph->add_input(name, tensor_of(array)));
      inputs.push_back({name, array});
    }
    GraphBuilder g(*model.graph);
    Node* node = g.node(op, "", values, attrs, outputs);
    ops::InferSession session;
    ops::infer_node(*node, session);
    for (Value* output : node->outputs()) model.graph->add_output(output);
  }
};

/// All outputs by fast kernels, on one and on two threads, are those of reference kernels, up to `tolerance` of each
/// number. No node is left to a reference kernel.
inline void expect_same_numbers(const Model& model, const std::vector<NamedDatum>& inputs, double tolerance = 0) {
  SessionOptions slow;
  slow.is_fast = false;
  const auto reference = Session(model, slow).run(inputs);
  for (const int threads : {1, 2}) {
    SessionOptions options;
    options.threads = threads;
    const Session session(model, options);
    const auto fast = session.run(inputs);
    for (const KernelChoice& choice : session.kernels())
      EXPECT_NE(choice.kernel, "reference") << choice.op << (choice.refusals.empty() ? "" : choice.refusals[0].second);
    ASSERT_EQ(fast.size(), reference.size());
    for (std::size_t k = 0; k < fast.size(); ++k) {
      const Array &a = *fast[k].value.array(), &b = *reference[k].value.array();
      ASSERT_EQ(a.dtype(), b.dtype());
      ASSERT_EQ(a.dims(), b.dims());
      const auto x = numbers_of(a), y = numbers_of(b);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i]) continue;
        ASSERT_LE(std::abs(x[i] - y[i]), tolerance * std::max(1.0, std::abs(y[i]))) << "output " << k << ", " << i;
      }
    }
  }
}

}  // namespace ingot::engine
