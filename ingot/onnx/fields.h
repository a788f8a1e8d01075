#pragma once
#include <cstdint>

// The field numbers of ONNX's messages, shared by reader and writer.
namespace ingot::onnx {

struct ModelField {
  enum : std::uint32_t {
    ir_version = 1,
    producer_name = 2,
    producer_version = 3,
    domain = 4,
    model_version = 5,
    doc_string = 6,
    graph = 7,
    opset_import = 8,
    metadata_props = 14,
    training_info = 20,
    functions = 25,
    configuration = 26,
  };
};

struct GraphField {
  enum : std::uint32_t {
    node = 1,
    name = 2,
    initializer = 5,
    doc_string = 10,
    input = 11,
    output = 12,
    value_info = 13,
    quantization_annotation = 14,
    sparse_initializer = 15,
    metadata_props = 16,
  };
};

struct NodeField {
  enum : std::uint32_t {
    input = 1,
    output = 2,
    name = 3,
    op_type = 4,
    attribute = 5,
    doc_string = 6,
    domain = 7,
    overload = 8,
    metadata_props = 9,
    device_configurations = 10,
  };
};

struct AttributeField {
  enum : std::uint32_t {
    name = 1,
    f = 2,
    i = 3,
    s = 4,
    t = 5,
    g = 6,
    floats = 7,
    ints = 8,
    strings = 9,
    tensors = 10,
    graphs = 11,
    doc_string = 13,
    tp = 14,
    type_protos = 15,
    type = 20,
    ref_attr_name = 21,
    sparse_tensor = 22,
    sparse_tensors = 23,
  };
};

struct ValueInfoField {
  enum : std::uint32_t { name = 1, type = 2, doc_string = 3, metadata_props = 4 };
};

struct TensorField {
  enum : std::uint32_t {
    dims = 1,
    data_type = 2,
    segment = 3,
    float_data = 4,
    int32_data = 5,
    string_data = 6,
    int64_data = 7,
    name = 8,
    raw_data = 9,
    double_data = 10,
    uint64_data = 11,
    doc_string = 12,
    external_data = 13,
    data_location = 14,
    metadata_props = 16,
  };
};

struct SparseTensorField {
  enum : std::uint32_t { values = 1, indices = 2, dims = 3 };
};

struct TypeField {
  enum : std::uint32_t {
    tensor_type = 1,
    sequence_type = 4,
    map_type = 5,
    denotation = 6,
    opaque_type = 7,
    sparse_tensor_type = 8,
    optional_type = 9,
  };
};

/// TypeProto.Tensor and TypeProto.SparseTensor.
struct TensorTypeField {
  enum : std::uint32_t { elem_type = 1, shape = 2 };
};

/// TypeProto.Sequence and TypeProto.Optional.
struct ContainerTypeField {
  enum : std::uint32_t { elem_type = 1 };
};

struct MapTypeField {
  enum : std::uint32_t { key_type = 1, value_type = 2 };
};

struct OpaqueTypeField {
  enum : std::uint32_t { domain = 1, name = 2 };
};

struct ShapeField {
  enum : std::uint32_t { dim = 1 };
};

struct DimensionField {
  enum : std::uint32_t { dim_value = 1, dim_param = 2, denotation = 3 };
};

struct OpsetField {
  enum : std::uint32_t { domain = 1, version = 2 };
};

/// StringStringEntryProto.
struct EntryField {
  enum : std::uint32_t { key = 1, value = 2 };
};

struct AnnotationField {
  enum : std::uint32_t { tensor_name = 1, quant_parameter_tensor_names = 2 };
};

struct TrainingField {
  enum : std::uint32_t { initialization = 1, algorithm = 2, initialization_binding = 3, update_binding = 4 };
};

struct DeviceField {
  enum : std::uint32_t { name = 1, num_devices = 2, device = 3 };
};

struct FunctionField {
  enum : std::uint32_t {
    name = 1,
    input = 4,
    output = 5,
    attribute = 6,
    node = 7,
    doc_string = 8,
    opset_import = 9,
    domain = 10,
    attribute_proto = 11,
    value_info = 12,
    overload = 13,
    metadata_props = 14,
  };
};

// Test data.

struct SequenceField {
  enum : std::uint32_t {
    name = 1,
    elem_type = 2,
    tensor_values = 3,
    sparse_tensor_values = 4,
    sequence_values = 5,
    map_values = 6,
    optional_values = 7,
  };
};

struct OptionalField {
  enum : std::uint32_t {
    name = 1,
    elem_type = 2,
    tensor_value = 3,
    sparse_tensor_value = 4,
    sequence_value = 5,
    map_value = 6,
    optional_value = 7,
  };
};

struct MapField {
  enum : std::uint32_t { name = 1, key_type = 2, keys = 3, string_keys = 4, values = 5 };
};

}  // namespace ingot::onnx
