#pragma once
#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

/// What went wrong, for programs and for docs/errors.md; printed as IG0312.
enum class Code : int {
#define INGOT_CODE(number, name, meaning, exit_code) name = number,
#include "ingot/base/error_codes.def"
#undef INGOT_CODE
};

struct CodeInfo {
  Code code;
  std::string_view name;
  std::string_view meaning;
  int exit_code;
};

/// All codes, ascending.
std::span<const CodeInfo> all_codes();

/// "IG0312"
std::string code_name(Code code);

/// The only exception Ingot throws. What went wrong is said where it is found; where it happened is added by each layer
/// on the way up. The innermost layer knows best: a field that is already set stays.
class Error : public std::exception {
 public:
  Error(Code code, std::string message);

  Error& hint(std::string text);
  /// `label`: what to call one without a name (Node::label()).
  Error& in_node(std::string_view name, std::string_view op, std::string_view label = {});
  Error& in_file(std::string path);

  Code code() const { return code_; }
  /// The exit code of a program that ends because of this error.
  int exit_code() const;
  const std::string& message() const { return message_; }
  const std::string& node() const { return node_; }
  const std::string& op() const { return op_; }
  const std::string& file() const { return file_; }
  const std::string& hint_text() const { return hint_; }

  /// "file: node 'n' (Op): message [IG0312]\n  hint: ..." with control characters escaped and long names shortened,
  /// since names come from files.
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void compose();

  Code code_;
  bool has_node_ = false, is_label_ = false;
  std::string message_, hint_, node_, op_, file_, text_;
};

/// An I/O error with the system's words for `error_number`: "cannot open: Permission denied". A full disk or quota
/// becomes Code::disk_full whatever the code asked for.
Error system_error(Code code, std::string_view doing, const std::string& path, int error_number);

}  // namespace ingot
