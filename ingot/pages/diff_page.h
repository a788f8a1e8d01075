#pragma once
#include "ingot/driver/diff.h"
#include "ingot/pages/page.h"

namespace ingot::pages {

/// Two graphs side by side, with what they say differently marked in both.
Page diff_page(const Model& a, const Model& b, const driver::Difference& difference, const std::string& a_name,
               const std::string& b_name);

}  // namespace ingot::pages
