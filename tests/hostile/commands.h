#pragma once
#include <cstdint>
#include <string>

#include "tests/support/survival.h"

namespace ingot::test {

/// Puts a file through what the commands do that read models (inspect, check, ops, run, convert, grad, gradcheck,
/// make-trainable, train), under limits. Refusals are answers, running out of the limits too; what says that Ingot is
/// to blame is thrown. `scratch` is a directory for what is written; `seed` chooses where not all is done.
void try_commands(const std::string& path, const std::string& scratch, std::uint64_t seed, const Say& say);

/// Bounds the process: memory that no budget counts ends as std::bad_alloc, and endless work by a signal.
void bound_process();
/// Each trial has so many seconds of CPU time of its own.
void restart_clock();

}  // namespace ingot::test
