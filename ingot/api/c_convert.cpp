// Converting across the C interface: the options of `ingot convert` by name.
#include "ingot/api/c_handles.h"
#include "ingot/driver/convert_words.h"

namespace {

namespace driver = ingot::driver;

/// What a person types where names are divided by commas.
void add_names(std::vector<driver::WordGiven>& words, const std::string& name, const std::string& names) {
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    words.push_back({name, names.substr(start, end - start)});
    start = end + 1;
  }
}

void set_options(driver::ConvertRequest& request, const ingot_option* options, size_t count) {
  std::vector<driver::WordGiven> words;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = ingot::required(options[i].name, "options[i].name");
    const std::string value = options[i].value ? options[i].value : "";
    if (name == "unchecked")  // of every command
      request.requires_valid = false;
    else if (driver::convert_word(name).takes == driver::ConvertWord::Takes::names)
      add_names(words, name, value);
    else
      words.push_back({name, value});
  }
  driver::set_words(request, words);
}

}  // namespace

extern "C" {

ingot_status ingot_convert(const char* input, const char* output, const ingot_option* options, size_t option_count,
                           ingot_report** report, ingot_error** error) {
  return ingot::guarded(error, [&] {
    if (report) *report = nullptr;
    driver::ConvertRequest request;
    request.input = ingot::required(input, "input");
    request.output = ingot::required(output, "output");
    if (option_count) ingot::required(options, "options");
    set_options(request, options, option_count);
    driver::ConvertReport done = driver::convert(request);
    if (report) *report = new ingot_report{std::move(done.notes)};
  });
}

size_t ingot_report_note_count(const ingot_report* report) { return report ? report->notes.size() : 0; }
const char* ingot_report_note(const ingot_report* report, size_t index) {
  return report && index < report->notes.size() ? report->notes[index].c_str() : nullptr;
}
void ingot_report_free(ingot_report* report) { delete report; }

}  // extern "C"
