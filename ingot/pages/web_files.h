#pragma once

namespace ingot::pages {

extern const char* const kStyle;   // web/style.css
extern const char* const kScript;  // web/*.js, as one

}  // namespace ingot::pages
