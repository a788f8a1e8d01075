#pragma once

namespace ingot::cli {

/// The whole program: what main() is given and returns. It takes over the process: signals, limits, what is printed.
int run_program(int argc, char** argv);

}  // namespace ingot::cli
