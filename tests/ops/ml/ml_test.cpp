// Operators of ai.onnx.ml but the trees.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Strings = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;

constexpr const char* kDomain = "ai.onnx.ml";

TEST(ArrayFeatureExtractor, PicksAlongTheLastAxis) {
  OpCase c(0, kDomain);
  EXPECT_EQ(c.op("ArrayFeatureExtractor", {c.in("float[N,4]"), c.in("int64[1,2]")})->type.str(), "float[N,2]");
  EXPECT_EQ(c.op("ArrayFeatureExtractor", {c.in("float[4]"), c.in("int64[3]")})->type.str(), "float[1,3]");
  EXPECT_EQ(c.op("ArrayFeatureExtractor", {c.in("float[N,4]"), c.in("int64[...]")})->type.str(), "float[N,?]");
  EXPECT_REFUSED(Code::inference_failed, c.op("ArrayFeatureExtractor", {c.in("float"), c.in("int64[3]")}));
}

TEST(Classifiers, HaveLabelsOfTheTypeGiven) {
  OpCase c(0, kDomain);
  c.ops("LinearClassifier", {c.in("float[N,3]")},
        {{"classlabels_strings", Strings{"a", "b"}}, {"intercepts", std::vector<float>{1}}}, 2);
  EXPECT_EQ(c.type(0), "string[N]");
  EXPECT_EQ(c.type(1), "float[N,2]");
  OpCase ints(0, kDomain);
  ints.ops("SVMClassifier", {ints.in("float[3]")},
           {{"classlabels_ints", {1, 2, 3}}, {"prob_a", std::vector<float>{1, 2, 3}}}, 2);
  EXPECT_EQ(ints.type(0), "int64[1]");
  EXPECT_EQ(ints.type(1), "float[1,3]");
  EXPECT_REFUSED(Code::inference_failed, ints.ops("LinearClassifier", {ints.in("float[1,2,3]")}, {}, 2));
  EXPECT_REFUSED(Code::inference_failed,
                 ints.ops("LinearClassifier", {ints.in("float[1,2]")}, {{"post_transform", "NO"}}, 2));
}

TEST(LinearRegressor, IsAMatrixProduct) {
  OpCase c(0, kDomain);
  c.op("LinearRegressor", {c.in("double[N,2]")},
       {{"coefficients", std::vector<float>{1, 2, 3, 4}}, {"targets", 2}, {"post_transform", "LOGISTIC"}});
  EXPECT_EQ(c.type(), "float[N,2]");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.nodes(), "Cast Transpose MatMul Sigmoid");
  EXPECT_EQ(c.type(), "float[N,2]");
  EXPECT_REFUSED(Code::inference_failed,
                 c.op("LinearRegressor", {c.in("float[N,3]")}, {{"coefficients", std::vector<float>{1, 2}}}));
}

TEST(ZipMap, IsASequenceOfMaps) {
  OpCase c(0, kDomain);
  EXPECT_EQ(c.op("ZipMap", {c.in("float[N,2]")}, {{"classlabels_strings", Strings{"a", "b"}}})->type.schema_name(),
            "seq(map(string,tensor(float)))");
  EXPECT_EQ(c.op("ZipMap", {c.in("float[...]")}, {{"classlabels_int64s", {1, 2}}})->type.schema_name(),
            "seq(map(int64,tensor(float)))");
  EXPECT_REFUSED(Code::inference_failed, c.op("ZipMap", {c.in("float[N,3]")}, {{"classlabels_int64s", {1, 2}}}));
}

TEST(Maps, BecomeTensorsOfTheirValuesType) {
  OpCase c(0, kDomain);
  Value* map = c.in(Type::map(DType::string, Type::tensor(DType::f64, Shape{})));
  EXPECT_EQ(c.op("DictVectorizer", {map}, {{"string_vocabulary", Strings{"a"}}})->type.str(), "double[...]");
  EXPECT_REFUSED(Code::inference_failed, c.op("DictVectorizer", {map}, {{"int64_vocabulary", {1}}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DictVectorizer", {map}));
  Value* codes = c.in(Type::map(DType::i64, Type::tensor(DType::f32, Shape{})));
  EXPECT_EQ(c.op("CastMap", {codes}, {{"cast_to", "TO_INT64"}})->type.str(), "int64[...]");
  EXPECT_REFUSED(Code::inference_failed, c.op("CastMap", {codes}, {{"cast_to", "TO_DATE"}}));
}

TEST(FeatureVectorizer, JoinsColumns) {
  OpCase c(0, kDomain);
  EXPECT_EQ(c.op("FeatureVectorizer", {c.in("float[N,2]"), c.in("float[N,K]")})->type.str(), "float[N,K + 2]");
  EXPECT_EQ(
      c.op("FeatureVectorizer", {c.in("int64[3]"), c.in("int64[...]")}, {{"inputdimensions", {3, 4}}})->type.str(),
      "float[1,7]");
  EXPECT_REFUSED(Code::inference_failed, c.op("FeatureVectorizer", {c.in("int64[3]")}, {{"inputdimensions", {3, 4}}}));
}

TEST(Scaler, IsSubtractedAndMultiplied) {
  OpCase c(0, kDomain);
  c.op("Scaler", {c.in("int64[N,2]")}, {{"offset", std::vector<float>{1, 2}}, {"scale", std::vector<float>{0.5f}}});
  EXPECT_EQ(c.type(), "float[N,2]");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.nodes(), "Cast Sub Mul");
  EXPECT_REFUSED(Code::inference_failed, c.op("Scaler", {c.in("float[N,3]")}, {{"offset", std::vector<float>{1, 2}}}));
}

TEST(OneHotEncoder, AddsAnAxis) {
  OpCase c(0, kDomain);
  EXPECT_EQ(c.op("OneHotEncoder", {c.in("string[N,2]")}, {{"cats_strings", Strings{"a", "b", "c"}}})->type.str(),
            "float[N,2,3]");
  EXPECT_REFUSED(Code::inference_failed, c.op("OneHotEncoder", {c.in("string[N]")}));
}

TEST(Binarizer, ComparesIntegersWithFractions) {
  OpCase c(0, kDomain);
  c.op("Binarizer", {c.in("int64[N]")}, {{"threshold", 0.5}});
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.nodes(), "Cast Greater Cast");
  EXPECT_EQ(c.type(), "int64[N]");
}

TEST(CategoryMapper, IsALabelEncoder) {
  OpCase c(0, kDomain);
  c.op("CategoryMapper", {c.in("string[N]")}, {{"cats_strings", Strings{"a", "b"}}, {"cats_int64s", {5, 6}}});
  EXPECT_EQ(c.type(), "int64[N]");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.nodes(), "LabelEncoder");
  EXPECT_EQ(c.type(), "int64[N]");
}

TEST(LabelEncoder, TakesItsTypeFromTheValues) {
  OpCase c(0, kDomain);
  EXPECT_EQ(c.op("LabelEncoder", {c.in("string[N]")},
                 {{"keys_strings", Strings{"a"}}, {"values_floats", std::vector<float>{1}}})
                ->type.str(),
            "float[N]");
  EXPECT_EQ(c.op("LabelEncoder", {c.in("int64[N]")},
                 {{"keys_tensor", Tensor::ints({1, 2})}, {"values_tensor", Tensor::of<double>({2}, {1, 2})}})
                ->type.str(),
            "double[N]");
  EXPECT_THAT(refusal([&] {
                c.op("LabelEncoder", {c.in("string[N]")}, {{"keys_strings", Strings{"a"}}});
              }),
              HasSubstr("missing"));
  EXPECT_THAT(refusal([&] {
                c.op("LabelEncoder", {c.in("int64[N]")}, {{"keys_int64s", {1, 2}}, {"values_int64s", {1}}});
              }),
              HasSubstr("2 keys"));
  EXPECT_THAT(refusal([&] {
                c.op("LabelEncoder", {c.in("float[N]")}, {{"keys_int64s", {1}}, {"values_int64s", {1}}});
              }),
              HasSubstr("type"));
}

TEST(LabelEncoder, KnewPositionsOnlyInVersion1) {
  OpCase c(1, kDomain);
  c.op("LabelEncoder", {c.in("string[N]")}, {{"classes_strings", Strings{"a", "b"}}, {"default_int64", 7}});
  c.convert(4);
  const Attributes& a = c.node("LabelEncoder").attributes;
  EXPECT_THAT(*a.get<Strings>("keys_strings"), ElementsAre("a", "b"));
  EXPECT_THAT(*a.get<Ints>("values_int64s"), ElementsAre(0, 1));
  EXPECT_EQ(a.int_or("default_int64", 0), 7);
  c.convert(1);
  EXPECT_THAT(*c.node("LabelEncoder").attributes.get<Strings>("classes_strings"), ElementsAre("a", "b"));

  OpCase back(1, kDomain);
  back.op("LabelEncoder", {back.in("int64[N]")}, {{"classes_strings", Strings{"a", "b"}}});
  back.convert(2);
  EXPECT_THAT(*back.node("LabelEncoder").attributes.get<Ints>("keys_int64s"), ElementsAre(0, 1));
}

TEST(LabelEncoder, UnpacksTensorsForVersion2) {
  OpCase c(0, kDomain);
  c.op("LabelEncoder", {c.in("string[N]")},
       {{"keys_tensor", Tensor::of_strings({2}, {"a", "b"})},
        {"values_tensor", Tensor::ints({5, 6})},
        {"default_tensor", Tensor::ints({9})}});
  c.convert(2);
  const Attributes& a = c.node("LabelEncoder").attributes;
  EXPECT_THAT(*a.get<Strings>("keys_strings"), ElementsAre("a", "b"));
  EXPECT_THAT(*a.get<Ints>("values_int64s"), ElementsAre(5, 6));
  EXPECT_EQ(a.int_or("default_int64", 0), 9);
  EXPECT_THAT(refusal([&] { c.convert(1); }), HasSubstr("positions"));
}

}  // namespace
}  // namespace ingot::test
