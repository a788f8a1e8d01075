#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/utf8.h"
#include "ingot/ops/kernel.h"

// What the operators of ai.onnx.contrib share: texts as characters, arguments of one element, outputs of any length.

namespace ingot::ops {

/// Space of SentencePiece.
inline constexpr char32_t kLowBlock = 0x2581;
inline constexpr std::string_view kLowBlockText = "\xe2\x96\x81";

using Codes = std::u32string;
using Texts = std::vector<std::string>;

/// Characters of UTF-8; a byte that begins none is U+FFFD.
Codes codes_of(std::string_view text);
std::string utf8_of(std::u32string_view codes);
bool is_utf8(std::string_view text);

/// The parts between any of these bytes; empty ones are left out.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators);
/// The lines of a text; the last needs no end.
std::vector<std::string_view> lines_of(std::string_view text);
/// A whole decimal number; false: it is none.
bool parse_int(std::string_view text, std::int64_t& value);
/// False: not base64.
bool decode_base64(std::string_view text, std::string& bytes);

/// Lower case as the extensions know it: ASCII, Latin-1, Russian, some Greek.
char32_t extension_lower(char32_t code);

/// The one element of an argument.
const std::string& text_argument(const KernelContext& c, std::size_t i);
std::int64_t int_argument(const KernelContext& c, std::size_t i);
float float_argument(const KernelContext& c, std::size_t i);
bool bool_argument(const KernelContext& c, std::size_t i, bool fallback);

void give_ints(KernelContext& c, std::size_t i, Dims dims, const std::vector<std::int64_t>& values);
void give_texts(KernelContext& c, std::size_t i, Dims dims, Texts values);
/// The words of each text of the first input as a sparse matrix: places, words, sizes.
void give_words(KernelContext& c, const std::function<Texts(const std::string&)>& words_of);

/// What a text operator makes of its attributes: a vocabulary, a table. It may run on several threads at once.
class TextMachine {
 public:
  virtual ~TextMachine() = default;
  virtual void run(KernelContext& c) const = 0;
};

/// The machine of a node of one of the operators that have one, else null. Throws what is wrong with its attributes.
std::unique_ptr<TextMachine> make_text_machine(const Node& node);

/// A kernel that makes its machine anew in each run.
template <class Machine> void run_machine(KernelContext& c) { Machine(c.node).run(c); }

/// An attribute's text; refuses an empty one.
const std::string& need_text(const Node& node, std::string_view attribute);
[[noreturn]] void refuse_text(const Node& node, const std::string& why);

}  // namespace ingot::ops
