#pragma once
#include <map>
#include <optional>
#include <string>

#include "ingot/formats/protobuf/wire_reader.h"
#include "ingot/ir/type.h"
#include "ingot/onnx/reader.h"

namespace ingot::onnx {

namespace protobuf = ingot::formats::protobuf;

/// What all parts of one reading share: limits and the files with external data.
class ReadContext {
 public:
  ReadContext(std::string directory, const ReadOptions& options);
  ReadContext(const ReadContext&) = delete;
  ReadContext& operator=(const ReadContext&) = delete;
  ~ReadContext();

  /// The whole of an external file, mapped; each is opened once. The only way from a model to another file.
  /// Null: it is not there, and that is allowed.
  const Bytes* external_file(const std::string& location);
  /// Called for each value and tensor, so that a file of empty messages cannot fill the memory unnoticed.
  void count_object();
  void count_node();
  /// The value's type has a negative size, which is read as unknown.
  void note_negative_size(const std::string& value);
  /// Adds what was noted to the notes of the options.
  void tell() const;

 private:
  std::string directory_;
  ReadOptions options_;
  Budget& budget_;
  std::map<std::string, std::optional<Bytes>> files_;
  std::uint64_t objects_ = 0;
  std::uint64_t negative_sizes_ = 0;             // values that have some
  std::vector<std::string> with_negative_size_;  // the first of them
};

/// Reads the entry at `field`. One with fields that are not known goes to `unknown` as it stands.
void read_entry(const protobuf::Reader& field, Metadata& entries, std::string& unknown);

/// Keeps the field as it stands in the file.
inline void keep(const protobuf::Reader& field, std::string& unknown) { unknown += field.raw_field().text(); }

/// The element type of that number; 0 is "undefined".
DType read_dtype(const protobuf::Reader& field);

}  // namespace ingot::onnx
