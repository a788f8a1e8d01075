#pragma once
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/verify/verify.h"

namespace ingot::cli {

struct Global;

/// The other runtimes, within the limits that the command line gives.
verify::Peers find_peers(const Global& global, const std::string& folder);

/// Under --untrusted a runtime that was asked for by name is refused, not left out.
void refuse_other_runtimes(const Global& global, const std::string& option, const std::vector<std::string>& names);

Json to_json(const verify::Verdict& verdict);

/// For people, lines that end with a newline; in colour where `is_out` names a terminal (stdout, else stderr).
std::string text_of(const verify::Verdict& verdict, bool is_out);

}  // namespace ingot::cli
