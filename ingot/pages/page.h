#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/json.h"

// One template for all pages. A page is one file that needs no other and no network. Its policy lets the one script and
// the one style run that Ingot wrote; what comes from a model is text in the markup, or data that is never executed.

namespace ingot::pages {

/// Text that came out of a model, as text of a page: what would be markup, steers or reorders is written out.
std::string escaped(std::string_view text);

/// A table row; the cells are markup.
std::string row(const std::vector<std::string>& cells, const char* tag = "td");
/// <code> with a text from a model.
std::string code(std::string_view text);
/// A link to a file beside the page, whatever its name is made of.
std::string link(std::string_view file, std::string_view text);
/// A list of texts from a model; nothing where there are none.
std::string list(const std::vector<std::string>& texts);

struct Section {
  std::string id, title, html;
  bool is_wide = false;  // without a margin, as a graph is
};

struct Page {
  std::string title;
  std::vector<Section> sections;  // a tab each; the first is open
  Json data = Json::object();     // for the script: "graphs", "weights", "costs"
};

/// Where the script draws one of data["graphs"], in their order.
std::string graph_html();

std::string to_html(const Page& page);

/// What a server says of the page's rights, as the page does itself.
std::string policy();

}  // namespace ingot::pages
