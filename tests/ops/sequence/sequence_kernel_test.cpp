// Sequences and optionals at run time.
#include <gtest/gtest.h>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

const Sequence kThree = {Array::scalar(0.0f), Array::scalar(1.0f), Array::scalar(2.0f)};

std::vector<float> elements(const Datum& d) {
  std::vector<float> all;
  for (const Datum& e : *d.sequence()) all.push_back(e.array()->data<float>()[0]);
  return all;
}

Array at(std::int64_t i) { return Array::scalar(i); }

TEST(SequenceKernels, ReadFromEitherEnd) {
  EXPECT_EQ(values<float>(run_op("SequenceAt", {kThree, at(-1)})), std::vector<float>{2});
  EXPECT_REFUSED(Code::execution_failed, run_op("SequenceAt", {kThree, at(3)}));
  EXPECT_EQ(values<std::int64_t>(run_op("SequenceLength", {Datum(kThree)})), std::vector<std::int64_t>{3});
}

TEST(SequenceKernels, InsertAndErase) {
  const Array nine = Array::scalar(9.0f);
  EXPECT_EQ(elements(run_ops("SequenceInsert", {kThree, nine}, {}, 1)[0]), (std::vector<float>{0, 1, 2, 9}));
  EXPECT_EQ(elements(run_ops("SequenceInsert", {kThree, nine, at(-3)}, {}, 1)[0]), (std::vector<float>{9, 0, 1, 2}));
  EXPECT_EQ(elements(run_ops("SequenceInsert", {kThree, nine, at(3)}, {}, 1)[0]), (std::vector<float>{0, 1, 2, 9}));
  EXPECT_REFUSED(Code::execution_failed, run_ops("SequenceInsert", {kThree, nine, at(4)}, {}, 1));
  EXPECT_EQ(elements(run_ops("SequenceErase", {Datum(kThree)}, {}, 1)[0]), (std::vector<float>{0, 1}));
  EXPECT_EQ(elements(run_ops("SequenceErase", {kThree, at(0)}, {}, 1)[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(elements(kThree), (std::vector<float>{0, 1, 2}));
}

TEST(SequenceKernels, SplitAndJoinTensors) {
  const auto parts = run_ops("SplitToSequence", {counted({5}), at(2)}, {}, 1)[0];
  ASSERT_EQ(parts.sequence()->size(), 3u);
  EXPECT_EQ(values<float>(*(*parts.sequence())[2].array()), std::vector<float>{4});
  EXPECT_EQ(values<float>(run_op("ConcatFromSequence", {parts}, {{"axis", 0}})), values<float>(counted({5})));
  const auto rows = run_ops("SplitToSequence", {counted({2, 3})}, {{"keepdims", 0}}, 1)[0];
  EXPECT_EQ((*rows.sequence())[0].array()->dims(), Dims{3});
  EXPECT_EQ(run_op("ConcatFromSequence", {rows}, {{"axis", -1}, {"new_axis", 1}}).dims(), (Dims{3, 2}));
  EXPECT_REFUSED(Code::execution_failed, run_ops("SplitToSequence", {counted({5}), ints({2, 2})}, {}, 1));
  EXPECT_REFUSED(Code::execution_failed, run_ops("SplitToSequence", {counted({5}), at(0)}, {}, 1));
  EXPECT_REFUSED(Code::execution_failed, run_ops("ConcatFromSequence", {parts}, {{"axis", 0}, {"new_axis", 1}}, 1));
}

TEST(OptionalKernels, TellWhetherThereIsAnElement) {
  EXPECT_EQ(values<bool>(run_op("OptionalHasElement", {Datum(kThree)})), std::vector<bool>{true});
  EXPECT_EQ(values<bool>(run_op("OptionalHasElement", {})), std::vector<bool>{false});
  EXPECT_EQ(values<float>(run_op("OptionalGetElement", {Array::scalar(4.0f)})), std::vector<float>{4});
}

}  // namespace
}  // namespace ingot::test
