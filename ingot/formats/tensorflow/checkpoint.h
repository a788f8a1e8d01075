#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/safe_path.h"
#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot::formats::tensorflow {

/// Which part of a tensor a slice holds, per dimension; a length of -1 is the whole dimension.
struct SliceExtent {
  std::int64_t start = 0, length = -1;
};

/// The values of variables: an index and its data files (V2), or one table that holds them (V1).
class Checkpoint {
 public:
  /// `prefix`.index and `prefix`.data-00000-of-00001, or `prefix` itself; below `directory`.
  static Checkpoint open(const std::string& directory, const std::string& prefix, PathPolicy policy, Budget& budget);
  /// From memory: the index and the data files in order.
  static Checkpoint of(const Bytes& index, std::vector<Bytes> shards, Budget& budget);

  std::vector<std::string> keys() const;
  /// A tensor with its checksum checked; nothing if there is none of that name. Large ones stay in the mapped file.
  std::optional<TensorProto> read(const std::string& key, Budget& budget) const;

 private:
  struct Entry {
    DataType dtype = DataType::invalid;
    TensorShape shape{};
    std::int32_t shard = 0;
    std::int64_t offset = 0, size = 0;
    std::uint32_t crc = 0;
    std::vector<std::vector<SliceExtent>> slices{};
  };
  static Entry read_entry(const Bytes& message);
  void read_index(const Bytes& index, Budget& budget);
  TensorProto read(const Entry& entry, Budget& budget) const;
  TensorProto joined(const std::string& key, const Entry& entry, Budget& budget) const;
  const Bytes& shard(std::int32_t number) const;

  std::map<std::string, Entry> entries_;
  std::map<std::string, TensorProto> v1_;
  std::int32_t shard_count_ = 0;
  std::vector<Bytes> shards_;
};

/// The key under which a slice of a tensor is stored.
std::string slice_key(std::string_view name, const std::vector<SliceExtent>& slice);

}  // namespace ingot::formats::tensorflow
