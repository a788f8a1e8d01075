#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ingot/ir/array.h"
#include "ingot/ir/graph.h"

namespace ingot {
class Budget;
}

namespace ingot::ops {

/// What a kernel may ask of the one who runs it.
class KernelHost {
 public:
  virtual ~KernelHost() = default;
  /// Memory for an output, charged to the budget; in an engine, planned memory.
  virtual Array allocate(DType dtype, Dims dims) = 0;
  /// Runs a subgraph (If, Loop, Scan); values of outer graphs are found by the host.
  virtual std::vector<Datum> run_graph(const Graph& graph, const std::vector<Datum>& inputs) = 0;
  virtual Budget& budget() = 0;
};

/// One call of a kernel: inputs in place, outputs made by the kernel.
class KernelContext {
 public:
  KernelContext(const Node& n, std::span<const Datum> inputs, std::span<Datum> outputs, KernelHost& host)
      : node(n), inputs_(inputs), outputs_(outputs), host_(host) {}

  const Node& node;
  KernelHost& host() { return host_; }

  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && static_cast<bool>(inputs_[i]); }
  const Datum& datum(std::size_t i) const { return inputs_[i]; }
  /// A tensor input; refuses other kinds and absent ones.
  const Array& in(std::size_t i) const;

  std::size_t output_count() const { return outputs_.size(); }
  bool wants(std::size_t i) const { return i < outputs_.size() && node.output(i); }
  Array& make(std::size_t i, DType dtype, Dims dims);
  void set(std::size_t i, Datum value);

  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  float attr(std::string_view name, float fallback) const { return node.attributes.float_or(name, fallback); }
  std::string attr(std::string_view name, const char* fallback) const {
    return node.attributes.string_or(name, fallback);
  }
  std::vector<std::int64_t> attr_ints(std::string_view name) const;

  /// Normalised to 0 <= axis < rank; refuses others.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;
  [[noreturn]] void fail(std::string message) const;

 private:
  std::span<const Datum> inputs_;
  std::span<Datum> outputs_;
  KernelHost& host_;
};

}  // namespace ingot::ops
