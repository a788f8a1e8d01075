#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"

/// Graphs of torch.export (.pt2) as their JSON has them, schemas 1 to 8.
namespace ingot::formats::torch {

/// A size: a number, or an expression of symbols ("s0", "2*s0 + 1").
struct SymbolicInt {
  std::int64_t value = 0;
  std::string expression{};  // empty: the value is it
};

struct TensorMeta {
  DType dtype = DType::undefined;
  std::vector<SymbolicInt> sizes{}, strides{};
  std::int64_t offset = 0;
};

struct ExportedGraph;

/// An argument or result of a node; of a list, its parts.
struct Argument {
  enum class Kind : std::uint8_t {
    none,
    tensor,
    symbol,
    integer,
    real,
    boolean,
    text,
    scalar_type,
    other,
    list,
    graph
  };
  Kind kind = Kind::none;
  std::string text{};  // a name (tensor, symbol), or a text
  std::int64_t integer = 0;
  double real = 0;
  std::vector<Argument> parts{};
  std::shared_ptr<const ExportedGraph> graph{};
};

struct NamedArgument {
  std::string name;
  Argument value{};
};

struct ExportedNode {
  std::string target;  // "torch.ops.aten.add.Tensor"
  std::vector<NamedArgument> inputs{};
  std::vector<Argument> outputs{};
  std::string module{};  // the path of the module that it comes from
};

struct ExportedGraph {
  std::vector<Argument> inputs{}, outputs{};
  std::vector<ExportedNode> nodes{};
  std::map<std::string, TensorMeta> tensors{};
};

/// What an input of the graph is: the user's, or a tensor of the file by its name.
struct InputSpec {
  enum class Kind : std::uint8_t { user, parameter, buffer, constant, number, other };
  Kind kind = Kind::user;
  std::string argument{}, target{};
};

struct OutputSpec {
  bool is_user = true;
  std::string target{};  // of another one: the buffer or input that it changes
};

struct ExportedProgram {
  ExportedGraph graph;
  std::vector<InputSpec> inputs{};
  std::vector<OutputSpec> outputs{};
  std::int64_t schema = 0;
};

ExportedProgram read_exported(const Bytes& json);

/// A tensor that lies in a member of its own.
struct Payload {
  std::string name, path;
  TensorMeta meta{};
  bool is_pickled = false;
};
/// The list of payloads that archives since 2.8 keep beside them.
std::vector<Payload> read_payloads(const Bytes& json);

}  // namespace ingot::formats::torch
