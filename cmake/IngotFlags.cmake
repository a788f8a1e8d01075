# Compiler flags of Ingot's own targets. They stay private to the build: nothing here reaches a user's compile line.

add_library(ingot_warnings INTERFACE)
target_compile_options(ingot_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor)
# g++ 12 takes the empty state of std::optional for a read of its value; clang finds the real ones.
target_compile_options(ingot_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

# A private struct whose members are of nameless namespaces is fine in the one file that defines it, also when that file is
# included by a joined one (ingot_join).
target_compile_options(ingot_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

# No fused multiply-add behind our back: folded constants must not depend on the compiler's mood or the CPU.
add_library(ingot_numerics INTERFACE)
target_compile_options(ingot_numerics INTERFACE -ffp-contract=off)

# Sanitizer builds are Debug builds, hence without _FORTIFY_SOURCE, which would hide calls from them.
add_library(ingot_hardening INTERFACE)
if(INGOT_HARDENING)
  target_compile_options(ingot_hardening INTERFACE
    -fstack-protector-strong
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
  target_compile_definitions(ingot_hardening INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(ingot_hardening INTERFACE "$<$<CONFIG:Release>:LINKER:-z,relro>" LINKER:-z,now)
endif()

# g++ collects its garbage as soon as it has a third more than what it began with, and with a precompiled header that is
# much: a tenth of the time of a small file.
add_library(ingot_speed INTERFACE)
target_compile_options(ingot_speed INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)

# Libraries of which nothing is used in the end are not loaded.
add_library(ingot_lean INTERFACE)
target_link_options(ingot_lean INTERFACE LINKER:--as-needed)

add_library(ingot_flags INTERFACE)
target_link_libraries(ingot_flags INTERFACE ingot_warnings ingot_numerics ingot_hardening ingot_speed ingot_lean)
