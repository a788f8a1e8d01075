// Buckets of texts: ai.onnx.contrib's StringToHashBucket and StringToHashBucketFast, and TensorFlow's as operators of
// the domain ingot.
#include "ingot/ops/contrib/hashes.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

template <class Hash> void run_buckets(KernelContext& c, std::int64_t buckets, Hash hash) {
  if (buckets <= 0) c.fail("the number of buckets must be positive");
  const Array& x = c.in(0);
  const auto out = c.make(0, DType::i64, x.dims()).mutable_data<std::int64_t>();
  Pace pace(c.host().budget());
  std::size_t i = 0;
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    out[i++] = static_cast<std::int64_t>(hash(text) % static_cast<std::uint64_t>(buckets));
  }
}

void run_extension(KernelContext& c) {
  run_buckets(c, int_argument(c, 1), [](const std::string& text) { return hash64(text, true); });
}
/// As all versions before the middle of 2025: later ones ask the C++ library they were built with.
void run_extension_fast(KernelContext& c) { run_buckets(c, int_argument(c, 1), fingerprint64); }

std::int64_t buckets_of(const KernelContext& c) { return c.attr("num_buckets", std::int64_t{0}); }

void run_old(KernelContext& c) {
  run_buckets(c, buckets_of(c), [](const std::string& text) { return hash64(text, false); });
}
void run_fast(KernelContext& c) { run_buckets(c, buckets_of(c), fingerprint64); }
void run_strong(KernelContext& c) {
  const auto key = c.attr_ints("key");
  if (key.size() != 2) c.fail("attribute 'key' must be two numbers");
  run_buckets(c, buckets_of(c), [&](const std::string& text) {
    return sip_hash(text, static_cast<std::uint64_t>(key[0]), static_cast<std::uint64_t>(key[1]));
  });
}

}  // namespace

constinit const OpDef defs::contrib::StringToHashBucket = {
    .name = "StringToHashBucket", .domain = kContrib, .infer = infer_same_shape, .kernel = run_extension};
constinit const OpDef defs::contrib::StringToHashBucketFast = {
    .name = "StringToHashBucketFast", .domain = kContrib, .infer = infer_same_shape, .kernel = run_extension_fast};
constinit const OpDef defs::own::StringToHashBucket = {
    .name = "StringToHashBucket", .domain = kOwn, .infer = infer_same_shape, .kernel = run_old};
constinit const OpDef defs::own::StringToHashBucketFast = {
    .name = "StringToHashBucketFast", .domain = kOwn, .infer = infer_same_shape, .kernel = run_fast};
constinit const OpDef defs::own::StringToHashBucketStrong = {
    .name = "StringToHashBucketStrong", .domain = kOwn, .infer = infer_same_shape, .kernel = run_strong};

}  // namespace ingot::ops
