// Types that are stated twice.
#include "ingot/ir/type.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

Type noted(Type type, const TypeNotes& notes) {
  type.notes = std::make_shared<const TypeNotes>(notes);
  return type;
}

TEST(Type, RefiningTakesNotesOfTheSameDimensions) {
  TypeNotes notes;
  notes.dim_denotations = {"BATCH", ""};
  const Type known = Type::tensor(DType::f32, Shape{2, 3});
  const Type said = noted(Type::tensor(DType::f32, Shape{2, Dim::symbol("n")}), notes);
  const Type both = refine(known, said);
  EXPECT_EQ(both.shape, known.shape);
  EXPECT_EQ(both.notes, said.notes);
}

TEST(Type, RefiningTakesNoNotesOfOtherDimensions) {
  TypeNotes of_dimensions, of_both;
  of_dimensions.dim_unknown = {"H\x02"};
  of_both.dim_denotations = {"BATCH"};
  of_both.denotation = "IMAGE";
  const Type known = Type::tensor(DType::f32, Shape{2, 3}), said = Type::tensor(DType::f32, Shape{2});
  EXPECT_FALSE(refine(known, noted(said, of_dimensions)).notes);
  const Type both = refine(known, noted(said, of_both));
  ASSERT_TRUE(both.notes);
  TypeNotes of_type;
  of_type.denotation = "IMAGE";
  EXPECT_EQ(*both.notes, of_type);
}

}  // namespace
}  // namespace ingot
