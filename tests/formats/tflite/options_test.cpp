// Options by name, and names of the format's numbers.
#include "ingot/formats/tflite/options.h"

#include "ingot/formats/tflite/schema.h"
#include "tests/formats/tflite/sample.h"

namespace ingot::formats::tflite {
namespace {

TEST(TfliteOptions, BeginWithTheDefaultsOfTheFormat) {
  const Options conv("Conv2DOptions");
  EXPECT_EQ(conv.get_int("stride_w"), 0);
  EXPECT_EQ(conv.get_int("dilation_h_factor"), 1);
  EXPECT_TRUE(Options("AddOptions").get_bool("pot_scale_int16"));
  EXPECT_TRUE(Options("BidirectionalSequenceLSTMOptions").get_bool("time_major"));
  EXPECT_FALSE(Options("UnidirectionalSequenceLSTMOptions").get_bool("time_major"));
  EXPECT_EQ(Options("UniqueOptions").get_enum<TensorType>("idx_out_type"), TensorType::INT32);
}

TEST(TfliteOptions, ListsAndTextsKnowWhetherTheyAreSet) {
  Options reshape(BuiltinOperator::RESHAPE);
  EXPECT_FALSE(reshape.has("new_shape"));
  EXPECT_TRUE(reshape.get_ints("new_shape").empty());
  reshape.set("new_shape", std::vector<std::int64_t>{1, -1});
  EXPECT_TRUE(reshape.has("new_shape"));
  EXPECT_THAT(reshape.get_ints("new_shape"), ::testing::ElementsAre(1, -1));
  EXPECT_FALSE(reshape.has("no_such"));
}

TEST(TfliteOptions, OfAnotherOperatorAreTheFilesFault) {
  const Error error = error_of([] { Options(BuiltinOperator::SOFTMAX).get_int("stride_w"); });
  EXPECT_EQ(error.code(), Code::bad_options);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("SoftmaxOptions"));
  EXPECT_EQ(error_of([] { Options().get_int("stride_w"); }).code(), Code::bad_options);
}

TEST(TfliteOptions, AskedForAsAnotherTypeAreABug) {
  const Options conv("Conv2DOptions");
  EXPECT_EQ(error_of([&] { conv.get_bool("stride_w"); }).code(), Code::internal);
  EXPECT_EQ(error_of([&] { conv.get_enum<TensorType>("padding"); }).code(), Code::internal);
  EXPECT_EQ(error_of([&] { Options(conv).set("padding", 1.0F); }).code(), Code::internal);
  EXPECT_EQ(error_of([&] { Options("ReshapeOptions").get_string("new_shape"); }).code(), Code::internal);
  EXPECT_EQ(error_of([] { Options("NoSuchOptions"); }).code(), Code::internal);
}

TEST(TfliteOptions, LeftOutByTheFileReadAsDefaults) {
  const Options gather = Options::left_out(BuiltinOperator::GATHER);
  EXPECT_TRUE(gather.is_left_out());
  EXPECT_EQ(gather.get_int("axis"), 0);
  EXPECT_FALSE(Options::left_out(BuiltinOperator::GATHER).set("axis", 1).is_left_out());
  EXPECT_FALSE(Options::left_out(BuiltinOperator::RELU).is_left_out());
}

TEST(TfliteSchema, HasAllOptionTables) {
  for (int number = 1; number <= 126; ++number)
    EXPECT_NE(option_table(OptionUnion::first, static_cast<std::uint8_t>(number)), nullptr) << number;
  EXPECT_EQ(option_table(OptionUnion::first, 127), nullptr);
  for (int number = 1; number <= 23; ++number)
    EXPECT_NE(option_table(OptionUnion::second, static_cast<std::uint8_t>(number)), nullptr) << number;
  EXPECT_EQ(option_table(OptionUnion::second, 24), nullptr);
  EXPECT_EQ(option_table("Conv2DOptions"), option_table(OptionUnion::first, 1));
  EXPECT_EQ(option_table("RightShiftOptions"), option_table(OptionUnion::first, 126));
  EXPECT_EQ(option_table("StablehloCaseOptions"), option_table(OptionUnion::second, 23));
}

struct Listed {
  int number;
  BuiltinOperator op;
  std::string_view name;
  std::string_view options;
};

constexpr Listed kListed[] = {
#define INGOT_TFLITE_OPERATOR(number, name, options) {number, BuiltinOperator::name, #name, #options},
#include "ingot/formats/tflite/builtin_operators.def"
#undef INGOT_TFLITE_OPERATOR
};

TEST(TfliteSchema, EveryOperatorHasTheTableThatIsListedForIt) {
  for (const Listed& listed : kListed) {
    const OptionTable* table = option_table(listed.op);
    EXPECT_EQ(table ? table->name : "NONE", listed.options) << listed.name;
  }
  EXPECT_EQ(option_table(static_cast<BuiltinOperator>(-1)), nullptr);
  EXPECT_EQ(option_table(static_cast<BuiltinOperator>(100000)), nullptr);
}

TEST(TfliteSchema, OperatorsHaveTheNamesAndNumbersOfTheCatalogue) {
  EXPECT_EQ(std::size(kListed), 210U);
  for (const Listed& listed : kListed) {
    EXPECT_EQ(static_cast<int>(listed.op), listed.number);
    EXPECT_EQ(name(listed.op), listed.name);
    EXPECT_EQ(builtin_operator(listed.name), listed.op);
  }
  EXPECT_EQ(name(static_cast<BuiltinOperator>(210)), "");
  EXPECT_EQ(builtin_operator("NO_SUCH"), std::nullopt);
  EXPECT_EQ(describe({static_cast<BuiltinOperator>(312), "", 1}), "operator 312");
  EXPECT_EQ(describe({BuiltinOperator::CUSTOM, "Mfcc", 1}), "CUSTOM:Mfcc");
}

TEST(TfliteSchema, EnumsAgreeWithTheSchema) {
  const std::string_view types[] = {"FLOAT32",  "FLOAT16",  "INT32",     "UINT8",         "INT64",      "STRING",
                                    "BOOL",     "INT16",    "COMPLEX64", "INT8",          "FLOAT64",    "COMPLEX128",
                                    "UINT64",   "RESOURCE", "VARIANT",   "UINT32",        "UINT16",     "INT4",
                                    "BFLOAT16", "INT2",     "UINT4",     "FLOAT8_E4M3FN", "FLOAT8_E5M2"};
  for (std::size_t i = 0; i < std::size(types); ++i) {
    EXPECT_EQ(name(static_cast<TensorType>(i)), types[i]);
    EXPECT_EQ(tensor_type(types[i]), static_cast<TensorType>(i));
  }
  EXPECT_EQ(name(TensorType::FLOAT8_E5M2), "FLOAT8_E5M2");
  EXPECT_EQ(name(TensorType::INT4), "INT4");
  EXPECT_EQ(name(TensorType::RESOURCE), "RESOURCE");
  EXPECT_EQ(name(Padding::VALID), "VALID");
  EXPECT_EQ(name(ActivationFunctionType::SIGN_BIT), "SIGN_BIT");
  EXPECT_EQ(name(FullyConnectedOptionsWeightsFormat::SHUFFLED4x16INT8), "SHUFFLED4x16INT8");
  EXPECT_EQ(name(LSTMKernelType::BASIC), "BASIC");
  EXPECT_EQ(name(MirrorPadMode::SYMMETRIC), "SYMMETRIC");
  EXPECT_EQ(name(CombinerType::SQRTN), "SQRTN");
  EXPECT_EQ(name(LSHProjectionType::DENSE), "DENSE");
  EXPECT_EQ(name(DimensionType::SPARSE_CSR), "SPARSE_CSR");
  EXPECT_EQ(name(CustomOptionsFormat::FLEXBUFFERS), "FLEXBUFFERS");
  EXPECT_EQ(name(RngAlgorithm::THREEFRY), "THREEFRY");
  EXPECT_EQ(name(ReduceWindowFunction::ANY), "ANY");
  EXPECT_EQ(name(StablehloComparisonDirection::LT), "STABLEHLO_COMPARISON_DIRECTION_LT");
  EXPECT_EQ(name(StablehloComparisonType::UNSIGNED), "STABLEHLO_COMPARISON_TYPE_UNSIGNED");
  EXPECT_EQ(name(StablehloPrecisionConfig::HIGHEST), "HIGHEST");
}

}  // namespace
}  // namespace ingot::formats::tflite
