#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"

namespace ingot {
class Budget;
class Sink;
}  // namespace ingot

namespace ingot::formats::npy {

/// What a .npy file holds, in C order and little-endian.
struct NpyArray {
  DType dtype = DType::undefined;  // undefined: raw bytes, which NumPy calls void
  std::uint64_t item_bytes = 0;    // of one element; of raw bytes that is all that is known
  std::vector<std::int64_t> dims;
  Bytes data;                        // not for strings
  std::vector<std::string> strings;  // UTF-8
};

/// Reads a .npy file of format 1, 2 or 3. Data that needs no change stays where it is: in the file. Fortran order is
/// turned into C order, big-endian numbers into little-endian ones. Objects are refused, since they are pickles.
NpyArray read(const Bytes& file, Budget* budget = nullptr);

/// Writes format 1.0 with the data at a multiple of 64 bytes. Types that NumPy lacks (bfloat16, ...) are written as raw
/// bytes, as its extensions do; `data` has one byte for each element of a 4- or 2-bit type.
void write(const NpyArray& array, Sink& sink);
/// What stands before the data; of texts, as wide as the longest of `strings`.
std::string head_of(const NpyArray& array);
std::string to_bytes(const NpyArray& array);

/// The arrays of a .npz file by name, without the ".npy" of the member.
std::vector<std::pair<std::string, NpyArray>> read_npz(const Bytes& file, Budget* budget = nullptr);
void write_npz(const std::vector<std::pair<std::string, NpyArray>>& arrays, Sink& sink);

/// Whether the file begins with the magic of .npy.
bool looks_like_npy(const Bytes& file);

}  // namespace ingot::formats::npy
