#pragma once
#include <cstdint>
#include <string_view>

// Hashes of texts that models were trained with: their values are part of what a model means.

namespace ingot::ops {

/// FarmHash's Fingerprint64.
std::uint64_t fingerprint64(std::string_view text);
/// SipHash-2-4 with a key of 128 bits.
std::uint64_t sip_hash(std::string_view text, std::uint64_t key0, std::uint64_t key1);
/// TensorFlow's Hash64. The extensions mix once more when the length is a multiple of 8.
std::uint64_t hash64(std::string_view text, bool mixes_empty_tail);

}  // namespace ingot::ops
