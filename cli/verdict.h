#pragma once
#include <string>

#include "ingot/base/json.h"
#include "ingot/verify/verify.h"

namespace ingot::cli {

struct Global;

/// The other runtimes, within the limits that the command line gives.
verify::Peers find_peers(const Global& global, const std::string& folder);

Json to_json(const verify::Verdict& verdict);

/// For people, lines that end with a newline; in colour where `is_out` names a terminal (stdout, else stderr).
std::string text_of(const verify::Verdict& verdict, bool is_out);

}  // namespace ingot::cli
