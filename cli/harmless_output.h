#pragma once

namespace ingot::cli {

/// From now on nothing that is printed steers the terminal, whoever prints it: names come from models. Of control
/// characters only newlines and tabs pass, and on a terminal the program's own colours and redrawn lines.
void make_output_harmless();

/// errno of the first write that failed since then; 0 if none did.
int failed_write();

}  // namespace ingot::cli
