// What the commands share.
#include "command.h"

#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::cli {

driver::LoadOptions Global::load_options(const std::string& from) const {
  driver::LoadOptions options;
  options.allow_links = allow_links;
  options.budget = budget;
  options.requires_valid = !unchecked;
  if (!from.empty()) options.from = &driver::format_by_name(from);
  return options;
}

}  // namespace ingot::cli
