#pragma once
#include <cstdint>
#include <functional>

#include "ingot/formats/tflite/options.h"

namespace flatbuffers {
class FlatBufferBuilder;
class Table;
}  // namespace flatbuffers

namespace ingot::formats::tflite {

/// Is told how many bytes are about to be copied and where in the file what is copied ends.
using Copying = std::function<void(std::uint64_t bytes, const void* end)>;

/// Reads one verified options table.
Options read_options(const flatbuffers::Table& table, const OptionTable& description, const Copying& copying);

/// Appends the table and returns its offset; fields at their defaults are left out.
std::uint32_t write_options(const Options& options, flatbuffers::FlatBufferBuilder& builder);

}  // namespace ingot::formats::tflite
