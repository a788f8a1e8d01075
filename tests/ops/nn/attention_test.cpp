// Attention and its relatives.
#include <gmock/gmock.h>

#include "ingot/ops/infer.h"
#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Attention, UnpacksHeads) {
  OpCase c;
  Values y = c.ops("Attention", {c.in("float[B,S,24]"), c.in("float[B,T,12]"), c.in("float[B,T,20]")},
                   {{"q_num_heads", 4}, {"kv_num_heads", 2}}, 1);
  EXPECT_EQ(y[0]->type.str(), "float[B,S,40]");
}

TEST(Attention, AppendsToTheCache) {
  OpCase c;
  c.ops("Attention",
        {c.in("float[B,4,S,8]"), c.in("float[B,2,T,8]"), c.in("float[B,2,T,6]"), nullptr, c.in("float[B,2,P,8]"),
         c.in("float[B,2,P,6]")},
        {}, 4);
  EXPECT_EQ(c.type(0), "float[B,4,S,6]");
  EXPECT_EQ(c.type(1), "float[B,2,P + T,8]");
  EXPECT_EQ(c.type(2), "float[B,2,P + T,6]");
  EXPECT_EQ(c.type(3), "float[B,4,S,P + T]");
}

TEST(Attention, SaysNothingOfUnknownRanks) {
  OpCase c;
  EXPECT_EQ(c.op("Attention", {c.in("float[...]"), c.in("float[...]"), c.in("float[...]")})->type.str(), "float[...]");
}

TEST(Attention, RefusesWhatCannotBe) {
  OpCase c;
  const auto refuse = [&](const char* q, const char* k, const char* v, const Attrs& attrs) {
    return refusal([&] { c.op("Attention", {c.in(q), c.in(k), c.in(v)}, attrs); });
  };
  EXPECT_THAT(refuse("float[1,2,3]", "float[1,2,3]", "float[1,2,3]", {}), HasSubstr("q_num_heads"));
  EXPECT_THAT(refuse("float[1,2]", "float[1,2]", "float[1,2]", {}), HasSubstr("rank 2"));
  EXPECT_THAT(refuse("float[1,3,2,8]", "float[1,2,2,8]", "float[1,2,2,8]", {}), HasSubstr("heads"));
  EXPECT_THAT(refuse("float[1,2,2,8]", "float[1,2,2,9]", "float[1,2,2,8]", {}), HasSubstr("head size"));
  EXPECT_THAT(refuse("float[1,2,7]", "float[1,2,7]", "float[1,2,7]", {{"q_num_heads", 2}, {"kv_num_heads", 2}}),
              HasSubstr("cannot be split"));
  EXPECT_THAT(refuse("float[1,2,2,8]", "float[1,2,2,8]", "float[1,2,2,8]", {{"left_window_size", -2}}),
              HasSubstr("window"));
}

TEST(Attention, IsExpandedForOlderOpsets) {
  OpCase c;
  c.ops("Attention", {c.in("float16[B,S,24]"), c.in("float16[B,T,12]"), c.in("float16[B,T,12]"), c.in("bool[S,M]")},
        {{"q_num_heads", 4}, {"kv_num_heads", 2}, {"is_causal", 1}, {"softcap", 2.0}, {"softmax_precision", 1}}, 1);
  c.convert(13);
  EXPECT_THAT(c.nodes(), Not(HasSubstr("Attention")));
  EXPECT_THAT(c.nodes(), HasSubstr("Tanh"));
  EXPECT_THAT(c.nodes(), HasSubstr("Softmax"));
  EXPECT_THAT(c.nodes(), HasSubstr("Pad"));
  EXPECT_EQ(c.type(), "float16[B,S,24]");
}

TEST(Attention, DecomposesToTheSameTypes) {
  for (const char* mode : {"0", "1", "2", "3"}) {
    OpCase c;
    c.ops("Attention",
          {c.in("float[B,4,S,8]"), c.in("float[B,2,T,8]"), c.in("float[B,2,T,6]"), c.in("float[S,U]"),
           c.in("float[B,2,P,8]"), c.in("float[B,2,P,6]")},
          {{"qk_matmul_output_mode", std::stoi(mode)}}, 4);
    ASSERT_TRUE(c.decompose());
    EXPECT_EQ(c.type(0), "float[B,4,S,6]");
    EXPECT_EQ(c.type(1), "float[B,2,P + T,8]");
    EXPECT_EQ(c.type(2), "float[B,2,P + T,6]");
    EXPECT_EQ(c.type(3), "float[B,4,S,P + T]");
  }
}

TEST(Attention, StaysWholeAcrossOpsetsThatCanSayIt) {
  OpCase c;
  c.op("Attention", {c.in("float[1,2,3,4]"), c.in("float[1,2,3,4]"), c.in("float[1,2,3,4]")},
       {{"left_window_size", -1}});
  c.convert(23);
  EXPECT_EQ(c.nodes(), "Attention");
  EXPECT_FALSE(c.node("Attention").attributes.has("left_window_size"));
  OpCase window;
  window.op("Attention", {window.in("float[1,2,3,4]"), window.in("float[1,2,3,4]"), window.in("float[1,2,3,4]")},
            {{"left_window_size", 2}});
  window.convert(24);
  EXPECT_THAT(window.nodes(), Not(HasSubstr("Attention")));
}

TEST(Attention, WithValidLengthsIsExpandedForOpset23) {
  OpCase c;
  c.op("Attention",
       {c.in("float[2,2,3,4]"), c.in("float[2,2,5,4]"), c.in("float[2,2,5,4]"), nullptr, nullptr, nullptr,
        c.in("int64[2]")},
       {{"is_causal", 1}});
  c.convert(23);
  EXPECT_THAT(c.nodes(), HasSubstr("Less"));
  EXPECT_EQ(c.type(), "float[2,2,3,4]");
}

TEST(RotaryEmbedding, DecomposesInEveryForm) {
  for (const int interleaved : {0, 1})
    for (const int partial : {0, 4})
      for (const bool packed : {false, true}) {
        OpCase c;
        const int half = partial ? partial / 2 : 4;
        const std::string cache = "float[50," + std::to_string(half) + "]";
        c.op("RotaryEmbedding",
             {c.in(packed ? "float[B,S,24]" : "float[B,3,S,8]"), c.in(cache), c.in(cache), c.in("int64[B,S]")},
             {{"interleaved", interleaved}, {"rotary_embedding_dim", partial}, {"num_heads", 3}});
        ASSERT_TRUE(c.decompose());
        EXPECT_EQ(c.type(), packed ? "float[B,S,24]" : "float[B,3,S,8]");
      }
}

TEST(RotaryEmbedding, NeedsHeadsForPackedInput) {
  OpCase c;
  EXPECT_THAT(refusal([&] {
                c.op("RotaryEmbedding", {c.in("float[B,S,24]"), c.in("float[B,S,4]"), c.in("float[B,S,4]")});
              }),
              HasSubstr("num_heads"));
}

TEST(LinearAttention, CarriesAState) {
  OpCase c;
  c.ops("LinearAttention",
        {c.in("float16[B,T,32]"), c.in("float16[B,T,16]"), c.in("float16[B,T,12]"), nullptr, c.in("float16[B,T,2]"),
         c.in("float16[B,T,1]")},
        {{"q_num_heads", 4}, {"kv_num_heads", 2}}, 2);
  EXPECT_EQ(c.type(0), "float16[B,T,24]");
  EXPECT_EQ(c.type(1), "float16[B,2,8,6]");
  ASSERT_TRUE(c.decompose());
  EXPECT_THAT(c.nodes(), HasSubstr("Scan"));
  EXPECT_EQ(c.type(1), "float16[B,2,8,6]");
}

TEST(LinearAttention, ChecksWhatTheRuleNeeds) {
  OpCase c;
  const Values inputs = {c.in("float[B,T,8]"), c.in("float[B,T,8]"), c.in("float[B,T,8]")};
  EXPECT_REFUSED(Code::inference_failed,
                 c.ops("LinearAttention", inputs, {{"q_num_heads", 2}, {"kv_num_heads", 2}}, 2));
  EXPECT_REFUSED(
      Code::inference_failed,
      c.ops("LinearAttention", inputs, {{"q_num_heads", 3}, {"kv_num_heads", 2}, {"update_rule", "linear"}}, 2));
  EXPECT_REFUSED(Code::inference_failed, c.ops("LinearAttention", inputs, {{"update_rule", "linear"}}, 2));
}

TEST(FlexAttention, InlinesItsModifiers) {
  OpCase c(0, "ai.onnx.preview");
  Node* node = GraphBuilder(*c.model.graph)
                   .node("FlexAttention", "ai.onnx.preview",
                         {c.in("float16[B,4,S,8]"), c.in("float16[B,2,T,8]"), c.in("float16[B,2,T,6]")}, {}, 1);
  auto modifier = std::make_unique<Graph>(c.model.graph.get());
  Value* scores = modifier->add_input("scores", tensor_type("float[...]"));
  modifier->add_output(GraphBuilder(*modifier).mul(scores, 2.0));
  node->attributes.append(Attribute("score_mod", AttrValue(std::move(modifier))));
  c.model.graph->add_output(node->output());
  ops::InferSession session;
  ops::infer_node(*node, session);
  EXPECT_EQ(c.type(), "float16[B,4,S,6]");
  ASSERT_TRUE(c.decompose());
  EXPECT_THAT(c.nodes(), HasSubstr("MatMul Cast Mul Softmax"));
  EXPECT_EQ(c.type(), "float16[B,4,S,6]");
}

}  // namespace
}  // namespace ingot::test
