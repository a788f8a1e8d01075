#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ir/type.h"

namespace ingot {

class Graph;
struct Function;
struct TrainingInfo;

struct OpsetImport {
  std::string domain;  // "" is ai.onnx
  std::int64_t version = 0;
  std::string unknown;
};

/// Opset imports, of a model or of a function.
class OpsetImports : public std::vector<OpsetImport> {
 public:
  using std::vector<OpsetImport>::vector;
  /// The version imported for a domain ("ai.onnx" and "" are one); 0: none.
  std::int64_t version(std::string_view domain) const;
  void set(std::string_view domain, std::int64_t version);
};

struct DeviceConfiguration {
  std::string name;
  std::int32_t device_count = 0;
  std::vector<std::string> devices;
  std::string unknown;
};

/// A whole ONNX model. ir/model.h has the parts of it that are only named here.
class Model {
 public:
  Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&& other) noexcept;
  ~Model();

  std::int64_t ir_version = 0;
  OpsetImports opsets;
  std::string producer_name, producer_version, domain, doc_string;
  std::int64_t model_version = 0;
  Metadata metadata;
  std::unique_ptr<Graph> graph;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<TrainingInfo> training;
  std::vector<DeviceConfiguration> device_configurations;
  std::string unknown;

  const Function* find_function(std::string_view domain, std::string_view name, std::string_view overload = {}) const;
  Model clone() const;
};

}  // namespace ingot
