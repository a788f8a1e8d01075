#pragma once

namespace ingot::test {

/// Adds the format "toy" to the table, once: lines that say "in x 3", "y = Relu x" and "out y" behind the word TOY1, in
/// a file of any name or in the file net.toy of a directory.
void register_toy();

}  // namespace ingot::test
