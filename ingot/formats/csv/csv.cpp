// Tables of comma-separated values (RFC 4180, and what spreadsheets make of it).
#include "ingot/formats/csv/csv.h"

#include <algorithm>

#include "ingot/base/error.h"

namespace ingot::formats::csv {
namespace {

constexpr std::size_t kLongestRow = std::size_t{64} << 20;

[[noreturn]] void refuse(std::uint64_t line, const std::string& why) {
  throw Error(Code::bad_input, "line " + std::to_string(line) + ": " + why);
}

char separator_of(std::string_view line) {
  constexpr std::string_view kSeparators = ",;\t";
  std::size_t counts[kSeparators.size()] = {};
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    const std::size_t which = kSeparators.find(c);
    if (!is_quoted && which != std::string_view::npos) ++counts[which];
  }
  return kSeparators[static_cast<std::size_t>(std::max_element(std::begin(counts), std::end(counts)) -
                                              std::begin(counts))];
}

template <class Text> bool is_blank(const std::vector<Text>& fields) {
  return fields.size() == 1 && fields[0].find_first_not_of(' ') == std::string::npos;
}

}  // namespace

Reader::Reader(Bytes file) : file_(std::move(file)) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (file_.text().starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  const std::string_view rest = file_.text().substr(at_);
  separator_ = separator_of(rest.substr(0, std::min(rest.find('\n'), kLongestRow)));
}

bool Reader::next(std::vector<std::string>& fields) {
  std::vector<std::string_view> views;
  std::deque<std::string> texts;
  if (!next(views, texts)) return false;
  fields.assign(views.begin(), views.end());
  return true;
}

bool Reader::next(std::vector<std::string_view>& fields, std::deque<std::string>& texts) {
  while (at_ < file_.size())
    if (read_row(fields, texts)) return true;
  return false;
}

bool Reader::read_row(std::vector<std::string_view>& fields, std::deque<std::string>& texts) {
  if (read_plain_row(fields)) return !is_blank(fields);
  std::vector<std::string> row;
  if (!read_quoted_row(row)) return false;
  fields.clear();
  for (std::string& field : row) fields.push_back(texts.emplace_back(std::move(field)));
  return true;
}

bool Reader::read_plain_row(std::vector<std::string_view>& fields) {
  const std::string_view text = file_.text();
  const std::size_t found = text.find('\n', at_), end = std::min(found, text.size());
  std::string_view row = text.substr(at_, end - at_);
  if (row.size() > kLongestRow || row.find('"') != std::string_view::npos) return false;
  row_line_ = line_;
  if (row.ends_with('\r')) row.remove_suffix(1);
  fields.clear();
  for (bool is_last = false; !is_last;) {
    const std::size_t stop = row.find(separator_);
    is_last = stop == std::string_view::npos;
    fields.push_back(row.substr(0, stop));
    if (!is_last) row.remove_prefix(stop + 1);
  }
  line_ += found != std::string_view::npos ? 1 : 0;
  at_ = end + (found != std::string_view::npos ? 1 : 0);
  return true;
}

bool Reader::read_quoted_row(std::vector<std::string>& fields) {
  const std::string_view text = file_.text();
  const std::size_t begin = at_;
  fields.assign(1, {});
  row_line_ = line_;
  bool is_quoted = false, was_quoted = false;
  for (; at_ < text.size(); ++at_) {
    const char c = text[at_];
    if (at_ - begin > kLongestRow) refuse(row_line_, "the row is longer than 64 MiB; is a quote not closed?");
    if (c == '\n') ++line_;
    if (is_quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (at_ + 1 < text.size() && text[at_ + 1] == '"') {
        fields.back() += c;
        ++at_;
      } else {
        is_quoted = false;
      }
    } else if (c == '"' && fields.back().find_first_not_of(' ') == std::string::npos) {
      fields.back().clear();
      is_quoted = was_quoted = true;
    } else if (c == separator_) {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at_;
      break;
    } else if (c != '\r' || (at_ + 1 < text.size() && text[at_ + 1] != '\n')) {
      fields.back() += c;
    }
  }
  if (is_quoted) refuse(row_line_, "a quote is not closed");
  return was_quoted || !is_blank(fields);
}

std::string field(std::string_view text) {
  const bool is_plain =
      text.find_first_of(",;\t\"\r\n") == std::string_view::npos && !text.starts_with(' ') && !text.ends_with(' ');
  if (is_plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace ingot::formats::csv
