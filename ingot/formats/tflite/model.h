#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/formats/tflite/enums.h"
#include "ingot/formats/tflite/options.h"

namespace ingot::formats::tflite {

/// In lists of tensor indices: an optional tensor that is left out.
inline constexpr std::int32_t kNoTensor = -1;

struct CustomQuantization {
  Bytes custom{};
  bool operator==(const CustomQuantization&) const = default;
};

/// Scales and zero points are tensors of the same subgraph.
struct BlockwiseQuantization {
  std::int32_t scales = 0;
  std::int32_t zero_points = kNoTensor;  ///< kNoTensor: all 0
  std::int32_t block_size = 0;
  bool operator==(const BlockwiseQuantization&) const = default;
};

struct MultiAxisQuantization {
  std::int32_t scales = 0;
  std::int32_t zero_points = kNoTensor;
  std::int32_t block_size = 0;
  std::vector<std::int32_t> quantized_dimensions{};
  bool operator==(const MultiAxisQuantization&) const = default;
};

/// real = scale[c] * (q - zero_point[c]); c runs along quantized_dimension if there is more than one scale. If there
/// are details, they stand in place of all this.
struct Quantization {
  std::vector<float> min{}, max{}, scale{};
  std::vector<std::int64_t> zero_point{};
  std::int32_t quantized_dimension = 0;
  std::variant<std::monostate, CustomQuantization, BlockwiseQuantization, MultiAxisQuantization> details{};
  bool operator==(const Quantization&) const = default;
};

/// How wide the file stores sparse indices; NONE: there are none.
enum class SparseIndexType : std::uint8_t { NONE, INT32, UINT16, UINT8 };

struct SparseIndices {
  SparseIndexType type = SparseIndexType::NONE;
  std::vector<std::int32_t> values{};
  bool operator==(const SparseIndices&) const = default;
};

/// One level of a sparse tensor: a dense dimension of a size, or compressed rows as in CSR.
struct DimensionMetadata {
  DimensionType format = DimensionType::DENSE;
  std::int32_t dense_size = 0;
  SparseIndices array_segments{}, array_indices{};
  bool operator==(const DimensionMetadata&) const = default;
};

/// Levels run in traversal_order over the dimensions, then over the dimensions of a block; block_map tells which
/// dimension each block dimension divides.
struct Sparsity {
  std::vector<std::int32_t> traversal_order{}, block_map{};
  std::vector<DimensionMetadata> dim_metadata{};
  bool operator==(const Sparsity&) const = default;
};

struct VariantSubType {
  std::vector<std::int64_t> shape{};
  TensorType type = TensorType::FLOAT32;
  bool has_rank = false;
  bool operator==(const VariantSubType&) const = default;
};

struct Tensor {
  std::string name{};
  TensorType type = TensorType::FLOAT32;
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> shape_signature{};  ///< as shape with -1 for unknown; empty: nothing is unknown
  bool has_rank = false;                        ///< older files never say so
  bool is_variable = false;
  std::uint32_t buffer = 0;           ///< an empty buffer: no constant
  std::uint32_t external_buffer = 0;  ///< id of the ExternalBuffer that has the data; 0: none
  std::optional<Quantization> quantization{};
  std::optional<Sparsity> sparsity{};
  std::vector<VariantSubType> variant_tensors{};
  bool operator==(const Tensor&) const = default;
};

/// What an operator is.
struct OperatorCode {
  BuiltinOperator builtin = BuiltinOperator::CUSTOM;
  std::string custom{};  ///< the name of a CUSTOM operator
  std::int32_t version = 1;
  bool operator==(const OperatorCode&) const = default;
  auto operator<=>(const OperatorCode&) const = default;
};

struct Operator {
  OperatorCode code{};
  std::vector<std::int32_t> inputs{}, outputs{}, intermediates{};  ///< tensors of the subgraph, or kNoTensor
  Options options{};
  Bytes custom_options{};
  CustomOptionsFormat custom_options_format = CustomOptionsFormat::FLEXBUFFERS;
  std::vector<bool> mutating_variable_inputs{};
  std::int32_t debug_metadata_index = -1;
  bool operator==(const Operator&) const = default;
};

struct SubGraph {
  std::string name{};
  std::vector<Tensor> tensors{};
  std::vector<std::int32_t> inputs{}, outputs{};
  std::vector<Operator> operators{};  ///< in the order in which they run
  std::int32_t debug_metadata_index = -1;
  bool operator==(const SubGraph&) const = default;
};

struct Metadata {
  std::string name{};
  std::uint32_t buffer = 0;
  bool operator==(const Metadata&) const = default;
};

struct TensorMap {
  std::string name{};
  std::uint32_t tensor_index = 0;
  bool operator==(const TensorMap&) const = default;
};

struct SignatureDef {
  std::string signature_key{};
  std::vector<TensorMap> inputs{}, outputs{};
  std::string deprecated_tag{};
  std::uint32_t subgraph_index = 0;
  bool operator==(const SignatureDef&) const = default;
};

/// Data in another file, named by its group.
struct ExternalBuffer {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string packing{};
  bool operator==(const ExternalBuffer&) const = default;
};

/// A TFLite file. The table of operator codes is folded into the operators: the writer makes it anew.
struct Model {
  std::uint32_t version = 3;
  std::string description{};
  std::vector<SubGraph> subgraphs{};  ///< the first is the main one
  std::vector<Bytes> buffers{};       ///< the first is empty by convention
  std::vector<std::int32_t> metadata_buffer{};
  std::vector<Metadata> metadata{};
  std::vector<SignatureDef> signature_defs{};
  std::vector<std::string> external_buffer_groups{};
  std::vector<ExternalBuffer> external_buffers{};
  Bytes associated_files{};  ///< a ZIP archive behind the model: label files and the like
  /// Parts of the file that a newer version of the format has and that this struct cannot hold, each with its place.
  std::vector<std::string> unread{};
  bool operator==(const Model&) const = default;
};

/// The bytes of a tensor's constant; empty if it has none in this file.
Bytes constant_data(const Model& model, const Tensor& tensor);

/// How many bytes a dense tensor needs; nothing if its type has no fixed size, a dimension is negative or the product
/// does not fit.
std::optional<std::uint64_t> dense_size(const Tensor& tensor);

/// The dimension along which a tensor has a scale for each index; nothing if it has one scale or none, or if the file
/// names a dimension that does not exist. Some files give vectors the dimension of the tensor they belong to.
std::optional<std::size_t> quantized_axis(const Tensor& tensor);

/// "CONV_2D", "CUSTOM:TFLite_Detection_PostProcess", "operator 312"
std::string describe(const OperatorCode& code);

}  // namespace ingot::formats::tflite
