// Examples as the inputs of a model.
#include <algorithm>
#include <cstring>

#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/train/dataset.h"

namespace ingot::train {
namespace {

[[noreturn]] void refuse_data(const std::string& message) { throw Error(Code::bad_training_data, message); }

/// How a column's numbers become an input's.
struct Treatment {
  float scale = 1;
  std::vector<float> mean, deviation;

  static Treatment of(const Preparation& p, const Array& column) {
    return {is_float(column.dtype()) ? 1.0f : static_cast<float>(p.scale),
            {p.mean.begin(), p.mean.end()},
            {p.deviation.begin(), p.deviation.end()}};
  }
  bool is_none() const { return scale == 1 && mean.empty() && deviation.empty(); }
  std::size_t channels() const { return std::max(mean.size(), deviation.size()); }
  float operator()(float v, std::size_t channel) const {
    const auto pick = [&](const std::vector<float>& all) { return all.size() == 1 ? all[0] : all[channel]; };
    v = v / scale;
    if (!mean.empty()) v -= pick(mean);
    if (!deviation.empty()) v /= pick(deviation);
    return v;
  }
};

template <class Take> void with_numbers(const Array& from, const Take& take) {
  switch (from.dtype()) {
    case DType::f32:
      return take(from.data<float>());
    case DType::f64:
      return take(from.data<double>());
    case DType::i64:
      return take(from.data<std::int64_t>());
    case DType::i32:
      return take(from.data<std::int32_t>());
    case DType::u8:
      return take(from.data<std::uint8_t>());
    default:
      return take(std::span<const double>(from.to_doubles()));
  }
}

std::string dims_text(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

/// Says what does not fit while it is still known where it comes from.
void require_fit(const Dims& dims, const Value& input, bool is_target) {
  if (!input.type.shape) return;
  const Shape& stated = *input.type.shape;
  bool fits = stated.size() == dims.size();
  for (std::size_t i = 0; fits && i < dims.size(); ++i) fits = !stated[i].is_known() || stated[i].value() == dims[i];
  if (fits) return;
  if (is_target)
    throw Error(Code::bad_training_data,
                "the targets of a batch are " + dims_text(dims) + ", the loss wants " + input.type.str())
        .hint("cross_entropy and nll take classes, other losses numbers in the shape of the output");
  throw Error(Code::bad_training_data, "the data gives input '" + input.name() + "' a batch " + dims_text(dims) +
                                           ", the model wants " + input.type.str())
      .hint("--map says which array is which input, --target which column is none");
}

/// How an example lies in the data and in the input.
struct Form {
  Dims dims;               // of the whole batch
  std::int64_t each = 0;   // elements of an example
  bool is_turned = false;  // channels stand first in one and last in the other
  std::optional<ImageAxes> from, to;
};

Dims without_ones(Dims dims) {
  std::erase(dims, 1);
  return dims;
}

Form form_of(const Array& column, const Value& input, std::int64_t count, bool is_target) {
  Form form;
  const Dims example(column.dims().begin() + 1, column.dims().end());
  form.each = tensor_size(example);
  form.from = image_axes(example);
  Dims rest = example;
  if (input.type.shape && !input.type.shape->empty()) {
    Shape stated(input.type.shape->begin() + 1, input.type.shape->end());
    // Sizes that the model leaves open are the data's, in the model's order of axes.
    const bool has_open = !static_dims(stated).has_value();
    Dims wanted;
    if (has_open && stated.size() == 3 && form.from && form.from->channel == 1 && stated[0].is_known() &&
        stated[0].value() == form.from->channels)
      wanted = {form.from->channels, form.from->height, form.from->width};
    else if (!has_open)
      wanted = *static_dims(stated);
    if (!wanted.empty() && tensor_size(wanted) == form.each) {
      const bool is_grouping = wanted.size() != example.size() || without_ones(wanted) == without_ones(example);
      form.to = image_axes(wanted);
      form.is_turned = !is_grouping && form.from && form.to && form.from->height == form.to->height &&
                       form.from->width == form.to->width && form.from->channels == form.to->channels;
      if (is_grouping || form.is_turned) rest = wanted;
    }
  }
  form.dims = {count};
  form.dims.insert(form.dims.end(), rest.begin(), rest.end());
  if (!form.to) form.to = image_axes(rest);
  require_fit(form.dims, input, is_target);
  return form;
}

/// Which of the channels that a treatment knows an element of an example belongs to.
class Channels {
 public:
  Channels(const Treatment& treatment, const Form& form) : count_(treatment.channels()) {
    if (count_ <= 1) return;
    const Dims example(form.dims.begin() + 1, form.dims.end());
    if (example.size() == 1 && static_cast<std::size_t>(example[0]) == count_)
      step_ = 1;
    else if (example.size() > 1 && form.to && static_cast<std::size_t>(form.to->channels) == count_)
      step_ = static_cast<std::size_t>(form.to->channel);
    else
      throw Error(Code::bad_training_data, "there are " + std::to_string(count_) +
                                               " numbers of --mean or --std, but examples are " + dims_text(example))
          .hint("one number for all, or one per channel");
  }
  std::size_t operator()(std::size_t element) const { return count_ <= 1 ? 0 : element / step_ % count_; }

 private:
  std::size_t count_, step_ = 1;
};

/// One example's floats with its channels moved.
void turn(const float* from, float* to, const ImageAxes& a, const ImageAxes& b) {
  for (std::int64_t y = 0; y < a.height; ++y)
    for (std::int64_t x = 0; x < a.width; ++x)
      for (std::int64_t c = 0; c < a.channels; ++c)
        to[y * b.row + x * b.column + c * b.channel] = from[y * a.row + x * a.column + c * a.channel];
}

std::uint64_t mixed(std::uint64_t draw, std::int64_t example) {
  return (draw ^ (static_cast<std::uint64_t>(example) * 0xd1342543de82ef95)) * 0x9e3779b97f4a7c15;
}

/// Examples that are treated as real numbers.
Array treated(const Array& column, const Form& form, const std::vector<std::int64_t>& examples,
              const std::vector<std::int64_t>& names, const Treatment& treatment, const Augmentation& augmentation,
              std::optional<std::uint64_t> draw) {
  Array made(DType::f32, form.dims);
  float* out = made.mutable_data<float>().data();
  const auto each = static_cast<std::size_t>(form.each);
  const Channels channel(treatment, form);
  std::vector<float> raw(each), moved(each);
  with_numbers(column, [&](auto data) {
    for (std::size_t n = 0; n < examples.size(); ++n, out += each) {
      const std::size_t first = static_cast<std::size_t>(examples[n]) * each;
      for (std::size_t i = 0; i < each; ++i) raw[i] = static_cast<float>(data[first + i]);
      if (draw && form.from) {
        augment(raw.data(), moved.data(), *form.from, augmentation, mixed(*draw, names[n]));
        std::swap(raw, moved);
      }
      if (form.is_turned) {
        turn(raw.data(), moved.data(), *form.from, *form.to);
        std::swap(raw, moved);
      }
      for (std::size_t i = 0; i < each; ++i) out[i] = treatment.is_none() ? raw[i] : treatment(raw[i], channel(i));
    }
  });
  return made;
}

template <class T> Array converted(const Array& from, const Form& form, const std::vector<std::int64_t>& examples) {
  std::vector<T> values;
  const auto each = static_cast<std::size_t>(form.each);
  values.reserve(examples.size() * each);
  if constexpr (std::is_same_v<T, std::string>) {
    if (from.dtype() != DType::string) refuse_data("the data holds numbers where the model takes texts");
    const auto texts = from.data<std::string>();
    for (const std::int64_t example : examples)
      for (std::size_t i = 0; i < each; ++i) values.push_back(texts[static_cast<std::size_t>(example) * each + i]);
  } else {
    with_numbers(from, [&](auto data) {
      for (const std::int64_t example : examples)
        for (std::size_t i = 0; i < each; ++i)
          values.push_back(static_cast<T>(data[static_cast<std::size_t>(example) * each + i]));
    });
  }
  return Array::of<T>(form.dims, values);
}

struct Wish {
  Treatment treatment;
  Augmentation augmentation;
  std::optional<std::uint64_t> draw;
};

/// The examples as an input of this type. `names` are their numbers in all of the data, which `draw` goes by.
Array as_input(const Array& column, const Value& input, const std::vector<std::int64_t>& examples,
               const std::vector<std::int64_t>& names, const Wish& wish = {}, bool is_target = false) {
  const Form form = form_of(column, input, static_cast<std::int64_t>(examples.size()), is_target);
  const DType dtype = input.type.elem;
  if (column.dtype() == DType::string && dtype != DType::string)
    refuse_data("the data holds texts where input '" + input.name() + "' is " + input.type.str());
  const bool is_plain = (wish.treatment.is_none() || !is_float(dtype)) && !form.is_turned && !wish.draw;
  if (is_plain) {
    if (dtype == DType::string) return converted<std::string>(column, form, examples);
    Array made;
    dispatch(dtype, JoinTypes<Numeric, Types<bool>>{}, [&]<class T>() { made = converted<T>(column, form, examples); });
    return made;
  }
  Array real = treated(column, form, examples, names, is_float(dtype) ? wish.treatment : Treatment{}, wish.augmentation,
                       wish.draw);
  if (dtype == DType::f32) return real;
  if (is_float(dtype)) {
    Array made;
    dispatch(dtype, Floats{}, [&]<class T>() {
      made = Array(dtype, form.dims);
      std::ranges::transform(real.data<float>(), made.mutable_data<T>().begin(), [](float v) { return T(v); });
    });
    return made;
  }
  if (dtype == DType::u8) {
    std::vector<std::uint8_t> pixels;
    for (const float v : real.data<float>())
      pixels.push_back(static_cast<std::uint8_t>(std::clamp(v + 0.5f, 0.0f, 255.0f)));
    return Array::of<std::uint8_t>(form.dims, pixels);
  }
  refuse_data("input '" + input.name() + "' is " + input.type.str() + ": data of that type cannot be prepared");
}

std::vector<std::int64_t> counted(std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(i);
  return numbers;
}

}  // namespace

std::vector<engine::NamedDatum> batch_of(const Dataset& data, const Model& model, const std::string& target,
                                         const std::vector<std::int64_t>& examples, std::optional<std::uint64_t> draw) {
  std::vector<engine::NamedDatum> batch;
  std::vector<const Array*> features;
  std::optional<Array> pictures;
  if (data.images) pictures = data.images->read(examples);
  if (pictures) features.push_back(&*pictures);
  for (const auto& [name, array] : data.columns)
    if (name != data.target) features.push_back(&array);
  if (data.augmentation.is_none()) draw.reset();
  std::size_t next = 0;
  for (const Value* input : model.graph->inputs()) {
    if (input->initializer) continue;
    if (input->name() == target) {
      if (data.target.empty())
        throw Error(Code::bad_training_data, "the data has no targets")
            .hint("--target names a column, an array or a file");
      batch.push_back({target, as_input(*data.find(data.target), *input, examples, examples, {}, true)});
      continue;
    }
    const Array* column = data.find(input->name());
    if (!column && next < features.size()) column = features[next];
    const bool is_first = next++ == 0;
    if (!column) refuse_data("nothing in the data fits input '" + input->name() + "'");
    const Wish wish{Treatment::of(data.preparation, *column), data.augmentation,
                    is_first ? draw : std::optional<std::uint64_t>()};
    const bool is_picture = pictures && column == &*pictures;
    batch.push_back(
        {input->name(), as_input(*column, *input, is_picture ? counted(examples.size()) : examples, examples, wish)});
  }
  return batch;
}

Array image_as_input(const std::string& path, const Value& input, const Preparation& preparation, Budget* budget) try {
  const ImageInput wanted = image_input(input, parse_image_size(preparation.resize));
  const Array pixels = ImageFiles({path}, wanted.channels, wanted.size, budget).read({0});
  return as_input(pixels, input, {0}, {0}, {Treatment::of(preparation, pixels), {}, std::nullopt});
} catch (Error& error) {
  error.in_file(path);
  throw;
}

std::optional<std::uint64_t> fixed_batch(const Model& model) {
  for (const Value* v : model.graph->inputs()) {
    if (v->initializer || !v->type.is_tensor() || !v->type.shape || v->type.shape->empty()) continue;
    const Dim& first = v->type.shape->front();
    if (first.is_known() && first.value() > 0) return static_cast<std::uint64_t>(first.value());
  }
  return std::nullopt;
}

}  // namespace ingot::train
