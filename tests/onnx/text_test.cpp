// The text syntax: upstream's grammar, our own words, and messages that show the place.
#include "ingot/onnx/text.h"

#include "ingot/base/error.h"
#include "ingot/ir/equal.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/writer.h"
#include "tests/onnx/messages.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::onnx {
namespace {

/// Parses, prints and parses again, which must agree.
Model parse(std::string_view text) {
  Model model = parse_text(text);
  check_invariants(model);
  const std::string printed = to_text(model);
  std::string difference;
  try {
    EXPECT_TRUE(equal(model, parse_text(printed), &difference)) << difference << "\n" << printed;
  } catch (const Error& error) {
    ADD_FAILURE() << error.what() << "\n" << printed;
  }
  return model;
}

struct Refusal {
  Code code = Code::answer_is_no;
  std::string message;
};

Refusal refusal(std::string_view text) {
  try {
    (void)parse_text(text);
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
  return {};
}

TEST(Text, UpstreamExamplesAreRead) {
  const Model model = parse(R"ONNX(
    <
      ir_version: 7,
      opset_import: [ "" : 10 ],
      producer_name: "p", producer_version: "1", domain: "d", model_version: 3, doc_string: "about \"it\"",
      metadata_props: ["somekey" : "somevalue", "key2" : "value2"]
    >
    # a comment
    agraph (float[N, 128] X, float[128, 10] W, float[10] B) => (float[N, 10] C)
    {
        T = MatMul(X, W)
        S = Add(T, B)
        C = Softmax(S)
    }
  )ONNX");
  EXPECT_EQ(model.ir_version, 7);
  EXPECT_EQ(model.opsets.version(""), 10);
  EXPECT_EQ(model.doc_string, "about \"it\"");
  EXPECT_EQ(model.metadata.size(), 2u);
  const Graph& graph = *model.graph;
  EXPECT_EQ(graph.name, "agraph");
  EXPECT_EQ(graph.inputs()[0]->type.str(), "float[N,128]");
  EXPECT_EQ(graph.node_count(), 3u);
  EXPECT_EQ(graph.first()->input(1), graph.inputs()[1]);
  EXPECT_EQ(graph.output(0), graph.last()->output());
}

TEST(Text, InitializersMayStandAmongInputsAndValueInfos) {
  const Model model = parse(R"(
    g (float[2] x = {1, 2}, float[N] y) => (float[N] z)
    < float[2] w = {3.5, -1e-3}, float[N] t, float[2] w >
    { t = Add(x, w)  z = Mul(t, y) })");
  const Graph& g = *model.graph;
  EXPECT_TRUE(g.inputs()[0]->initializer);
  EXPECT_EQ(g.initializers().size(), 2u);
  EXPECT_TRUE(g.find("w")->is_declared);
  EXPECT_TRUE(g.find("t")->is_declared);
  EXPECT_EQ(g.find("w")->initializer->to_vector<float>(), (std::vector<float>{3.5f, -1e-3f}));
}

TEST(Text, AttributesGetTheirTypeFromTheWordOrTheValue) {
  const Model model = parse(R"(
    g (x) => (y) {
      y = d.Op <i = 1, f = 1.5, s = "text", is = [1, 2], fs = [1.0, 2.5], ss = ["a", "b"], t = float[2] {1, 2},
                named = float[1] w = {7}, tp = seq(float[N]), g = body (a) => (b) { b = Neg(a) },
                asfloat: float = 2, floats: floats = [1, 2], none: ints = [], n = -nan, inf = inf,
                ts: tensors = [float {1}, int64[2] {1, 2}], gs: graphs = [a () => () {}, "b c" () => () {}],
                tps: type_protos = [float, optional(map(string, int64[]))], sp = sparse[3,4] {float[1] {1}, int64[1] {5}}>
          (x)
    })");
  const Attributes& a = model.graph->first()->attributes;
  EXPECT_EQ(model.graph->first()->domain, "d");
  EXPECT_EQ(a.int_or("i", 0), 1);
  EXPECT_EQ(a.float_or("f", 0), 1.5f);
  EXPECT_EQ(a.string_or("s", ""), "text");
  EXPECT_EQ(a.ints_or("is", {}), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(*a.get<std::vector<float>>("fs"), (std::vector<float>{1, 2.5f}));
  EXPECT_EQ(a.get<Tensor>("t")->to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(a.get<Tensor>("named")->notes->name, "w");
  EXPECT_EQ(a.get<Type>("tp")->str(), "seq(float[N])");
  EXPECT_EQ((*a.get<GraphPtr>("g"))->node_count(), 1u);
  EXPECT_EQ(a.float_or("asfloat", 0), 2.0f);
  EXPECT_EQ(a.find("none")->type(), AttrType::ints);
  EXPECT_EQ(a.get<std::vector<Tensor>>("ts")->size(), 2u);
  EXPECT_EQ((*a.get<std::vector<GraphPtr>>("gs"))[1]->name, "b c");
  EXPECT_EQ(a.get<SparseTensor>("sp")->dims, (Dims{3, 4}));
}

TEST(Text, AttributesMayFollowTheInputs) {
  const Model model = parse("g (x) => (y) { y = If (x) <then_branch = t () => (o) { o = Neg(x) }> }");
  const Node& outer = *model.graph->first();
  const Graph& inner = **outer.attributes.get<GraphPtr>("then_branch");
  EXPECT_EQ(inner.first()->input(0), model.graph->inputs()[0]);
}

TEST(Text, NamesAreLookedUpAfterAllAreDefined) {
  const Model model = parse("g (x) => (z) { z = If (x) <b = t () => (o) { o = Neg(later) }>  later = Neg(x) }");
  const Graph& inner = **model.graph->first()->attributes.get<GraphPtr>("b");
  EXPECT_EQ(inner.first()->input(0), model.graph->last()->output());
}

TEST(Text, AbsentInputsAreEmptyNames) {
  const Model model = parse(R"(g (x) => (y) { y, "", z = Op("", x)  a = Op(, x)  b = Op(x,)  c = Op(,)  = Op() })");
  std::vector<std::size_t> counts;
  for (const Node& n : model.graph->nodes()) counts.push_back(n.input_count());
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, 2, 1, 1, 0}));
  EXPECT_EQ(model.graph->first()->output_count(), 3u);
  EXPECT_EQ(model.graph->first()->output(1), nullptr);
  EXPECT_EQ(model.graph->last()->output_count(), 0u);
}

TEST(Text, AnyNameCanBeQuotedOrGivenAsBytes) {
  const Model model = parse(R"(
    "my graph" (float[N, "a b"] "float", "in/0:x") => ("nan") {
      ["node 1"] "nan" = "odd-domain"."aten::op":"over load" <"attr name": int = 1> ("float", 0x00ff)
    })");
  const Node& n = *model.graph->first();
  EXPECT_EQ(model.graph->inputs()[0]->name(), "float");
  EXPECT_EQ(n.domain, "odd-domain");
  EXPECT_EQ(n.op, "aten::op");
  EXPECT_EQ(n.overload, "over load");
  EXPECT_EQ(n.input(1)->name(), std::string("\0\xff", 2));
  EXPECT_TRUE(n.input(1)->is_undefined());
  EXPECT_EQ(model.graph->inputs()[0]->type.shape->at(1).str(), "a b");
}

TEST(Text, TypesOfAllKindsAreRead) {
  const Model model = parse(R"(g (float s, float[] u, float[2,?,N,-1] t, seq(float) a, optional(seq(string[])) b,
    map(int64, float[2]) c, sparse_tensor(double[3,4]) d, opaque(test.rng.RNG) e, opaque(dom, nm) f, opaque() h, seq() i,
    seq(?) j, ? %{denotation: "X"} k, undefined[1] l, map(string) m, onlyname) => () {})");
  std::vector<std::string> types;
  for (const Value* v : model.graph->inputs()) types.push_back(v->type.str());
  EXPECT_EQ(types[0], "float");
  EXPECT_EQ(types[1], "float[...]");
  EXPECT_EQ(types[2], "float[2,?,N,-1]");
  EXPECT_EQ(types[6], "sparse double[3,4]");
  EXPECT_EQ(model.graph->inputs()[7]->type.notes->opaque_name, "test.rng.RNG");
  EXPECT_EQ(model.graph->inputs()[8]->type.notes->opaque_domain, "dom");
  EXPECT_FALSE(model.graph->inputs()[15]->type);
}

TEST(Text, FunctionsAreRead) {
  const Model model = parse(R"(
    g (x) => (y) { y = my.f:two <alpha = 2.0> (x) }
    < domain: "my", overload: "two", opset_import: ["" : 18], doc_string: "d", metadata_props: ["a": "b"] >
    f <must, alpha: float = 1.0, beta: int = 0> (float[N] a) => (b)
    < float[N] t %{doc_string: "inside"} >
    { t = Mul <by: float = @alpha> (a)  b = Neg(t) })");
  const Function& f = *model.functions.at(0);
  EXPECT_EQ(f.overload, "two");
  EXPECT_EQ(f.attributes, (std::vector<std::string>{"must"}));
  EXPECT_EQ(f.attribute_defaults.size(), 2u);
  EXPECT_EQ(f.body->inputs()[0]->type.str(), "float[N]");
  EXPECT_EQ(f.body->first()->attributes.find("by")->reference, "alpha");
  EXPECT_EQ(f.body->first()->attributes.find("by")->type(), AttrType::float_);
  EXPECT_EQ(f.body->find("t")->doc_string, "inside");
}

TEST(Text, TrainingInfoHasItsOwnWords) {
  const Model model = parse(R"(
    g (float[2] x) => (y) < float[2] w = {1, 1} > { y = Mul(x, w) }
    training_info {
      initialization: init () => (w0) { w0 = RandomNormal <shape: ints = [2]> () },
      algorithm: step (float[2] t) => (w1) { w1 = Sub(w, y) },
      initialization_binding: ["w": "w0"],
      update_binding: ["w": "w1"]
    })");
  const TrainingInfo& info = model.training.at(0);
  EXPECT_EQ(info.algorithm->first()->input(0), model.graph->find("w"));
  EXPECT_EQ(info.algorithm->first()->input(1), model.graph->find("y"));
  EXPECT_EQ(info.update_binding.at(0).second, "w1");
}

TEST(Text, NotesCarryWhatUpstreamHasNoWordsFor) {
  const Model model = parse(R"(
    < ir_version: 11, opset_import: ["" : 21 %{unknown: 0x1a00}],
      configuration: ["c" : 2 ["cpu:0", "cpu:1"] %{unknown: 0x2200}], unknown: 0xc03e07 >
    g %{doc_string: "the graph", metadata_props: ["a": "b"],
        quantization_annotation: ["x": ["SCALE_TENSOR": "s"] %{unknown: 0x1a00}], unknown: 0xc03e07}
      (float[N %{denotation: "DATA_BATCH", unknown: 0x2200}, 3] %{denotation: "IMAGE", shape_unknown: 0x1200,
        content_unknown: 0x1a00, unknown: 0x5200} x %{doc_string: "in", metadata_props: ["k": "v"], unknown: 0x2a00})
      => (y)
    < float[1] w = {1} %{doc_string: "weights", metadata_props: ["q": "r"], unknown: 0xfa0100},
      sparse[4] s = {float[1] {2}, int64[1] {3}} %{unknown: 0x2200} >
    { y = Op <a %{doc_string: "attr", unknown: 0xc03e07}: int = 1> (x)
        %{doc_string: "node", metadata_props: ["m": "n"], device_configurations: 0x52020a00, unknown: 0xc03e07} })");
  EXPECT_EQ(model.graph->quantization.at(0).parameters.at(0).second, "s");
  EXPECT_EQ(model.device_configurations.at(0).devices.size(), 2u);
  EXPECT_EQ(model.graph->inputs()[0]->type.notes->dim_denotations.at(0), "DATA_BATCH");
  EXPECT_EQ(model.graph->first()->device_configurations, std::string("\x52\x02\x0a\x00", 4));
  // The bytes of each stand in the file as a field that is not known, and come back.
  std::string difference;
  EXPECT_TRUE(equal(model, read(Bytes::own(to_bytes(model)), ""), &difference)) << difference;
}

TEST(Text, NumbersAreExact) {
  const Model model = parse(R"(g () => () <
    float[9] f = {0.1, -0, 1e-45, 3.4028235e38, inf, -inf, nan, -nan, 0x7fa00001},
    double[3] d = {0.1, 5e-324, 0x7ff4000000000001},
    float16[4] h = {15360, 1.0, -inf, 31745}, bfloat16[1] b = {1.5}, float8e4m3fn[2] e = {127, 448.0},
    float4e2m1[3] q = {1.5, 15, 0}, float8e8m0[1] z = {1.0},
    int8[2] i = {-128, 127}, uint64[1] u = {18446744073709551615}, int64[1] l = {-9223372036854775808},
    int4[3] n = {-8, 7, -1}, uint2[5] m = {0, 1, 2, 3, 1}, bool[3] o = {0, 1, 7},
    complex64[2] c = {1, 2, 3, nan}, string[3] s = {"a\"b\\c", "", 0x00},
    float[2] raw = 0x0000803f000000c0, int4[3] dirty = 0x21f3 > {})");
  const Graph& g = *model.graph;
  const auto bits = [&](const char* name) {
    std::vector<std::uint32_t> result(static_cast<std::size_t>(g.find(name)->initializer->size()));
    std::memcpy(result.data(), g.find(name)->initializer->bytes().data(), result.size() * 4);
    return result;
  };
  EXPECT_EQ(bits("f"), (std::vector<std::uint32_t>{0x3dcccccd, 0x80000000, 1, 0x7f7fffff, 0x7f800000, 0xff800000,
                                                   0x7fc00000, 0xffc00000, 0x7fa00001}));
  EXPECT_EQ(g.find("h")->initializer->bytes().text(), std::string_view("\x00\x3c\x00\x3c\x00\xfc\x01\x7c", 8));
  EXPECT_EQ(g.find("e")->initializer->bytes().text(), std::string_view("\x7f\x7e"));
  EXPECT_EQ(g.find("n")->initializer->bytes().text(), std::string_view("\x78\x0f"));
  EXPECT_EQ(g.find("m")->initializer->bytes().text(), std::string_view("\xe4\x01"));
  EXPECT_EQ(g.find("o")->initializer->bytes().text(), std::string_view("\x00\x01\x07", 3));
  EXPECT_EQ(g.find("raw")->initializer->to_vector<float>(), (std::vector<float>{1, -2}));
  EXPECT_EQ(g.find("dirty")->initializer->bytes().text(), std::string_view("\x21\xf3"));
}

TEST(Text, ExternalDataIsReadFromTheDirectory) {
  const test::TempDir dir;
  test::write_text(dir / "w.bin", std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  const std::string text = R"(g () => () < float[1] w = ["location": "w.bin", "offset": "4", "length": "4"] > {})";
  test::write_text(dir / "m.onnxtxt", text);
  EXPECT_EQ(read_text(dir / "m.onnxtxt").graph->find("w")->initializer->at<float>(0), 2.0f);
  EXPECT_EQ(refusal(text).code, Code::bad_external_data);
  test::write_text(dir / "m.onnxtxt", R"(g () => () < float[1] w = ["location": "../w.bin"] > {})");
  EXPECT_REFUSED(Code::outside_model_directory, read_text(dir / "m.onnxtxt"));
}

TEST(Text, TheShortFormCutsTensorsOff) {
  Model model =
      parse("g () => () < float[12] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float16[1] h = {15360} > {}");
  const std::string text = to_text(model, TextOptions::for_people(3));
  EXPECT_NE(text.find("float[12] w = {1, 2, 3, ...}"), std::string::npos) << text;
  EXPECT_NE(text.find("float16[1] h = {1.0}"), std::string::npos) << text;
  EXPECT_NE(refusal(text).message.find("complete form"), std::string::npos);
}

TEST(Text, WhatIsPrintedReadsWell) {
  const Model model = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]> net (float[N,3] x) => (float[N,2] y)
    <float[3,2] w = {1,2,3,4,5,6}, float[N,2] t> { [fc] t = MatMul(x, w) y = Softmax <axis = -1> (t)})");
  EXPECT_EQ(to_text(model), R"(<
  ir_version: 8,
  opset_import: ["" : 17]
>
net (float[N,3] x) => (float[N,2] y)
<
  float[3,2] w = {1, 2, 3, 4, 5, 6},
  float[N,2] t
>
{
  [fc] t = MatMul (x, w)
  y = Softmax <axis: int = -1> (t)
}
)");
}

TEST(Text, ErrorsShowTheirPlace) {
  const Refusal r = refusal("g (float[2] x) => (y)\n{\n  y = Add(x x)\n}\n");
  EXPECT_EQ(r.code, Code::text_syntax);
  EXPECT_EQ(r.message,
            "line 3, column 13: expected ',' or ')', found 'x'\n"
            "      y = Add(x x)\n"
            "                ^");
}

TEST(Text, WhatDoesNotFollowTheGrammarIsRefusedWithItsCode) {
  const std::pair<const char*, Code> cases[] = {
      {"", Code::text_syntax},
      {"g", Code::text_syntax},
      {"g () => () {", Code::text_syntax},
      {"g () => () { y = Add(x) ", Code::text_syntax},
      {"g () => () { y Add(x) }", Code::text_syntax},
      {"< ir_version: 8 g () => () {}", Code::text_syntax},
      {"< ir_version: x > g () => () {}", Code::text_syntax},
      {"< color: 8 > g () => () {}", Code::text_unknown_word},
      {"< ir_version: 99999999999999999999 > g () => () {}", Code::text_bad_literal},
      {"g (floaty[2] x) => () {}", Code::text_syntax},
      {"g (seq(floaty) x) => () {}", Code::text_unknown_word},
      {"g (float[2 x) => () {}", Code::text_syntax},
      {"g () => () < float[2] w = {1} > {}", Code::tensor_size_mismatch},
      {"g () => () < float[N] w = {1} > {}", Code::text_syntax},
      {"g () => () < float[2] w = 0x00 > {}", Code::tensor_size_mismatch},
      {"g () => () < float[1] w = 0x000 > {}", Code::text_bad_literal},
      {"g () => () < float[4294967296,4294967296] w = {1} > {}", Code::bad_shape},
      {"g () => () < int8[1] w = {128} > {}", Code::text_bad_literal},
      {"g () => () < int4[1] w = {8} > {}", Code::text_bad_literal},
      {"g () => () < float16[1] w = {65536} > {}", Code::text_bad_literal},
      {"g () => () < float[1] w = {1e99} > {}", Code::text_bad_literal},
      {"g () => () < float[1] w = {1x} > {}", Code::text_bad_literal},
      {"g () => () < float[1] w = {abc} > {}", Code::text_syntax},
      {"g () => () < string[1] w = {1} > {}", Code::text_syntax},
      {"g () => () < undefined w = {1} > {}", Code::text_syntax},
      {"g () => () { y = Op <a: color = 1> () }", Code::text_unknown_word},
      {"g () => () { y = Op <a = []> () }", Code::text_syntax},
      {"g () => () { y = Op <a = [1, 1.5]> () }", Code::text_syntax},
      {"g () => () { y = Op <a: int = 1.5> () }", Code::text_syntax},
      {"g () => () { y = Op <a> () }", Code::text_syntax},
      {"g () => () { y = Op () %{color: 1} }", Code::text_unknown_word},
      {"g () => () { y = Op () } \"unended", Code::text_syntax},
      {"g () => () { y = Op (~) }", Code::text_syntax},
      {"g () => () {} training_info { algorithm: a () => () {}, algorithm: b () => () {} }", Code::text_syntax},
  };
  for (const auto& [text, code] : cases) {
    const Refusal r = refusal(text);
    EXPECT_EQ(code_name(r.code), code_name(code)) << text << "\n" << r.message;
    EXPECT_TRUE(r.message.starts_with("line 1, column ")) << text << "\n" << r.message;
  }
}

TEST(Text, DeepNestingIsRefused) {
  std::string types = "g (", graphs;
  for (int i = 0; i < 100000; ++i) types += "seq(";
  EXPECT_EQ(refusal(types).code, Code::too_deep);
  for (int i = 0; i < 100000; ++i) graphs += "g () => () { y = If () <b = ";
  EXPECT_EQ(refusal(graphs).code, Code::too_deep);
}

TEST(Text, EveryTruncationIsRefusedOrRead) {
  const std::string whole = R"(< ir_version: 8, opset_import: ["" : 17] > g (float[N] x = {}) => (y)
    < float[2] w = {1.5, nan}, sparse[3] s = {float[1] {1}, int64[1] {0}} > { y = If (x) <b = t () => (o) {}> %{unknown: 0x00} }
    < domain: "d" > f <a: int = 1> (p) => (q) { q = Neg(p) } training_info { update_binding: ["a": "b"] })";
  for (std::size_t size = 0; size <= whole.size(); ++size) (void)refusal(std::string_view(whole).substr(0, size));
}

}  // namespace
}  // namespace ingot::onnx
