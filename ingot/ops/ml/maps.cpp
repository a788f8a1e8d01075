// CastMap, DictVectorizer, ZipMap: between tensors and maps.
#include <algorithm>
#include <map>

#include "ingot/ops/catalog.h"
#include "ingot/ops/math/cast_kernel.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/walk.h"

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

const MapData& map_input(const KernelContext& c) {
  const MapData* map = c.has(0) ? c.datum(0).map() : nullptr;
  if (!map) c.fail("the input is no map");
  const std::size_t keys = std::max(map->int_keys.size(), map->string_keys.size());
  if (static_cast<std::size_t>(map->values.size()) != keys) c.fail("keys and values of the map differ in number");
  return *map;
}

// Values in the order of their keys, [1, n]; SPARSE: each at the place that its key states, zeros elsewhere.
void run_cast_map(KernelContext& c) {
  const MapData& map = map_input(c);
  const std::string form = c.attr("map_form", "DENSE"), type = c.attr("cast_to", "TO_FLOAT");
  if (form != "DENSE" && form != "SPARSE") c.fail("attribute 'map_form' is '" + form + "'");
  if (type != "TO_FLOAT" && type != "TO_INT64" && type != "TO_STRING") c.fail("attribute 'cast_to' is '" + type + "'");
  const DType to = type == "TO_FLOAT" ? DType::f32 : type == "TO_INT64" ? DType::i64 : DType::string;
  const Array values = cast_array(c, map.values, to);
  if (form == "DENSE") return c.set(0, values.reshaped({1, values.size()}));
  const std::int64_t size = c.attr("max_map", std::int64_t{1});
  if (size <= 0) c.fail("attribute 'max_map' must be positive");
  if (!map.string_keys.empty()) c.fail("the keys of a sparse map must be integers");
  Array& y = c.make(0, to, {1, size});
  if (to == DType::string)
    std::ranges::fill(y.mutable_data<std::string>(), "0");
  else
    std::fill_n(y.bytes(), y.byte_size(), std::byte{0});
  dispatch_cell(to, [&]<class T>() {
    for (std::size_t i = 0; i < map.int_keys.size(); ++i) {
      const std::int64_t key = map.int_keys[i];
      if (key < 0) c.fail("a key is negative");
      if (key < size) cells<T>(y)[key] = cells<T>(values)[i];
    }
  });
}

template <class K>
void put_vocabulary(KernelContext& c, const std::vector<K>& vocabulary, const std::vector<K>& keys,
                    const Array& values) {
  Array& y = c.make(0, values.dtype(), {1, std::ssize(vocabulary)});
  dispatch_cell(values.dtype(), [&]<class T>() {
    T* out = cells<T>(y);
    for (const K& word : vocabulary) {
      const auto it = std::ranges::lower_bound(keys, word);
      *out++ = it != keys.end() && *it == word ? cells<T>(values)[it - keys.begin()] : T{};
    }
  });
}

void run_vectorizer(KernelContext& c) {
  const MapData& map = map_input(c);
  const auto* strings = c.node.attributes.get<std::vector<std::string>>("string_vocabulary");
  const auto* ints = c.node.attributes.get<std::vector<std::int64_t>>("int64_vocabulary");
  if ((strings != nullptr) == (ints != nullptr))
    c.fail("just one of 'string_vocabulary' and 'int64_vocabulary' must be given");
  if (strings ? !map.int_keys.empty() : !map.string_keys.empty())
    c.fail("the vocabulary and the map's keys differ in type");
  if (strings)
    put_vocabulary(c, *strings, map.string_keys, map.values);
  else
    put_vocabulary(c, *ints, map.int_keys, map.values);
}

/// The places of a list in the order of its elements; of equal ones the last only.
template <class K> std::map<K, std::size_t> sorted(const std::vector<K>& keys) {
  std::map<K, std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) places.insert_or_assign(keys[i], i);
  return places;
}

template <class K> void put_maps(KernelContext& c, const std::vector<K>& labels, std::vector<K> MapData::*keys) {
  const Array& x = c.in(0);
  if (x.rank() != 1 && x.rank() != 2) c.fail("the input must have shape [N, C] or [C]");
  if (x.dims().back() != std::ssize(labels)) c.fail("the labels do not fit the columns");
  const auto places = sorted(labels);
  const std::int64_t rows = x.rank() == 1 ? 1 : x.dims()[0];
  Sequence maps;
  for (std::int64_t row = 0; row < rows; ++row) {
    MapData map;
    map.values = scratch(c, DType::f32, {std::ssize(places)});
    float* out = map.values.mutable_data<float>().data();
    for (const auto& [label, place] : places) {
      (map.*keys).push_back(label);
      *out++ = x.data<float>()[static_cast<std::size_t>(row * x.dims().back()) + place];
    }
    maps.push_back(std::move(map));
  }
  c.set(0, std::move(maps));
}

void run_zip(KernelContext& c) {
  const auto* strings = c.node.attributes.get<std::vector<std::string>>("classlabels_strings");
  const auto* ints = c.node.attributes.get<std::vector<std::int64_t>>("classlabels_int64s");
  if (strings && !strings->empty()) return put_maps(c, *strings, &MapData::string_keys);
  if (!ints) c.fail("there are no labels");
  put_maps(c, *ints, &MapData::int_keys);
}

}  // namespace

constinit const OpDef defs::CastMap = {
    .name = "CastMap",
    .domain = "ai.onnx.ml",
    .infer = infer_cast_map,
    .kernel = run_cast_map,
};
constinit const OpDef defs::DictVectorizer = {
    .name = "DictVectorizer",
    .domain = "ai.onnx.ml",
    .infer = infer_vectorizer,
    .kernel = run_vectorizer,
};
constinit const OpDef defs::ZipMap = {
    .name = "ZipMap",
    .domain = "ai.onnx.ml",
    .infer = infer_zip,
    .kernel = run_zip,
};

}  // namespace ingot::ops
