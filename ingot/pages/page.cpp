// The template of all pages.
#include "ingot/pages/page.h"

#include "ingot/base/bytes.h"
#include "ingot/base/printable.h"
#include "ingot/base/sha256.h"
#include "ingot/pages/web_files.h"

namespace ingot::pages {
namespace {

std::string hash_of(std::string_view text) { return "'sha256-" + base64(sha256(bytes_of(text))) + "'"; }

/// JSON inside of a script element: no text of it may end the element.
std::string embedded(const Json& json) {
  std::string result;
  for (const char c : json.dump()) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

std::string tabs(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& s : sections)
    text += "<button type=button role=tab data-tab=\"" + s.id +
            "\" aria-selected=" + (&s == &sections.front() ? "true" : "false") + ">" + escaped(s.title) + "</button>\n";
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text, true)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string row(const std::vector<std::string>& cells, const char* tag) {
  std::string text = "<tr>";
  for (const std::string& cell : cells) text += std::string("<") + tag + ">" + cell + "</" + tag + ">";
  return text + "</tr>\n";
}

std::string code(std::string_view text) { return "<code>" + escaped(text) + "</code>"; }

std::string link(std::string_view file, std::string_view text) {
  std::string address;
  for (const char c : file) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain)
      address += c;
    else
      address += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  }
  return "<a href=\"" + address + "\">" + escaped(text) + "</a>";
}

std::string list(const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::string html = "<ul>\n";
  for (const std::string& text : texts) html += "<li>" + escaped(text) + "</li>\n";
  return html + "</ul>\n";
}

std::string graph_html() {
  return R"(<div class=graph>
<div class=stage>
<div class=tools>
<input class=search type=search size=26 placeholder="search: name or operator" aria-label="Search nodes">
<button type=button data-do=in aria-label="Zoom in">+</button>
<button type=button data-do=out aria-label="Zoom out">&minus;</button>
<button type=button data-do=fit>fit</button>
<button type=button data-do=open>open all</button>
<button type=button data-do=close>close blocks</button>
<button type=button data-do=next hidden>next difference</button>
</div>
<ul class=results hidden></ul>
<canvas tabindex=0 role=application aria-label="The graph: arrows go along edges, Enter opens, plus and minus zoom"></canvas>
</div>
<aside class=panel aria-live=polite></aside>
</div>
)";
}

std::string policy() {
  return "default-src 'none'; script-src " + hash_of(kScript) + "; style-src " + hash_of(kStyle) +
         "; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string to_html(const Page& page) {
  std::string html = "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n";
  html += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy() + "\">\n";
  html += "<meta name=viewport content=\"width=device-width\">\n<title>" + escaped(page.title) + "</title>\n<style>";
  html += std::string(kStyle) + "</style>\n</head>\n<body>\n<header>\n<h1>" + escaped(page.title) + "</h1>\n";
  html += "<nav role=tablist>\n" + tabs(page.sections) + "</nav>\n<button type=button id=theme>light / dark</button>\n";
  html += "</header>\n<main>\n";
  for (const Section& s : page.sections)
    html += "<section id=\"" + s.id + "\"" + (s.is_wide ? " class=wide" : "") +
            (&s == &page.sections.front() ? "" : " hidden") + ">\n" + s.html + "</section>\n";
  html += "</main>\n<script type=\"application/json\" id=data>" + embedded(page.data) + "</script>\n";
  return html + "<script>" + kScript + "</script>\n</body>\n</html>\n";
}

}  // namespace ingot::pages
