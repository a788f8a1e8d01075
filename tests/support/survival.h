#pragma once
#include <functional>
#include <string>

namespace ingot::test {

/// What one step of a trial says before it starts: the last of these is what a death is blamed on.
using Say = std::function<void(const std::string&)>;

/// Runs a trial in a process of its own. Returns "" if it ends by itself, else how it died (signal, time, an exception
/// that is no ingot::Error or says that Ingot is to blame) and what it said last.
std::string death_of(const std::function<void(const Say&)>& trial);

}  // namespace ingot::test
