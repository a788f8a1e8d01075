#include "ingot/pages/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "ingot/base/bytes.h"
#include "ingot/base/sha256.h"
#include "ingot/driver/diff.h"
#include "ingot/onnx/text.h"
#include "ingot/pages/diff_page.h"
#include "ingot/pages/graph_data.h"
#include "ingot/pages/model_page.h"
#include "ingot/pages/tensor_statistics.h"

namespace ingot::pages {
namespace {

Model small_model() {
  return onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[2, 3] x) => (float[2, 2] y) <float[3, 2] w = {0, 2, 0, 4, 5, 6}> {
      [first] m = MatMul(x, w)
      [second] y = Relu(m)
    })");
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// The examples of FIPS 180-4 and RFC 4648.
TEST(Sha256, KnowsItsExamples) {
  EXPECT_EQ(hex(sha256(bytes_of("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256(bytes_of(""))), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  const auto text = [](std::string_view t) {
    return base64(std::span(reinterpret_cast<const std::uint8_t*>(t.data()), t.size()));
  };
  EXPECT_EQ(text("f"), "Zg==");
  EXPECT_EQ(text("fo"), "Zm8=");
  EXPECT_EQ(text("foobar"), "Zm9vYmFy");
}

TEST(Page, TextsOfModelsAreNeverMarkup) {
  const std::string bad = "</script><script>alert(1)</script>\" onload='x' \u202e &amp;";
  EXPECT_EQ(escaped(bad).find_first_of("<>\"'"), std::string::npos);
  EXPECT_EQ(escaped(bad).find("\u202e"), std::string::npos);
  Page page{bad, {{"one", bad, code(bad)}}};
  page.data["names"] = bad;
  const std::string html = to_html(page);
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = html.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2u) << "the data and our own script";
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
}

TEST(Page, PolicyNamesTheHashOfTheScriptThatItHolds) {
  const std::string html = to_html({"t", {{"one", "One", ""}}});
  const std::size_t begin = html.rfind("<script>") + 8;
  const std::string script = html.substr(begin, html.rfind("</script>") - begin);
  EXPECT_NE(html.find("script-src 'sha256-" + base64(sha256(bytes_of(script))) + "'"), std::string::npos);
  EXPECT_EQ(html.find("unsafe"), std::string::npos);
}

TEST(Page, LinksLeadToFilesOfAnyName) {
  EXPECT_EQ(link("op-a.b_1.html", "a<b"), "<a href=\"op-a.b_1.html\">a&lt;b</a>");
  EXPECT_EQ(link("javascript:a#?%\"\n\xff", "x"), "<a href=\"javascript%3Aa%23%3F%25%22%0A%FF\">x</a>");
}

TEST(Statistics, AreThoseOfTheNumbers) {
  const auto s = statistics_of(Tensor::of<float>({6}, {0, 2, 0, 4, 6, INFINITY}));
  ASSERT_TRUE(s);
  EXPECT_EQ(s->least, 0);
  EXPECT_EQ(s->most, 6);
  EXPECT_DOUBLE_EQ(s->mean, 2.4);
  EXPECT_NEAR(s->deviation, std::sqrt(5.44), 1e-12);
  EXPECT_DOUBLE_EQ(s->zeros, 2.0 / 6);
  EXPECT_EQ(s->not_finite, 1u);
  EXPECT_EQ(s->histogram.front(), 2u);
  EXPECT_EQ(s->histogram.back(), 1u);
  EXPECT_FALSE(statistics_of(Tensor::of<float>({1}, {NAN})));
  EXPECT_FALSE(statistics_of(Tensor::of_strings({1}, {"a"})));
}

TEST(Statistics, ReadPackedIntegersInPieces) {
  const std::int64_t size = (1 << 18) * 2 + 3;
  const std::vector<std::byte> bytes(static_cast<std::size_t>((size + 1) / 2), std::byte{0x21});
  const auto s = statistics_of(Tensor(DType::u4, {size}, Bytes::own(bytes)));
  ASSERT_TRUE(s);
  EXPECT_EQ(s->least, 1);
  EXPECT_EQ(s->most, 2);
}

TEST(GraphData, HoldsNodesEdgesAndTheGraphsInside) {
  const Model model = onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17]>
    g (bool c, float[1] x) => (float[1] y) {
      [choice] y = If(c) <then_branch = t () => (float[1] a) {a = Neg(x)}, else_branch = e () => (float[1] b) {b = Abs(x)}>
    })");
  const Json data = graph_data(model);
  std::vector<std::string> ops;
  for (const Json& node : data["nodes"]) ops.push_back(node.contains("op") ? node["op"].text() : node["kind"].text());
  EXPECT_EQ(ops, (std::vector<std::string>{"input", "input", "If", "Neg", "output", "Abs", "output", "output"}));
  EXPECT_EQ(data["nodes"][std::size_t{3}]["owner"].number(), 2);
  // c -> If; x -> Neg, which sees it from inside; Neg -> its output -> If
  EXPECT_EQ(data["edges"].size(), 8u);
}

TEST(ModelPage, ShowsABrokenModelToo) {
  const Model broken = onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[2] x) => (float[3] y) {y = NoSuchOperator(x)})");
  ModelPageOptions options;
  options.title = "broken";
  EXPECT_NE(to_html(model_page(broken, options)).find("NoSuchOperator"), std::string::npos);
}

TEST(ModelPage, TellsWhatLayersCostAndWeightsAreLike) {
  ModelPageOptions options;
  options.title = "small.onnx";
  const Page page = model_page(small_model(), options);
  EXPECT_EQ(page.data["costs"][std::size_t{0}]["flops"].number(), 2 * 2 * 3 * 2);
  EXPECT_EQ(page.data["weights"][std::size_t{0}]["most"].number(), 6);
}

TEST(ModelPage, CountsOpenSizesAsOneAndSaysSo) {
  const Model open = onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[N, 3] x, float[2] z) => (float[N, 2] y) <float[3, 2] w = {0, 2, 0, 4, 5, 6}> {
      m = MatMul(x, w)
      y = Add(m, z)
    })");
  ModelPageOptions options;
  const Page page = model_page(open, options);
  EXPECT_EQ(page.data["costs"][std::size_t{0}]["flops"].number(), 2 * 3 * 2);
  EXPECT_NE(to_html(page).find("open in <code>x</code>"), std::string::npos);
  options.input_shapes = {{"x", {Dim(4), Dim(3)}}};
  const Page given = model_page(open, options);
  EXPECT_EQ(given.data["costs"][std::size_t{0}]["flops"].number(), 4 * 2 * 3 * 2);
  EXPECT_EQ(to_html(given).find("open in"), std::string::npos);
}

TEST(DiffPage, MarksWhatDiffers) {
  const Model a = small_model();
  const Model b = onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[2, 3] x) => (float[2, 2] y) <float[3, 2] w = {0, 2, 0, 4, 5, 6}> {
      [first] m = MatMul(x, w)
      [other] y = Tanh(m)
    })");
  const Page page = diff_page(a, b, driver::diff(a, b), "a", "b");
  std::map<std::string, std::string> marks;
  for (const Json& node : page.data["graphs"][std::size_t{0}]["nodes"])
    if (node.contains("op")) marks[node["op"].text()] = node["mark"].text();
  EXPECT_EQ(marks["MatMul"], "same");
  EXPECT_NE(marks["Relu"], "same");
}

}  // namespace
}  // namespace ingot::pages
