#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/error.h"

namespace ingot::frontends {

/// What of a source cannot be translated: gathered while everything else is looked at, told in one Error.
class Problems {
 public:
  void add(std::string_view node, std::string_view op, std::string_view reason, Code code,
           std::string_view remedy = {});
  /// What a translator said when it refused the node: its message, its code and, if it has one, its remedy.
  void add(std::string_view node, std::string_view op, const Error& error);

  bool empty() const { return groups_.empty(); }
  /// How many nodes have a problem; one with two counts twice.
  std::size_t size() const;

  /// Throws if there are any. The code is bad_source_graph if the source itself is at fault in all of them, else
  /// unsupported_operator. `remedy` is the hint unless a problem has one of its own.
  void throw_if_any(std::string_view remedy) const;

 private:
  struct Group {
    std::vector<std::string> nodes;
    bool is_bad_source = true;
    std::string remedy;
  };
  std::map<std::string, Group> groups_;  // by operator and reason
};

}  // namespace ingot::frontends
