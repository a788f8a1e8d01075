// What a chunk goes through before it is stored, undone.
#include <fmt/format.h>
#include <zlib.h>

#include "ingot/base/error.h"
#include "ingot/formats/hdf5/checksum.h"
#include "ingot/formats/hdf5/object.h"

namespace ingot::formats::hdf5 {
namespace {

constexpr unsigned kDeflate = 1, kShuffle = 2, kFletcher32 = 3;
using Data = std::vector<std::byte>;

Data inflated(const Data& data, std::uint64_t size) {
  // Deflate makes a thousand bytes of one at most: a larger claim is a lie, and no memory is taken for it.
  if (size / 1040 > data.size() + 1) refuse("a chunk claims to be larger than its data can make it");
  Data out(static_cast<std::size_t>(size));
  uLongf length = out.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                                reinterpret_cast<const Bytef*>(data.data()), data.size());
  if (status != Z_OK || length != out.size()) refuse("a chunk cannot be decompressed");
  return out;
}

Data unshuffled(const Data& data, std::size_t width) {
  if (width < 2) return data;
  const std::size_t count = data.size() / width;
  Data out = data;  // what does not fill an element stays at the end
  for (std::size_t byte = 0; byte < width; ++byte)
    for (std::size_t i = 0; i < count; ++i) out[i * width + byte] = data[byte * count + i];
  return out;
}

Data without_checksum(Data data) {
  if (data.size() < 4) refuse("a chunk is shorter than its checksum");
  ByteReader in(std::span<const std::byte>(data).subspan(data.size() - 4));
  const std::uint32_t stated = in.u32();
  data.resize(data.size() - 4);
  if (fletcher32(data) != stated) throw Error(Code::checksum_mismatch, "the checksum of a chunk of HDF5 data is wrong");
  return data;
}

}  // namespace

std::vector<std::byte> unfiltered(std::span<const std::byte> stored, const std::vector<Filter>& filters,
                                  std::uint32_t skipped, std::uint64_t size) {
  const auto is_skipped = [&](std::size_t i) { return i < 32 && (skipped >> i & 1) != 0; };
  // How large the chunk is before each filter.
  std::vector<std::uint64_t> sizes{size};
  for (std::size_t i = 0; i < filters.size(); ++i)
    sizes.push_back(sizes.back() + (filters[i].id == kFletcher32 && !is_skipped(i) ? 4 : 0));
  Data data(stored.begin(), stored.end());
  for (std::size_t i = filters.size(); i-- > 0;) {
    if (is_skipped(i)) continue;
    switch (filters[i].id) {
      case kDeflate:
        data = inflated(data, sizes[i]);
        break;
      case kShuffle:
        data = unshuffled(data, filters[i].values.empty() ? 1 : filters[i].values[0]);
        break;
      case kFletcher32:
        data = without_checksum(std::move(data));
        break;
      default:
        throw Error(Code::unsupported_feature, fmt::format("HDF5: filter {} is not read", filters[i].id))
            .hint("save the weights with gzip or without compression");
    }
  }
  if (data.size() != size) refuse("a chunk does not have its size");
  return data;
}

}  // namespace ingot::formats::hdf5
