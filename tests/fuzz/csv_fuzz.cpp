// Fuzzes the reader of tables: what it reads can be written and read again.
#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/formats/csv/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot::formats;
  std::vector<std::vector<std::string>> rows;
  try {
    csv::Reader reader(ingot::Bytes::copy(std::as_bytes(std::span(data, size))));
    for (std::vector<std::string> fields; reader.next(fields);) rows.push_back(fields);
  } catch (const ingot::Error&) {
    return 0;
  }
  std::string text = "\"\",\"\",\"\"\n";  // settles the separator
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i ? "," : "") + csv::field(row[i] + ",");
    text += '\n';
  }
  csv::Reader again(ingot::Bytes::own(text));
  std::vector<std::string> fields;
  if (!again.next(fields)) std::abort();
  for (auto& row : rows) {
    for (std::string& one : row) one += ',';
    if (!again.next(fields) || fields != row) std::abort();
  }
  return 0;
}
