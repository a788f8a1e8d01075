#pragma once
#include "ingot/backends/cpp/matrix.h"
#include "ingot/lower/program.h"

namespace ingot::backends::cpp {

/// The program with what the kernels of generated code want: constant matrices in panels, memory to work in. Weights
/// that nothing reads any more are left out.
lower::Program prepared(const lower::Program& program, const Geometry& geometry);

/// Weights of float become float16 where they are stored; they are widened before the statements that read them.
void halve_weights(lower::Program& program);

/// Products and convolutions whose results are only held in a range do that themselves.
void hold_results(lower::Program& program);

/// Whether a convolution takes each channel alone, in planes whose sizes are known.
bool is_depthwise(const lower::Convolution& s);

/// Where the room for the right matrix begins in the scratch memory of a product.
std::int64_t right_room(const lower::Product& s, const Geometry& geometry);
/// Elements of weights in panels.
std::int64_t packed_weights(const lower::Convolution& s, const Geometry& geometry);

}  // namespace ingot::backends::cpp
