// The words of options.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/driver/convert_words.h"
#include "ingot/driver/options.h"

namespace ingot::driver {
namespace {

template <class F> std::string refusal(F parse) try {
  parse();
  return "taken";
} catch (const Error& error) {
  EXPECT_EQ(error.code(), Code::bad_usage);
  return error.message() + "; " + error.hint_text();
}

TEST(Words, KnownOnesBecomeValues) {
  EXPECT_EQ(parse_auto_cast("none"), AutoCast::none);
  EXPECT_EQ(parse_auto_cast("up"), AutoCast::up);
  EXPECT_EQ(parse_auto_cast("all"), AutoCast::all);
  EXPECT_EQ(parse_layout("nchw"), Layout::channels_first);
  EXPECT_EQ(parse_layout("nhwc"), Layout::channels_last);
  EXPECT_EQ(parse_mode("inference"), Mode::inference);
  EXPECT_EQ(parse_mode("training"), Mode::training);
  EXPECT_EQ(parse_mode("both"), Mode::both);
  EXPECT_EQ(parse_weights("float16"), WeightForm::float16);
  EXPECT_EQ(parse_weights("as_is"), WeightForm::as_is);
  EXPECT_EQ(parse_quantize("uint16"), Quantize::uint16);
  EXPECT_EQ(parse_operator("Op:domain"), "Op:domain");
  EXPECT_EQ(parse_rename("old=new"), std::pair(std::string("old"), std::string("new")));
  const auto [name, shape] = parse_input_shape("x:1,N,?,-1");
  EXPECT_EQ(name, "x");
  ASSERT_EQ(shape.size(), 4U);
  EXPECT_EQ(shape[0], Dim(1));
  EXPECT_EQ(shape[1], Dim::symbol("N"));
  EXPECT_TRUE(shape[2].is_unknown() && shape[3].is_unknown());
}

TEST(Words, UnknownOnesAreRefusedWithThoseKnown) {
  EXPECT_EQ(refusal([] { parse_auto_cast("sometimes"); }), "'sometimes' is not a rule for casts; none, up or all");
  EXPECT_EQ(refusal([] { parse_auto_cast(""); }), "'' is not a rule for casts; none, up or all");
  EXPECT_EQ(refusal([] { parse_layout("sideways"); }), "'sideways' is not a layout; nchw or nhwc");
  EXPECT_EQ(refusal([] { parse_mode("dreaming"); }), "'dreaming' is not a mode; inference, training or both");
  EXPECT_EQ(refusal([] { parse_weights("float8"); }), "'float8' is no form of weights; as_is or float16");
  EXPECT_EQ(refusal([] { parse_operator(":domain"); }), "':domain' does not name an operator; Op or Op:domain");
  EXPECT_EQ(refusal([] { parse_rename("=new"); }), "'=new' is not a renaming; such as old=new");
  EXPECT_EQ(refusal([] { parse_input_shape("1,2"); }),
            "'1,2' is not an input shape; such as x:1,3,224,224 or x:N,?,10");
}

TEST(Words, EveryOptionOfTheFormatsHasAWordAndTheOtherWayRound) {
  std::vector<std::string> words;
  for (const ConvertWord& word : convert_words()) words.push_back("--" + std::string(word.name));
  for (std::size_t o = 0; o < kOptionCount; ++o)
    EXPECT_NE(std::ranges::find(words, flag_of(static_cast<Option>(o))), words.end())
        << flag_of(static_cast<Option>(o));
}

TEST(Words, SayWhatAConversionIsAskedFor) {
  ConvertRequest request;
  set_words(request, {{"opset", "17"}, {"rename", "a=b"}, {"rename", "c=d"}, {"bfloat16"}, {"keep-float", "Softmax"}});
  EXPECT_EQ(request.opset, 17);
  EXPECT_EQ(request.renames.size(), 2u);
  ASSERT_TRUE(request.half);
  EXPECT_EQ(request.half->to, DType::bf16);
  EXPECT_EQ(request.half->keep, std::vector<std::string>{"Softmax"});
}

TEST(Words, AreRefusedWhereTheyContradictEachOtherOrMeanNothing) {
  const auto refused = [](const std::vector<WordGiven>& words) {
    return refusal([&] {
      ConvertRequest request;
      set_words(request, words);
    });
  };
  EXPECT_EQ(refused({{"opset", "17"}, {"opset", "18"}}), "option 'opset' is given twice; ");
  EXPECT_EQ(refused({{"opset", "0"}}), "--opset: '0' is not a number above zero; ");
  EXPECT_EQ(refused({{"float16"}, {"bfloat16"}}), "--float16 and --bfloat16 exclude each other; ");
  EXPECT_EQ(refused({{"keep-float", "Conv"}}),
            "--keep-float and --half-ports do nothing by themselves; add --float16 or --bfloat16");
  EXPECT_EQ(refused({{"zipmap", "yes"}}), "option 'zipmap' takes no value, but has 'yes'; ");
}

}  // namespace
}  // namespace ingot::driver
