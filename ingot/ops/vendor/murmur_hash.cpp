// com.microsoft.MurmurHash3: the 32-bit variant for x86, of each element's bytes.
#include <bit>
#include <cstring>

#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

void infer_hash(InferContext& c) {
  c.out_elem(0, c.attr("positive", std::int64_t{1}) ? DType::u32 : DType::i32);
  c.out_shape_like(0, 0);
}

std::uint32_t mixed(std::uint32_t k) { return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u; }

std::uint32_t hash(const std::byte* data, std::size_t size, std::uint32_t seed) {
  std::uint32_t h = seed;
  const std::size_t whole = size / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    std::uint32_t k = 0;
    std::memcpy(&k, data + i, 4);
    h = std::rotl(h ^ mixed(k), 13) * 5 + 0xe6546b64u;
  }
  std::uint32_t tail = 0;
  for (std::size_t i = size; i > whole; --i) tail = tail << 8 | std::to_integer<std::uint32_t>(data[i - 1]);
  if (size != whole) h ^= mixed(tail);
  h ^= static_cast<std::uint32_t>(size);
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

void run_hash(KernelContext& c) {
  const Array& x = c.in(0);
  const bool is_positive = c.attr("positive", std::int64_t{1}) != 0;
  const auto seed = static_cast<std::uint32_t>(c.attr("seed", std::int64_t{0}));
  Array& y = c.make(0, is_positive ? DType::u32 : DType::i32, x.dims());
  const std::size_t width = bits_of(x.dtype()) / 8;
  Pace pace(c.host().budget());
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) {
    std::uint32_t h = 0;
    if (x.dtype() == DType::string) {
      const std::string& text = x.data<std::string>()[i];
      h = hash(reinterpret_cast<const std::byte*>(text.data()), text.size(), seed);
      pace.step(static_cast<std::int64_t>(text.size()));
    } else {
      h = hash(x.bytes() + i * width, width, seed);
      pace.step(1);
    }
    std::memcpy(y.bytes() + i * 4, &h, 4);
  }
}

}  // namespace

constinit const OpDef defs::microsoft::MurmurHash3 = {
    .name = "MurmurHash3", .domain = kMicrosoft, .infer = infer_hash, .kernel = run_hash};

}  // namespace ingot::ops
