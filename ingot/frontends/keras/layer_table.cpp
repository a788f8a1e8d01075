// Which function translates which layer.
#include "ingot/frontends/keras/layer_table.h"

#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

constexpr Row kRows[] = {
#define INGOT_LAYER(name, function, passes_mask) {name, function, {passes_mask}},
#include "ingot/frontends/keras/layers.def"
#undef INGOT_LAYER
};
static_assert(is_sorted_table(std::span<const Row>(kRows)), "keep the table sorted");

}  // namespace

std::span<const Row> all_rows() { return kRows; }
const Row* find_row(std::string_view name) { return find_translator(std::span<const Row>(kRows), name); }

}  // namespace ingot::frontends::keras
