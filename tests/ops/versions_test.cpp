// Releases: targets by name, and the IR version that belongs to opset imports.
#include "ingot/ops/versions.h"

#include <set>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/ops/schema.h"

namespace ingot::ops {
namespace {

int ir_for(std::initializer_list<std::pair<std::string_view, std::int64_t>> versions) {
  OpsetImports imports;
  for (const auto& [domain, version] : versions) imports.set(domain, version);
  return ir_version_for(imports);
}

TEST(Versions, TargetsAreFoundByName) {
  EXPECT_EQ(target_by_name("onnx-1.12").opset, 17);
  EXPECT_EQ(target_by_name("onnx-1.12").ir_version, 8);
  const Target& ort = target_by_name("ort-1.15");
  EXPECT_EQ(ort.opset, 19);
  EXPECT_EQ(ort.ml_opset, 3);
  EXPECT_EQ(ort.training_opset, 1);
  EXPECT_EQ(ort.ir_version, 9);
}

TEST(Versions, PatchVersionsAreAccepted) {
  EXPECT_EQ(target_by_name("ort-1.19.2").name, "ort-1.19");
  EXPECT_EQ(target_by_name("onnx-1.1.2").opset, 6);
  EXPECT_EQ(target_by_name("onnx-1.1.1").opset, 5);
  EXPECT_EQ(target_by_name("onnx-1.4.1").opset, 9);
}

TEST(Versions, UnknownTargetsListAllNames) {
  for (const std::string_view name :
       {"", "ort", "ort-1.99", "1.15", "ort-1.15.x", "ort-1.15.", "ort-1.15.1.1", "ort-1"}) {
    try {
      target_by_name(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::bad_usage);
      EXPECT_THAT(e.message(), testing::HasSubstr("'" + std::string(name) + "'"));
      EXPECT_THAT(e.hint_text(), testing::HasSubstr("onnx-1.22, ort-1.0"));
      EXPECT_THAT(e.hint_text(), testing::EndsWith("ort-1.29"));
    }
  }
}

TEST(Versions, TargetsGrow) {
  std::set<std::string_view> names;
  const Target* last = nullptr;
  for (const Target& t : all_targets()) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_LE(t.opset, newest_opset(""));
    EXPECT_LE(t.ml_opset, newest_opset("ai.onnx.ml"));
    if (last != nullptr && last->name.substr(0, 3) == t.name.substr(0, 3)) {
      EXPECT_GE(t.opset, last->opset) << t.name;
      EXPECT_GE(t.ml_opset, last->ml_opset) << t.name;
      EXPECT_GE(t.ir_version, last->ir_version) << t.name;
    }
    // What a target names together can be written together.
    EXPECT_EQ(ir_for({{"", t.opset}, {"ai.onnx.ml", t.ml_opset}}), t.ir_version) << t.name;
    last = &t;
  }
}

TEST(Versions, IrVersionFollowsTheOpsets) {
  EXPECT_EQ(ir_for({{"", 1}}), 3);
  EXPECT_EQ(ir_for({{"", 8}}), 3);
  EXPECT_EQ(ir_for({{"", 9}}), 4);
  EXPECT_EQ(ir_for({{"", 13}}), 7);
  EXPECT_EQ(ir_for({{"", 21}}), 10);
  EXPECT_EQ(ir_for({{"", 27}}), 13);
  EXPECT_EQ(ir_for({{"", 28}}), 14);
  EXPECT_EQ(ir_for({{"", 99}}), 14);
}

TEST(Versions, EveryStandardDomainCounts) {
  EXPECT_EQ(ir_for({{"", 9}, {"ai.onnx.ml", 5}}), 10);
  EXPECT_EQ(ir_for({{"ai.onnx", 9}, {"ai.onnx.preview.training", 1}}), 7);
  EXPECT_EQ(ir_for({{"", 9}, {"com.microsoft", 1}}), 4);
}

}  // namespace
}  // namespace ingot::ops
