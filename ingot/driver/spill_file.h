#pragma once
#include <string>

#include "ingot/base/bytes.h"
#include "ingot/base/file_descriptor.h"
#include "ingot/base/sink.h"

namespace ingot::driver {

/// A file without a name, for what does not fit into memory; it goes with its owner, however that ends.
class SpillFile final : public Sink {
 public:
  /// On the disk that holds `directory`.
  explicit SpillFile(const std::string& directory);

  void write(std::span<const std::byte> bytes) override;
  /// All that was written, mapped.
  Bytes contents();

 private:
  void flush();

  std::string directory_;
  FileDescriptor file_;
  std::string buffer_;
};

/// Writes bytes piece by piece and gives back the memory of those behind, where they are mapped.
void copy_to(const Bytes& bytes, Sink& sink);

}  // namespace ingot::driver
