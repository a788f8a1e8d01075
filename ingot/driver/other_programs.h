#pragma once
#include <string>
#include <string_view>

namespace ingot::driver {

// What runs with all rights of the user and is not Ingot: runtimes, compilers, libraries of native code, plug-ins.
// Every place that starts such a thing asks here first, whichever command, option or file wants it.

/// From now on nothing of the kind is started in this process.
void forbid_other_programs();

/// Refuses if they are forbidden; `what` is what would be started.
void require_other_programs(std::string_view what);

/// dlopen() of a library that the user named: of that very file, never of one in the system's directories.
void* open_library(const std::string& path);

}  // namespace ingot::driver
