#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
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

std::vector<Datum> run_own(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs = {},
                           std::size_t outputs = 1) {
  return run_ops(op, inputs, attrs, outputs, std::string(kOwn));
}
Strings strings(const Datum& datum) { return values<std::string>(*datum.array()); }

TEST(GraphBuilder, MakesOperatorsOfOthersByTheirDomain) {
  Graph graph;
  GraphBuilder g(graph);
  EXPECT_REFUSED(Code::internal, g.op(Name(defs::own::Substr), {}));
  EXPECT_EQ(g.node("Substr", kOwn, {}, {}, 1)->domain, kOwn);
}

TEST(OwnTexts, BucketsAreTensorFlows) {
  const Array words = texts({"Hello", "TensorFlow", "2.x"});
  const auto buckets = [&](std::string_view op, const Array& x, Attrs attrs) {
    attrs.emplace_back("num_buckets", 3);
    return values<std::int64_t>(*run_own(op, {x}, attrs)[0].array());
  };
  EXPECT_EQ(buckets("StringToHashBucketFast", words, {}), (std::vector<std::int64_t>{0, 2, 2}));
  EXPECT_EQ(buckets("StringToHashBucketStrong", texts({"Hello", "TF"}), {{"key", std::vector<std::int64_t>{1, 2}}}),
            (std::vector<std::int64_t>{2, 0}));
}

TEST(OwnTexts, PartsAreCountedInBytesOrCharacters) {
  const auto part = [](const Strings& x, std::int64_t at, std::int64_t length, const char* unit) {
    return strings(run_own("Substr", {texts(x), ints({at}), ints({length})}, {{"unit", unit}})[0]);
  };
  EXPECT_EQ(part({"Hello", "World"}, 1, 3, "BYTE"), (Strings{"ell", "orl"}));
  EXPECT_EQ(part({"añb中"}, 1, 2, "UTF8_CHAR"), (Strings{"ñb"}));
  EXPECT_EQ(part({"añb中"}, -1, 9, "UTF8_CHAR"), (Strings{"中"}));
  EXPECT_EQ(part({"abc"}, 3, 1, "BYTE"), (Strings{""}));
  EXPECT_REFUSED(Code::execution_failed, part({"abc"}, 4, 1, "BYTE"));
  EXPECT_REFUSED(Code::execution_failed, part({"abc"}, -4, 1, "BYTE"));
  EXPECT_REFUSED(Code::execution_failed, part({"abc"}, 0, -1, "BYTE"));
}

TEST(OwnTexts, SplittingGoesByTextsOrWhiteSpace) {
  const auto split = [](const Strings& x, const char* separator, std::int64_t most) {
    return run_own("StringSplitV2", {texts(x), texts({separator})}, {{"maxsplit", most}}, 3);
  };
  auto made = split({"1<>2<>3", "<>", ""}, "<>", -1);
  EXPECT_EQ(strings(made[1]), (Strings{"1", "2", "3", "", "", ""}));
  EXPECT_EQ(values<std::int64_t>(*made[2].array()), (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(strings(split({" a  b\tc "}, "", -1)[1]), (Strings{"a", "b", "c"}));
  EXPECT_EQ(strings(split({" a  b\tc "}, "", 1)[1]), (Strings{"a", "b\tc "}));
}

TEST(OwnTexts, RegexesAreThoseOfRe2) {
  EXPECT_EQ(strings(run_own("RegexReplace", {texts({"a1b22"}), texts({"(\\d+)"}), texts({"<\\1>"})})[0]),
            (Strings{"a<1>b<22>"}));
  EXPECT_EQ(
      strings(run_own("RegexReplace", {texts({"a1b22"}), texts({"\\d"}), texts({""})}, {{"replace_global", 0}})[0]),
      (Strings{"ab22"}));
  EXPECT_EQ(values<bool>(*run_own("RegexFullMatch", {texts({"ab", "abc"}), texts({"ab"})})[0].array()),
            (std::vector<bool>{true, false}));
}

TEST(OwnTexts, CasesAndLengthsFollowTheEncoding) {
  EXPECT_EQ(strings(run_own("StringUpper", {texts({"añ"})})[0]), (Strings{"Añ"}));
  EXPECT_EQ(strings(run_own("StringUpper", {texts({"añ"})}, {{"encoding", "utf-8"}})[0]), (Strings{"AÑ"}));
  EXPECT_EQ(strings(run_own("StringLower", {texts({"AÑ"})}, {{"encoding", "utf-8"}})[0]), (Strings{"añ"}));
  EXPECT_EQ(strings(run_own("StringStrip", {texts({" \t ", " a b\n"})})[0]), (Strings{"", "a b"}));
  const auto length = [](const char* unit) {
    return values<std::int32_t>(*run_own("StringLength", {texts({"añ"})}, {{"unit", unit}})[0].array())[0];
  };
  EXPECT_EQ(length("BYTE"), 3);
  EXPECT_EQ(length("UTF8_CHAR"), 2);
}

}  // namespace
}  // namespace ingot::ops
