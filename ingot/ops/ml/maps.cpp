// CastMap, DictVectorizer, ZipMap: between tensors and maps.
#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/rows.h"

namespace ingot::ops {
namespace {

// The standard calls the outputs of CastMap and DictVectorizer 1-D in one place and [1, C] in another, and runtimes
// differ: their shapes stay open.

void infer_cast_map(InferContext& c) {
  const std::string form = c.attr("map_form", "DENSE"), type = c.attr("cast_to", "TO_FLOAT");
  if (form != "DENSE" && form != "SPARSE") c.fail("attribute 'map_form' is '" + form + "'");
  if (type == "TO_FLOAT")
    c.out_elem(0, DType::f32);
  else if (type == "TO_INT64")
    c.out_elem(0, DType::i64);
  else if (type == "TO_STRING")
    c.out_elem(0, DType::string);
  else
    c.fail("attribute 'cast_to' is '" + type + "'");
}

void infer_vectorizer(InferContext& c) {
  const bool has_strings = c.node().attributes.has("string_vocabulary");
  c.require(has_strings != c.node().attributes.has("int64_vocabulary"),
            "just one of 'string_vocabulary' and 'int64_vocabulary' must be given");
  const Type& x = c.type(0);
  if (x.kind != Type::Kind::map) return;
  if (x.elem != DType::undefined && (x.elem == DType::string) != has_strings)
    c.fail("the vocabulary and the map's keys differ in type");
  if (x.inner().elem != DType::undefined) c.out_elem(0, x.inner().elem);
}

void infer_zip(InferContext& c) {
  rows(c);
  const std::size_t count = label_count(c.node().attributes, "classlabels_strings", "classlabels_int64s");
  if (c.rank(0) && !may_equal(c.dim(0, -1), static_cast<std::int64_t>(count)))
    c.fail(std::to_string(count) + " labels for " + c.dim(0, -1).str() + " columns");
  const DType key = label_type(c.node().attributes, "classlabels_strings");
  c.out(0, Type::sequence(Type::map(key, Type::tensor(DType::f32, Shape{}))));
}

}  // namespace

constinit const OpDef defs::CastMap = {
    .name = "CastMap",
    .domain = "ai.onnx.ml",
    .infer = infer_cast_map,
};
constinit const OpDef defs::DictVectorizer = {
    .name = "DictVectorizer",
    .domain = "ai.onnx.ml",
    .infer = infer_vectorizer,
};
constinit const OpDef defs::ZipMap = {
    .name = "ZipMap",
    .domain = "ai.onnx.ml",
    .infer = infer_zip,
};

}  // namespace ingot::ops
