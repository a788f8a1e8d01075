#pragma once
#include <cstdint>
#include <string>

namespace ingot::test {

// Each takes a file and gives one with a few parts dropped, blanked, repeated, swapped, retyped or resized, which stays
// a file of its format; the same for the same seed.

/// Of protobuf messages of any kind (ONNX, TensorFlow), by their fields.
std::string mutated_message(const std::string& file, std::uint64_t seed);
/// Of TFLite files, by their tensors, operators, options, buffers and subgraphs. Empty: what came out is no such file.
std::string mutated_tflite(const std::string& file, std::uint64_t seed);
/// Of JSON (TensorFlow.js), by its values.
std::string mutated_json(const std::string& file, std::uint64_t seed);
/// Of pickles, by their instructions: numbers, texts, globals, memory, the order; what is not one (the arrays of
/// joblib) stays as it is.
std::string mutated_pickle(const std::string& file, std::uint64_t seed);
/// Of text in lines, by its numbers, words and lines.
std::string mutated_text(const std::string& file, std::uint64_t seed);
/// Of zip archives, by one of their members: JSON, pickle or text as its name tells, else its bytes.
std::string mutated_archive(const std::string& file, std::uint64_t seed);
/// Of anything: bytes, numbers of 4 and 8 bytes, digits, ranges, the end.
std::string mutated_bytes(const std::string& file, std::uint64_t seed);

}  // namespace ingot::test
