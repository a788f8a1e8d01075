// The program 'ingot'.
#include "ingot/driver/supervisor.h"
#include "program.h"

namespace {

// Before the first table of ours or of a library is made: there may be no memory for it.
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeAll)() = [] { ingot::driver::survive_no_memory(); };

}  // namespace

int main(int argc, char** argv) { return ingot::cli::run_program(argc, argv); }
