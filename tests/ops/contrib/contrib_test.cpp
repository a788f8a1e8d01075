#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/contrib/case_marks.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/vendor/catalog.h"
#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::ops {
namespace {

using test::ints;
using test::run_ops;
using test::values;
using Strings = std::vector<std::string>;

Array texts(const Strings& all) { return Array::of<std::string>({std::ssize(all)}, all); }
Array truth(bool value) { return Array::of<bool>({1}, {value}); }

Array run_contrib(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs = {},
                  std::size_t outputs = 1) {
  return *run_ops(op, inputs, attrs, outputs, std::string(kContrib))[0].array();
}
Strings made(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs = {}, std::size_t outputs = 1) {
  return values<std::string>(run_contrib(op, inputs, attrs, outputs));
}

TEST(Contrib, EveryOperatorHasASchemaAndInference) {
  std::size_t count = 0;
  for (const Schema& schema : vendor_schemas()) {
    if (schema.domain != kContrib) continue;
    ++count;
    const OpDef* def = find(schema.domain, schema.name);
    ASSERT_NE(def, nullptr) << schema.name;
    EXPECT_NE(def->infer, nullptr) << schema.name;
    const bool has_none = schema.name == "ImageReader";
    EXPECT_EQ(def->kernel == nullptr, has_none) << schema.name;
    EXPECT_TRUE(def->decompose || !why_undefined(schema.domain, schema.name).empty()) << schema.name;
  }
  EXPECT_EQ(count, 51u);
  EXPECT_EQ(find("com.microsoft.extensions", "BertTokenizer"), find(kContrib, "BertTokenizer"));
}

TEST(Contrib, LowerCaseKnowsLatinAndRussianOnly) {
  EXPECT_EQ(made("StringLower", {texts({"ÀBÇ×", "ЖЯ", "ΚΩ", "Ā"})}), (Strings{"àbç×", "жя", "κΩ", "Ā"}));
  EXPECT_EQ(made("StringUpper", {texts({"aé"})}), (Strings{"Aé"}));
}

TEST(Contrib, RegexesThatMatchNothingAreRefused) {
  EXPECT_REFUSED(Code::execution_failed,
                 made("StringRegexSplitWithOffsets", {texts({"ab"}), texts({"(x*)"}), texts({""})}, {}, 4));
  EXPECT_REFUSED(Code::execution_failed, made("StringRegexReplace", {texts({"ab"}), texts({"("}), texts({""})}));
  EXPECT_REFUSED(Code::execution_failed, made("StringRegexReplace", {texts({"ab"}), texts({"a"}), texts({"\\9"})}));
}

TEST(Contrib, SplittingWithoutAGroupKeepsTheText) {
  EXPECT_EQ(made("StringRegexSplitWithOffsets", {texts({"a b"}), texts({" "}), texts({""})}, {}, 4), (Strings{"a b"}));
  EXPECT_EQ(made("StringRegexSplitWithOffsets", {texts({"a b"}), texts({"( )"}), texts({" "})}, {}, 4),
            (Strings{"a", " ", "b"}));
}

TEST(Contrib, EcmaReplacementsReferToTheMatch) {
  EXPECT_EQ(made("StringECMARegexReplace", {texts({"ab12"}), texts({"(\\d)"}), texts({"<$&$$$`>"})}),
            (Strings{"ab<1$ab><2$ab1>"}));
  EXPECT_EQ(made("StringECMARegexReplace", {texts({"baaac"}), texts({"a*"}), texts({"-"})}), (Strings{"-b--c-"}));
}

TEST(Contrib, RaggedRowsMustFit) {
  EXPECT_REFUSED(Code::execution_failed,
                 run_contrib("RaggedTensorToDense", {ints({0}), ints({1}), ints({0}), ints({0, 5})}));
  EXPECT_REFUSED(Code::execution_failed,
                 run_contrib("RaggedTensorToDense", {ints({0}), ints({1, 2}), ints({0}), ints({2, 0})}));
}

TEST(Contrib, BertKeepsThePiecesBeforeWhatItDoesNotKnow) {
  const Attrs attrs{{"vocab_file", "[UNK]\n[SEP]\n[PAD]\n[CLS]\n[MASK]\nun\n##want\n##ed"}};
  EXPECT_EQ(values<std::int64_t>(run_contrib("BertTokenizer", {texts({"unwanted unwantedx"})}, attrs, 3)),
            (std::vector<std::int64_t>{3, 5, 6, 7, 5, 6, 7, 0, 1}));
  EXPECT_REFUSED(Code::bad_attribute, run_contrib("BertTokenizer", {texts({"a"})}, {{"vocab_file", "a\nb"}}, 3));
}

TEST(Contrib, MergesGoByRankAndAllAtOnce) {
  const Attrs attrs{{"vocab", R"({"a":0,"b":1,"ab":2,"abab":3,"<|endoftext|>":4})"}, {"merges", "#v\na b\nab ab\n"}};
  EXPECT_EQ(values<std::int64_t>(run_contrib("GPT2Tokenizer", {texts({"ababab", "x"})}, attrs)),
            (std::vector<std::int64_t>{3, 2, 0xFFFFFFFF, 0}));
}

TEST(Contrib, LongWordsAreMergedInTime) {
  std::string vocabulary = R"({"a":0,"aa":1,"aaaa":2,"<|endoftext|>":3})";
  const Attrs attrs{{"vocab", vocabulary}, {"merges", "a a\naa aa\n"}};
  EXPECT_EQ(run_contrib("GPT2Tokenizer", {texts({std::string(400000, 'a')})}, attrs).size(), 100000);
}

TEST(Contrib, VocabulariesThatAreNoneAreRefused) {
  for (const char* vocabulary : {"", "[]", "{", "{\"a\":", "1"})
    EXPECT_THROW(run_contrib("GPT2Tokenizer", {texts({"a"})}, {{"vocab", vocabulary}, {"merges", "a b"}}), Error)
        << vocabulary;
  for (const char* model : {"", "!", "\x0a\xff", "AAAA"})
    EXPECT_THROW(
        run_ops("SentencepieceTokenizer",
                {texts({"a"}), ints({0}), Array::of<float>({1}, {0}), truth(false), truth(false), truth(false)},
                {{"model", model}}, 2, std::string(kContrib)),
        Error)
        << model;
  for (const char* line : {"0 'a' 1", "1 'a' 2", "1 a 1", "x 'a' 1", "1 'a", "99999999999 'a' 1"})
    EXPECT_REFUSED(Code::bad_attribute, run_contrib("TrieTokenizer", {texts({"a"})}, {{"vocab", line}}));
  EXPECT_THROW(run_contrib("HfJsonTokenizer", {texts({"a"})}, {{"tokenizer_config", "{}"}, {"tokenizer_vocab", "{}"}}),
               Error);
}

/// What Marian's rules make of a text: U before upper case, P before signs.
std::string marked(std::string_view text) {
  CaseMarks marks;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_upper = c >= 'A' && c <= 'Z', is_sign = c == '-' || c == '.';
    std::string piece = is_upper  ? std::string("U") + static_cast<char>(c + 32)
                        : is_sign ? std::string("P") + c
                                  : std::string(1, c);
    marks.add(piece, i + 1 == text.size());
  }
  return marks.text(text.size());
}

TEST(Contrib, MarianMarksUpperCase) {
  EXPECT_EQ(marked("Hello"), "Thello");
  EXPECT_EQ(marked("A"), "Ta");
  EXPECT_EQ(marked("ABc"), "UabLc");
  EXPECT_EQ(marked("AB-C"), "Uab-Tc");
  EXPECT_EQ(marked("AB cd"), "Uab\u2581cd");
  EXPECT_EQ(marked("AB CD EF x"), "Aab\u2581cd\u2581ef\u2581Lx");
  EXPECT_EQ(marked("AB CD x EF"), "Uab\u2581Ucd\u2581x\u2581Uef");
  EXPECT_EQ(marked("A B C. De"), "Aa\u2581b\u2581c.\u2581Tde");
  EXPECT_EQ(marked(""), "");
}

TEST(Contrib, MarianSpellsWhatNoPieceIsFor) {
  const std::string file =
      R"x({"added_tokens": [{"id": 0, "content": "</s>", "special": true}], "model": {"type": "Unigram",
      "unk_id": 1, "vocab": [["</s>", 0], ["<unk>", 0], ["\u2581", -2], ["a", -1]]}})x";
  const Attrs attrs{{"tokenizer_config", R"x({"tokenizer_class": "MarianTokenizer", "eos_token": "</s>"})x"},
                    {"tokenizer_vocab", file}};
  // Bytes that are no pieces follow the pieces: 0x00 is 4, 0x61 is the piece 3, 0x62 is 101.
  EXPECT_EQ(values<std::int64_t>(run_contrib("HfJsonTokenizer", {texts({"a ab"})}, attrs)),
            (std::vector<std::int64_t>{3, 2, 3, 101, 2, 0}));
  EXPECT_EQ(values<std::int64_t>(run_contrib("HfJsonTokenizer", {texts({""})}, attrs)),
            (std::vector<std::int64_t>{2, 0}));
}

TEST(Contrib, ExpressionsThatLookAheadElsewhereAreRefused) {
  const std::string file = R"x({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
      "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a(?!b)"}}})x";
  const Attrs attrs{{"tokenizer_config", R"x({"tokenizer_class": "GPT2Tokenizer"})x"}, {"tokenizer_vocab", file}};
  EXPECT_REFUSED(Code::bad_attribute, run_contrib("HfJsonTokenizer", {texts({"a"})}, attrs));
}

TEST(Contrib, HugePaddingIsRefusedByTheBudget) {
  const Attrs attrs{{"vocab", R"({"a":0})"}, {"merges", "a b"}, {"padding_length", std::int64_t{1} << 60}};
  EXPECT_THROW(run_contrib("GPT2Tokenizer", {texts({"a"})}, attrs), Error);
}

TEST(Contrib, BoxesAreDrawnInsideOfTheImage) {
  const Array image = Array(DType::u8, {8, 8, 3});
  const Array boxes = Array::of<float>({2, 6}, {-5, -5, 3, 3, 0.5, 0, 1e30F, 1, 2, 3, 0.9F, 1});
  const Array drawn = run_contrib("DrawBoundingBoxes", {image, boxes}, {{"thickness", 1}});
  // The first box is yellow, the color of the second best class; the second has no size.
  const auto pixel = drawn.data<std::uint8_t>().first(3);
  EXPECT_EQ(std::vector<int>(pixel.begin(), pixel.end()), (std::vector<int>{0, 255, 255}));
}

Array bytes_of(const std::string& text) {
  return Array::of<std::uint8_t>({std::ssize(text)}, std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::vector<int> samples_of(const std::string& file) {
  std::vector<int> samples;
  for (const float v : values<float>(run_contrib("AudioDecoder", {bytes_of(file)})))
    samples.push_back(static_cast<int>(v * 32768));
  return samples;
}

TEST(Contrib, SoundsAreReadAndDamagedOnesRefused) {
  const std::string wav(
      "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\4\0\0\0\0\x40\0\xc0", 48);
  EXPECT_EQ(values<float>(run_contrib("AudioDecoder", {bytes_of(wav)})), (std::vector<float>{0.5F, -0.5F}));
  for (std::size_t size = 0; size < 44; ++size)
    EXPECT_THROW(run_contrib("AudioDecoder", {bytes_of(wav.substr(0, size))}), Error) << size;
  EXPECT_THROW(run_contrib("AudioDecoder", {bytes_of("fLaC")}), Error);
  EXPECT_THROW(run_contrib("AudioDecoder", {bytes_of("\xff\xfb\x90\x64")}), Error);
}

/// A fading tone at 8 kHz by LAME; the samples are those that another decoder gives.
TEST(Contrib, SoundsOfMp3AreRead) {
  const std::string file = from_hex(
      "ffe318c4000ce892cd19480000404bbef8077777777b444444afe5dddff492c1b80b80b80b8373dc5031ac1f0ffca7407f87bdfc"
      "1c0c7f35ff94fc0808707c1f7a322f13463fe5d2ffe318c4070e48aac801944800024d102ff10986340d50006c6a6000528764a6"
      "0660a93e210c8a5644b7ba0a82c0d06beadc456d57f46dffd3faffffffffcad59fffdfd5fb7ff960ffe318c4080f2892c4299400"
      "000c7a62e4a2018a4c65204088d94c5fe8ba6d29f5edc54f50fb47352b60ced79956f6348dd2761363fded2383cffd3f328bdbe9"
      "5ca25d5e822a4d25ffe318c4060d48d2c401931000fd731302e93528800dcb4c60066312e43c59c2ca23ffb78100842857dc2b95"
      "61efeaf7faffabfd9f7a3afeaf668ff455c427cfa3660ab55b1b2f5effe318c40b0e68c65c01cf1001c5a312790e7b22b90e514e"
      "7e8dd1354297286a862f829d3a63a74d150c584c4ccfb509f466c14d0515905702bf1fd24c414d45332e313030aaaaaa");
  const std::vector<float> samples = values<float>(run_contrib("AudioDecoder", {bytes_of(file)}));
  ASSERT_EQ(samples.size(), 2880u);
  struct {
    std::size_t at;
    float sample;
  } constexpr kKnown[] = {{0, 0.000000f},     {240, -0.000834f}, {480, 0.006203f},  {720, -0.009665f},
                          {960, -0.007744f},  {1200, 0.545690f}, {1440, 0.216146f}, {1680, -0.293142f},
                          {1920, -0.313777f}, {2160, 0.053677f}, {2400, 0.262312f}, {2640, 0.098577f}};
  for (const auto& known : kKnown) EXPECT_NEAR(samples[known.at], known.sample, 1e-5) << known.at;
  for (const std::size_t size : {3u, 50u, 71u})
    EXPECT_THROW(run_contrib("AudioDecoder", {bytes_of(file.substr(0, size))}), Error) << size;
  EXPECT_LT(values<float>(run_contrib("AudioDecoder", {bytes_of(file.substr(0, 200))})).size(), samples.size());
}

TEST(Contrib, FlacIsDecodedExactly) {
  const std::string_view begin = "664c6143800000220010001000000000000001f4",
                         zeros = "0000000000000000000000000000000000000000";
  const auto file = [&](std::string_view format, std::string_view frame) {
    return from_hex(std::string(begin) + std::string(format) + std::string(zeros) + std::string(frame));
  };
  EXPECT_EQ(samples_of(file("00f0", "fff8600800030012006400cc0000000d100000")), (std::vector<int>{100, 110, -5, 7}));
  EXPECT_EQ(samples_of(file("02f0", "fff860a800030002000300030000000202fffe7fff4000c000400000")),
            (std::vector<int>{1, 5, 2, 5, 3, -3, 4, 0}));
  EXPECT_EQ(samples_of(file("00f0", "fff860080005004200640078720f79007cdd240000")),
            (std::vector<int>{100, 120, 140, 150, 155, 150}));
}

TEST(Contrib, SentencePieceFindsTheBestPieces) {
  const Attrs attrs{
      {"model",
       "Cg4KBTx1bms+FQAAAAAYAgoMCgM8cz4VAAAAABgDCg0KBDwvcz4VAAAAABgDCgwKA+KWgRUAAIC/GAEKCgoBYRUAAADAGAEKCgoB"
       "YhUAACDAGAEKCwoCYWIVAADAvxgBCgwKAzx4PhUAAAAAGAQKCwoCYmIVAAAAvxgFCg8KBjwweDQzPhUAAAAAGAYSAhgB"}};
  const auto encoded = [&](const char* text, bool ends) {
    const std::vector<Datum> inputs{texts({text}), ints({0}),   Array::of<float>({1}, {0}),
                                    truth(ends),   truth(ends), truth(false)};
    const Array ids = *run_ops("SentencepieceTokenizer", inputs, attrs, 2, std::string(kContrib))[0].array();
    return values<std::int32_t>(ids);
  };
  EXPECT_EQ(encoded("ab  ba", false), (std::vector<std::int32_t>{3, 6, 3, 5, 4}));
  EXPECT_EQ(encoded("<x>zz", true), (std::vector<std::int32_t>{1, 3, 7, 0, 2}));  // unknown characters are one token
  EXPECT_EQ(encoded("bb", false), (std::vector<std::int32_t>{3, 5, 5}));          // "bb" is not used
}

}  // namespace
}  // namespace ingot::ops
