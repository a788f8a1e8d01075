#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot::formats::hdf5 {

/// Of HDF5's own structures: Bob Jenkins's lookup3.
std::uint32_t metadata_checksum(std::span<const std::byte> data);
/// Of chunks of data.
std::uint32_t fletcher32(std::span<const std::byte> data);

}  // namespace ingot::formats::hdf5
