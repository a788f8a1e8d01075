#include "ingot/base/error.h"

#include <cerrno>
#include <map>
#include <sstream>
#include <vector>

#include "tests/support/files.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Error, SaysFileNodeMessageCodeAndHint) {
  Error error(Code::bad_name, "padding 'EXPLICIT' is not supported");
  error.in_node("block1/conv", "Conv").in_file("model.onnx").hint("use SAME");
  EXPECT_STREQ(error.what(),
               "model.onnx: node 'block1/conv' (Conv): padding 'EXPLICIT' is not supported [IG0312]\n"
               "  hint: use SAME");
}

TEST(Error, SaysOnlyTheMessageWhenNothingElseIsKnown) {
  EXPECT_STREQ(Error(Code::internal, "oops").what(), "oops [IG7000]");
}

TEST(Error, InnermostFieldsStay) {
  Error error(Code::bad_name, "m");
  error.in_node("inner", "Relu").in_node("outer", "If").in_file("a").in_file("b").hint("first").hint("second");
  EXPECT_EQ(error.node(), "inner");
  EXPECT_EQ(error.op(), "Relu");
  EXPECT_EQ(error.file(), "a");
  EXPECT_EQ(error.hint_text(), "first");
}

TEST(Error, InnermostNodeStaysEvenWithoutAName) {
  Error error(Code::bad_name, "m");
  error.in_node("", "Relu").in_node("outer", "If");
  EXPECT_STREQ(error.what(), "node '' (Relu): m [IG0312]");
}

TEST(Error, CallsANodeWithoutANameByItsLabel) {
  Error unnamed(Code::bad_name, "m");
  EXPECT_STREQ(unnamed.in_node("", "Relu", "the node that makes 'y'").what(),
               "the node that makes 'y' (Relu): m [IG0312]");
  EXPECT_EQ(unnamed.node(), "the node that makes 'y'");
  Error named(Code::bad_name, "m");
  EXPECT_STREQ(named.in_node("a", "Relu", "node 'a'").what(), "node 'a' (Relu): m [IG0312]");
}

TEST(Error, EscapesControlCharactersOfNames) {
  Error error(Code::bad_name, "m");
  error.in_node("a\x1b[2J\n\x7f", "Op");
  EXPECT_STREQ(error.what(), "node 'a\\x1b[2J\\x0a\\x7f' (Op): m [IG0312]");
  EXPECT_EQ(error.node(), "a\x1b[2J\n\x7f") << "programs get the name as it is";
}

TEST(Error, ShortensEndlessNamesBetweenCharacters) {
  std::string name(299, 'x');
  name += "\xC3\xA4" + std::string(1000000, 'y');
  Error error(Code::bad_name, "m");
  error.in_node(name, "Op");
  EXPECT_EQ(std::string(error.what()), "node '" + std::string(299, 'x') + "...' (Op): m [IG0312]");
}

TEST(Error, ShorteningKeepsACharacterThatFits) {
  std::string fits(298, 'x');
  fits += "\xC3\xA4";
  Error error(Code::bad_name, "m");
  error.in_node(fits + "yyy", "Op");
  EXPECT_THAT(error.what(), HasSubstr(fits + "...'"));
}

TEST(Error, ExitCodeComesFromTheList) {
  EXPECT_EQ(Error(Code::truncated, "").exit_code(), 3);
  EXPECT_EQ(Error(Code::cannot_downgrade, "").exit_code(), 4);
  EXPECT_EQ(Error(Code::memory_limit, "").exit_code(), 5);
  EXPECT_EQ(Error(Code::cannot_open, "").exit_code(), 6);
  EXPECT_EQ(Error(Code::bad_usage, "").exit_code(), 2);
  EXPECT_EQ(Error(Code::internal, "").exit_code(), 70);
}

TEST(Error, SystemErrorUsesTheSystemsWords) {
  const Error error = system_error(Code::cannot_open, "cannot open", "x.onnx", ENOENT);
  EXPECT_STREQ(error.what(), "x.onnx: cannot open: No such file or directory [IG0101]");
}

TEST(Error, FullDiskHasItsOwnCode) {
  EXPECT_EQ(system_error(Code::cannot_write, "cannot write", "x", ENOSPC).code(), Code::disk_full);
  EXPECT_EQ(system_error(Code::cannot_write, "cannot write", "x", EDQUOT).code(), Code::disk_full);
  EXPECT_EQ(system_error(Code::cannot_write, "cannot write", "x", EIO).code(), Code::cannot_write);
}

TEST(ErrorCodes, HaveOneOfTheDocumentedExitCodes) {
  for (const CodeInfo& info : all_codes()) {
    EXPECT_THAT(info.exit_code, ::testing::AnyOf(1, 2, 3, 4, 5, 6, 7, 70)) << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_LT(static_cast<int>(info.code), 10000) << info.name;
  }
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

// docs/errors.md: | IG0101 | cannot_open | 6 | meaning | what to do |
TEST(ErrorCodes, AreAllDocumentedAndNothingElseIs) {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream page(test::read_text(test::source_dir() / "docs/errors.md"));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| IG")) continue;
    const auto cells = cells_of(line);
    ASSERT_EQ(cells.size(), 5u) << line;
    EXPECT_TRUE(rows.emplace(cells[0], cells).second) << "twice: " << line;
  }
  for (const CodeInfo& info : all_codes()) {
    const auto row = rows.extract(code_name(info.code));
    ASSERT_FALSE(row.empty()) << code_name(info.code) << " " << info.name << " is not in docs/errors.md";
    EXPECT_EQ(row.mapped()[1], info.name);
    EXPECT_EQ(row.mapped()[2], std::to_string(info.exit_code)) << info.name;
    EXPECT_EQ(row.mapped()[3], info.meaning);
    EXPECT_THAT(row.mapped()[4], Not(::testing::IsEmpty())) << info.name << " needs a remedy";
  }
  for (const auto& [code, cells] : rows) ADD_FAILURE() << code << " is documented but does not exist";
}

}  // namespace
}  // namespace ingot
