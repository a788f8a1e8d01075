#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "ingot/base/elements.h"
#include "ingot/formats/tflite/options.h"

namespace flatbuffers {
class FlatBufferBuilder;
class Table;
}  // namespace flatbuffers

namespace ingot::formats::tflite {

/// The elements of a verified vector. The verifier vouches for its extent but only for four bytes of alignment, so that
/// longs may lie anywhere.
template <class To, class Vector> std::vector<To> elements(const Vector& vector) {
  using From = typename Vector::value_type;
  std::vector<To> values;
  values.reserve(vector.size());
  const auto* data = reinterpret_cast<const std::byte*>(vector.Data());
  for (std::size_t i = 0; i < vector.size(); ++i) values.push_back(static_cast<To>(load_element<From>(data, i)));
  return values;
}

/// Is told how many bytes are about to be copied and where in the file what is copied ends.
using Copying = std::function<void(std::uint64_t bytes, const void* end)>;

/// Reads one verified options table.
Options read_options(const flatbuffers::Table& table, const OptionTable& description, const Copying& copying);

/// Appends the table and returns its offset; fields at their defaults are left out.
std::uint32_t write_options(const Options& options, flatbuffers::FlatBufferBuilder& builder);

}  // namespace ingot::formats::tflite
