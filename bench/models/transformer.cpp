// BERT-base with a sequence of 128 tokens, as exporters write it: 435 MB of weights.
#include <cmath>

#include "bench/models/models.h"

namespace ingot::bench {
namespace {

constexpr std::int64_t kHidden = 768, kInner = 3072, kHeads = 12, kLayers = 12, kTokens = 128, kVocabulary = 30522;

class Bert {
 public:
  explicit Bert(Graph& graph) : g_(graph), weights_(g_) {}

  Value* embed(Value* ids) {
    Value* words = g_.op("Gather", {weights_.weight({kVocabulary, kHidden}, 1), ids});
    Value* positions = weights_.weight({512, kHidden}, 1);
    Value* first = g_.op("Slice", {positions, g_.ints({0}), g_.ints({kTokens}), g_.ints({0})});
    return norm(g_.add(words, first));
  }

  Value* layer(Value* x) {
    Value* query = heads(linear(x, kHidden, kHidden), {0, 2, 1, 3});
    Value* key = heads(linear(x, kHidden, kHidden), {0, 2, 3, 1});
    Value* value = heads(linear(x, kHidden, kHidden), {0, 2, 1, 3});
    Value* scores = g_.div(g_.op("MatMul", {query, key}), std::sqrt(static_cast<double>(kHidden / kHeads)));
    Value* mixed = g_.op("MatMul", {g_.op("Softmax", {scores}, {{"axis", -1}}), value});
    Value* joined = g_.reshape(g_.transpose(mixed, {0, 2, 1, 3}), {1, kTokens, kHidden});
    Value* attended = norm(g_.add(linear(joined, kHidden, kHidden), x));
    Value* inner = g_.op("Gelu", {linear(attended, kHidden, kInner)});
    return norm(g_.add(linear(inner, kInner, kHidden), attended));
  }

 private:
  Value* linear(Value* x, std::int64_t in, std::int64_t out) {
    Value* product = g_.op("MatMul", {x, weights_.weight({in, out}, in)});
    return g_.add(product, weights_.uniform({out}, -0.1f, 0.1f));
  }
  Value* heads(Value* x, std::vector<std::int64_t> perm) {
    return g_.transpose(g_.reshape(x, {1, kTokens, kHeads, kHidden / kHeads}), std::move(perm));
  }
  Value* norm(Value* x) {
    Value* scale = weights_.uniform({kHidden}, 0.9f, 1.1f);
    Value* bias = weights_.uniform({kHidden}, -0.1f, 0.1f);
    return g_.op("LayerNormalization", {x, scale, bias}, {{"axis", -1}, {"epsilon", 1e-12}});
  }

  GraphBuilder g_;
  Weights weights_;
};

}  // namespace

void bert_base(Graph& graph) {
  Value* x = graph.add_input("input_ids", Type::tensor(DType::i64, Shape{1, kTokens}));
  Bert bert(graph);
  Value* y = bert.embed(x);
  for (std::int64_t i = 0; i < kLayers; ++i) y = bert.layer(y);
  graph.add_output(y);
}

}  // namespace ingot::bench
