#pragma once
#include <omp.h>

#include <dnnl.hpp>

#include "ingot/ir/tensor.h"

// How this folder talks to oneDNN. Nobody outside includes it.

namespace ingot::engine {

inline const dnnl::engine& dnnl_cpu() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

/// Plain or blocked floats of rank 3 to 5: [N, C, spatial...].
inline dnnl::memory::desc floats(const Dims& dims, bool is_blocked) {
  using Tag = dnnl::memory::format_tag;
  constexpr Tag kPlain[] = {Tag::abc, Tag::abcd, Tag::abcde}, kBlocked[] = {Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b};
  return {dims, dnnl::memory::data_type::f32, (is_blocked ? kBlocked : kPlain)[dims.size() - 3]};
}

inline dnnl::memory wrap(const dnnl::memory::desc& desc, const float* data) {
  return {desc, dnnl_cpu(), const_cast<float*>(data)};
}

/// oneDNN counts neighbours that are skipped.
inline Dims skipped(const Dims& dilations) {
  Dims result = dilations;
  for (std::int64_t& d : result) --d;
  return result;
}

/// Primitives are made for one thread and run on one: the engine's own threads share out the parts of a layer. OpenMP,
/// which oneDNN in Debian uses, would wait actively, and the bits of some results would depend on its threads.
inline void use_one_thread() { omp_set_num_threads(1); }

inline void execute(const dnnl::primitive& primitive, const std::unordered_map<int, dnnl::memory>& arguments) {
  use_one_thread();
  thread_local dnnl::stream stream(dnnl_cpu());
  primitive.execute(stream, arguments);
  stream.wait();
}

/// Room for a primitive's intermediate values, one per thread that runs models.
float* room(std::size_t bytes);

[[noreturn]] void rethrow(const dnnl::error& error);

}  // namespace ingot::engine
