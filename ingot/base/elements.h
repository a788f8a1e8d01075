#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ingot/base/float_types.h"

// Elements of tensors in bytes of any alignment, as ONNX lays them out: little-endian, sub-byte types packed from the
// low bits up. The machine is taken to be little-endian, which the build checks.

namespace ingot {

static_assert(std::endian::native == std::endian::little, "tensors are used in place, which needs a little-endian CPU");

/// Whether T shares its bytes with other elements.
template <class T> inline constexpr bool kIsPacked = is_sub_byte(dtype_of<T>);

/// Element `index`; a bool is true for every byte but 0.
template <class T> T load_element(const std::byte* data, std::uint64_t index) {
  static_assert(!std::is_same_v<T, std::string>, "strings are not stored as bytes");
  if constexpr (kIsPacked<T>) {
    constexpr std::uint64_t kPerByte = 8 / T::kBits;
    const auto byte = static_cast<std::uint32_t>(data[index / kPerByte]);
    return T::from_bits(byte >> (index % kPerByte * T::kBits) & ((1u << T::kBits) - 1));
  } else if constexpr (std::is_same_v<T, bool>) {
    return data[index] != std::byte{0};
  } else {
    T value;
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return value;
  }
}

/// Writes element `index`; elements that share its byte stay.
template <class T> void store_element(std::byte* data, std::uint64_t index, T value) {
  static_assert(!std::is_same_v<T, std::string>, "strings are not stored as bytes");
  if constexpr (kIsPacked<T>) {
    constexpr std::uint64_t kPerByte = 8 / T::kBits;
    constexpr std::uint32_t kMask = (1u << T::kBits) - 1;
    const auto shift = static_cast<unsigned>(index % kPerByte * T::kBits);
    std::byte& byte = data[index / kPerByte];
    byte = static_cast<std::byte>((static_cast<std::uint32_t>(byte) & ~(kMask << shift)) | value.to_bits() << shift);
  } else if constexpr (std::is_same_v<T, bool>) {
    data[index] = static_cast<std::byte>(value ? 1 : 0);
  } else {
    std::memcpy(data + index * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace ingot
