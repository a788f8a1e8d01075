// Models made to harm: each ends as an error, soon and in little memory.
#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/model.h"
#include "ingot/frontends/tflite/import.h"
#include "ingot/frontends/tflite/operator_table.h"
#include "tests/support/refusal.h"
#include "tests/support/survival.h"

namespace ingot::frontends::tflite {
namespace {

namespace tfl = formats::tflite;
using tfl::BuiltinOperator;

tfl::Tensor tensor(std::size_t rank, tfl::TensorType type = tfl::TensorType::FLOAT32) {
  tfl::Tensor t;
  t.shape.assign(rank, 2);
  t.has_rank = true;
  t.type = type;
  return t;
}

/// A model of `count` subgraphs, each of one input, one output and the operators that `fill` adds.
template <class Fill> tfl::Model model_of(std::size_t count, Fill fill) {
  tfl::Model model;
  model.buffers.emplace_back();
  for (std::size_t i = 0; i < count; ++i) {
    tfl::SubGraph graph;
    graph.tensors = {tensor(0, tfl::TensorType::BOOL), tensor(0, tfl::TensorType::BOOL)};
    graph.inputs = {0};
    graph.outputs = {1};
    fill(graph, i);
    model.subgraphs.push_back(std::move(graph));
  }
  return model;
}

tfl::Operator call(BuiltinOperator kind, const std::vector<const char*>& fields, std::int64_t subgraph) {
  tfl::Operator op;
  op.code.builtin = kind;
  op.options = fields.empty() ? tfl::Options() : tfl::Options(kind);
  for (const char* field : fields) op.options.set(field, subgraph);
  op.inputs = {0};
  op.outputs = {1};
  return op;
}

void import_within_limits(const tfl::Model& model) {
  Budget budget({.memory = std::uint64_t{256} << 20, .time = std::chrono::seconds(20), .nodes = 100'000});
  const BudgetScope scope(&budget);
  (void)import_model(model, {});
}

/// How each operator that leads to a subgraph names it.
const std::vector<std::pair<BuiltinOperator, std::vector<const char*>>> kCalls = {
    {BuiltinOperator::IF, {"then_subgraph_index", "else_subgraph_index"}},
    {BuiltinOperator::WHILE, {"cond_subgraph_index", "body_subgraph_index"}},
    {BuiltinOperator::CALL_ONCE, {"init_subgraph_index"}},
    {BuiltinOperator::STABLEHLO_COMPOSITE, {"decomposition_subgraph_index"}},
};

TEST(TfliteHostile, SubgraphsThatLeadToThemselvesAreRefused) {
  for (const auto& [kind, fields] : kCalls)
    for (const bool has_options : {true, false})
      for (const std::size_t length : {1, 2, 5}) {
        const auto model = model_of(length, [&, kind = kind, fields = fields](tfl::SubGraph& graph, std::size_t i) {
          graph.operators.push_back(call(kind, has_options ? fields : std::vector<const char*>(),
                                         static_cast<std::int64_t>((i + 1) % length)));
        });
        EXPECT_THROW(import_within_limits(model), Error) << static_cast<int>(kind) << " of " << length;
      }
}

TEST(TfliteHostile, SubgraphsThatUseEachOtherTwiceStayWithinTheLimits) {
  // 2^30 branches in some hundred bytes.
  for (const auto& [kind, fields] : kCalls) {
    const auto model = model_of(30, [&, kind = kind, fields = fields](tfl::SubGraph& graph, std::size_t i) {
      if (i + 1 == 30) return;
      for (int twice = 0; twice < 2; ++twice)
        graph.operators.push_back(call(kind, fields, static_cast<std::int64_t>(i + 1)));
    });
    EXPECT_THROW(import_within_limits(model), Error) << static_cast<int>(kind);
  }
}

TEST(TfliteHostile, SubgraphsThatDoNotExistAreRefused) {
  for (const auto& [kind, fields] : kCalls)
    for (const std::int64_t index : {1, -1, 1 << 30}) {
      const auto model = model_of(1, [&, kind = kind, fields = fields](tfl::SubGraph& graph, std::size_t) {
        graph.operators.push_back(call(kind, fields, index));
      });
      EXPECT_THROW(import_within_limits(model), Error) << static_cast<int>(kind) << " " << index;
    }
}

/// One operator of a kind with so many inputs of a rank; every second one may be a constant.
tfl::Model one_operator(BuiltinOperator kind, std::size_t inputs, std::size_t rank, bool has_constants,
                        bool has_options) {
  tfl::Model model;
  model.buffers.resize(2);
  tfl::SubGraph& graph = model.subgraphs.emplace_back();
  tfl::Operator op;
  op.code.builtin = kind;
  op.options = has_options ? tfl::Options(kind) : tfl::Options::left_out(kind);
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto index = static_cast<std::int32_t>(graph.tensors.size());
    const bool is_constant = has_constants && i % 2 == 1;
    tfl::Tensor t = tensor(rank, is_constant ? tfl::TensorType::INT32 : tfl::TensorType::FLOAT32);
    if (is_constant) {
      t.buffer = 1;
      model.buffers[1] = Bytes::own(std::string(std::size_t{4} << rank, '\x01'));
    } else {
      graph.inputs.push_back(index);
    }
    graph.tensors.push_back(t);
    op.inputs.push_back(index);
  }
  for (int i = 0; i < 2; ++i) {
    op.outputs.push_back(static_cast<std::int32_t>(graph.tensors.size()));
    graph.tensors.push_back(tensor(rank));
  }
  graph.outputs = op.outputs;
  graph.operators.push_back(op);
  return model;
}

TEST(TfliteHostile, NoOperatorTakesItsInputsForGranted) {
  constexpr int kOperators = 210;
  for (int first = 0; first < kOperators; first += 30)
    EXPECT_EQ(test::death_of([&](const test::Say& say) {
                for (int kind = first; kind < first + 30; ++kind)
                  for (const std::size_t inputs : {0, 1, 2, 3, 5})
                    for (const std::size_t rank : {0, 1, 2, 4, 5})
                      for (const bool has_constants : {false, true}) {
                        say("operator " + std::to_string(kind) + " with " + std::to_string(inputs) +
                            " inputs of rank " + std::to_string(rank) + (has_constants ? ", some constant" : ""));
                        try {
                          import_within_limits(one_operator(static_cast<BuiltinOperator>(kind), inputs, rank,
                                                            has_constants, (rank + inputs) % 2 == 0));
                        } catch (const Error& error) {
                          if (error.exit_code() == 70) throw;
                        }
                      }
              }),
              "");
}

}  // namespace
}  // namespace ingot::frontends::tflite
