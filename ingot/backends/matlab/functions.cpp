// Local functions that generated MATLAB code calls.
#include "ingot/backends/matlab/functions.h"

#include <string_view>

namespace ingot::backends::matlab {
namespace {

struct Text {
  std::string_view name, text;
};

constexpr Text kTexts[] = {
    {"acos_", "function y = acos_(x)\n  x(abs(x) > 1) = NaN;\n  y = acos(x);\nend\n"},
    {"acosh_", "function y = acosh_(x)\n  x(x < 1) = NaN;\n  y = acosh(x);\nend\n"},
    {"along_",
     "% The numbers 0 to n - 1 along dimension d.\nfunction i = along_(n, d)\n  i = reshape(0:n - 1, [ones(1, d - 1) n "
     "1 "
     "1]);\nend\n"},
    {"asin_", "function y = asin_(x)\n  x(abs(x) > 1) = NaN;\n  y = asin(x);\nend\n"},
    {"atanh_", "function y = atanh_(x)\n  x(abs(x) > 1) = NaN;\n  y = atanh(x);\nend\n"},
    {"bits_", "function y = bits_(x, name)\n  y = reshape(typecast(x(:), name), size(x));\nend\n"},
    {"choose_",
     R"(% a where c holds, else b; all stretch to one shape.
function y = choose_(c, a, b)
  if isscalar(c)
    if c
      y = a;
      a = b;
    else
      y = b;
    end
    if isscalar(y)
      y = repmat(y, size(a));
    end
    return;
  end
  c = c | false(size(a)) | false(size(b));
  y = stretch_(b, size(c));
  a = stretch_(a, size(c));
  y(c) = a(c);
end
)"},
    {"convolution_",
     R"(% A convolution as one product of matrices per image and group: the columns hold what each window sees.
function y = convolution_(x, w, bias, batch, channels, features, group, in, outs, kernel, strides, dilations, pads)
  c = channels / group;
  m = features / group;
  rank = numel(in);
  places = prod(outs);
  taps = prod(kernel);
  plane = prod(in);
  is_plain = all(kernel == 1) && all(strides == 1) && ~any(pads) && isequal(in, outs);
  need = max((outs - 1) .* strides + (kernel - 1) .* dilations + 1, 0);
  from = cell(1, rank + 1);
  to = cell(1, rank + 1);
  for d = 1:rank
    kept = max(0, -pads(d)):min(in(d), need(d) - pads(d)) - 1;
    from{rank + 1 - d} = kept + 1;
    to{rank + 1 - d} = kept + pads(d) + 1;
  end
  from{rank + 1} = 1:c;
  to{rank + 1} = 1:c;
  is_one = batch * group == 1;
  if ~is_one
    y = zeros(places, features * batch, class(x));
  end
  for n = 0:batch - 1
    for g = 0:group - 1
      seen = x;
      weights = w;
      if ~is_one
        seen = x((n * channels + g * c) * plane + (1:c * plane));
        weights = w(g * m * c * taps + (1:m * c * taps));
      end
      if ~is_plain
        image = reshape(seen, [in(end:-1:1) c]);
        padded = zeros([need(end:-1:1) c], class(x));
        padded(to{:}) = image(from{:});
        seen = zeros(places, taps, c, class(x));
        at = to;
        for t = 0:taps - 1
          rest = t;
          for d = rank:-1:1
            at{rank + 1 - d} = mod(rest, kernel(d)) * dilations(d) + (0:outs(d) - 1) * strides(d) + 1;
            rest = floor(rest / kernel(d));
          end
          seen(:, t + 1, :) = reshape(padded(at{:}), [places 1 c]);
        end
      end
      part = reshape(seen, [places taps * c]) * reshape(weights, [taps * c m]);
      if is_one
        y = part;
      else
        y(:, n * features + g * m + (1:m)) = part;
      end
    end
  end
  if ~isempty(bias)
    y = y + repmat(reshape(bias, 1, []), 1, batch);
  end
  y = y(:);
end
)"},
    {"even_",
     "% Halves go to the even neighbour.\nfunction y = even_(x)\n  y = round(x);\n  half = abs(x - fix(x)) == 0.5;\n  "
     "y(half) "
     "= 2 * round(x(half) / 2);\nend\n"},
    {"greatest_",
     "% The larger; NaN if one is.\nfunction y = greatest_(a, b)\n  y = max(a, b);\n  if any(isnan(a(:))) || "
     "any(isnan(b(:)))\n    y((isnan(a) | isnan(b)) & true(size(y))) = NaN;\n  end\nend\n"},
    {"largest_", R"(function y = largest_(x, n, m, name)
  x = reshape(x, [n m]);
  if n == 0
    y = repmat(cast(-Inf, name), m, 1);
    return;
  end
  y = max(x, [], 1);
  if isfloat(x) && any(isnan(x(:)))
    y(any(isnan(x), 1)) = NaN;
  end
  y = cast(y(:), name);
end
)"},
    {"is_at_end_",
     R"(% Whether integers may have been held at the end of their range: side 1 the upper one, -1 the lower one, 0 both.
function is = is_at_end_(y, side)
  is = (side >= 0 && any(y(:) == intmax(class(y)))) || ...
      (side <= 0 && intmin(class(y)) < 0 && any(y(:) == intmin(class(y)))) || ...
      (side < 0 && intmin(class(y)) == 0 && any(y(:) == 0));
end
)"},
    {"minus_", R"(function y = minus_(a, b)
  y = a - b;
  if ~is_at_end_(y, -(intmin(class(y)) == 0))
    return;
  end
  if any(strcmp(class(y), {'int64', 'uint64'}))
    y = words_(a, b, '-');
  else
    y = wrap_(double(a) - double(b), class(y), 0);
  end
end
)"},
    {"plus_", R"(% Of integers, which wrap around where the language holds them at the end of their range.
function y = plus_(a, b)
  y = a + b;
  if ~is_at_end_(y, intmin(class(y)) == 0)
    return;
  end
  if any(strcmp(class(y), {'int64', 'uint64'}))
    y = words_(a, b, '+');
  else
    y = wrap_(double(a) + double(b), class(y), 0);
  end
end
)"},
    {"least_",
     "% The smaller; NaN if one is.\nfunction y = least_(a, b)\n  y = min(a, b);\n  if any(isnan(a(:))) || "
     "any(isnan(b(:)))\n    y((isnan(a) | isnan(b)) & true(size(y))) = NaN;\n  end\nend\n"},
    {"log_", "function y = log_(x)\n  x(x < 0) = NaN;\n  y = log(x);\nend\n"},
    {"order_", R"(% Places along the middle dimension in the order of their numbers.
function places = order_(x, inner, n, outer, direction)
  [~, places] = sort(reshape(x, [inner n outer]), 2, direction);
  places = int64(places(:) - 1);
end
)"},
    {"pick_", R"(% Elements at places counted from 0; a place outside gives some element, which nobody reads.
function y = pick_(x, at)
  if isempty(x)
    y = zeros(size(at), class(x));
    return;
  end
  if ~isempty(at) && (min(at(:)) < 0 || max(at(:)) >= numel(x))
    at = min(max(at, 0), numel(x) - 1);
  end
  y = reshape(x(at + 1), size(at));
end
)"},
    {"place_", R"(% Negative indices count from the end; none leads outside.
function i = place_(i, n)
  i = i + n .* (i < 0);
  i = min(max(i, 0), max(n - 1, 0));
end
)"},
    {"power_", R"(% A power of two: bit 1 of how says not to saturate, 2 down, 4 nearest.
function y = power_(x, how)
  x = abs(double(x));
  [f, e] = log2(x);
  e = e - 1;
  if bitand(how, 4)
    e = e + (f >= 0.75);
  elseif ~bitand(how, 2)
    e = e + (f > 0.5);
  end
  e = max(e, -127);
  y = 2 .^ min(e, 127);
  if bitand(how, 1)
    y(e > 127) = NaN;
  end
  y(x == 0) = 2 ^ -127;
  y(~(x < Inf)) = NaN;
  y = single(y);
end
)"},
    {"power_of_", R"(function y = power_of_(a, b)
  y = double(a) .^ double(b);
  if ~isreal(y)
    bad = imag(y) ~= 0;
    y = real(y);
    y(bad) = NaN;
  end
  if isinteger(a)
    y = fix(y);
  end
  y = cast(y, class(a));
end
)"},
    {"product_", R"(function y = product_(x, n, m, name)
  x = reshape(x, [n m]);
  if isinteger(x)
    y = ones(1, m, class(x));
    for i = 1:n
      y = times_(y, x(i, :));
    end
  else
    y = prod(double(x), 1);
  end
  y = cast(y(:), name);
end
)"},
    {"quotient_", "% Integers divide towards zero.\nfunction y = quotient_(a, b)\n  y = (a - rem(a, b)) ./ b;\nend\n"},
    {"shift_", "function y = shift_(x, n)\n  y = bitshift(x, n);\nend\n"},
    {"sigmoid_", "function y = sigmoid_(x)\n  y = 1 ./ (1 + exp(-x));\nend\n"},
    {"slice_",
     R"(% What stands at these places, counted from 0, along each dimension, in this shape; none leads outside.
function y = slice_(x, dims, at, shape)
  if any(dims == 0)
    y = zeros(shape, class(x));
    return;
  end
  if numel(x) ~= prod(dims)
    x = x(1:prod(dims));
  end
  for d = 1:numel(at)
    at{d} = min(max(at{d}(:), 0), dims(d) - 1) + 1;
  end
  x = reshape(x, dims);
  y = reshape(x(at{:}), shape);
end
)"},
    {"small_", R"(% Rounds to numbers of so many bits, halves to even.
function y = small_(x, mantissa, bias, largest, has_infinity, saturates)
  x = double(x);
  [~, e] = log2(abs(x));
  step = 2 .^ (max(e - 1, 1 - bias) - mantissa);
  y = x ./ step;
  r = round(y);
  half = abs(y - fix(y)) == 0.5;
  r(half) = 2 * round(y(half) / 2);
  y = r .* step;
  over = abs(y) > largest;
  if saturates
    y(over) = sign(y(over)) * largest;
  elseif has_infinity
    y(over) = sign(y(over)) * Inf;
  else
    y(over) = NaN;
  end
  y(isnan(x)) = NaN;
  y = single(y);
end
)"},
    {"smallest_", R"(function y = smallest_(x, n, m, name)
  x = reshape(x, [n m]);
  if n == 0
    y = repmat(cast(Inf, name), m, 1);
    return;
  end
  y = min(x, [], 1);
  if isfloat(x)
    y(any(isnan(x), 1)) = NaN;
  end
  y = cast(y(:), name);
end
)"},
    {"spread_", R"(% The elements of v, stretched to these dimensions, as a column.
function v = spread_(v, dims)
  v = stretch_(v, dims);
  v = v(:);
end
)"},
    {"sqrt_", "function y = sqrt_(x)\n  x(x < 0) = NaN;\n  y = sqrt(x);\nend\n"},
    {"stretch_", R"(function v = stretch_(v, dims)
  have = ones(1, numel(dims));
  s = size(v);
  n = min(numel(s), numel(dims));
  have(1:n) = s(1:n);
  if any(dims == 0)
    v = reshape(v([]), dims);
  elseif ~isequal(have, dims)
    v = repmat(v, dims ./ have);
  end
end
)"},
    {"expect_", R"(% An input must have its sizes; one of rank 1 may lie or stand.
function expect_(x, dims, name)
  given = size(x);
  if numel(dims) < 2
    fits = numel(x) == prod(dims) && (isempty(x) || sum(given ~= 1) < 2);
  else
    given(end + 1:numel(dims)) = 1;
    fits = isequal(given, [dims ones(1, numel(given) - numel(dims))]);
  end
  if ~fits
    error('ingot:size', 'input %s is [%s], not [%s]', name, num2str(size(x)), num2str(dims));
  end
end
)"},
    {"sum_", R"(function y = sum_(x, n, m, name)
  x = reshape(x, [n m]);
  if any(strcmp(class(x), {'int64', 'uint64'})) && any(abs(double(x(:))) * n >= 9007199254740992)
    y = zeros(1, m, class(x));
    for i = 1:n
      y = plus_(y, x(i, :));
    end
  elseif isinteger(x)
    y = wrap_(sum(double(x), 1), name, 0);
  else
    y = sum(double(x), 1);
  end
  y = cast(y(:), name);
end
)"},
    {"times_", R"(function y = times_(a, b)
  y = a .* b;
  if ~is_at_end_(y, 0)
    return;
  end
  switch class(y)
    case {'int64', 'uint64'}
      y = words_(a, b, '*');
    case 'int32'
      y = wrap_(int64(a) .* int64(b), 'int32', 0);
    case 'uint32'
      y = wrap_(uint64(a) .* uint64(b), 'uint32', 0);
    otherwise
      y = wrap_(double(a) .* double(b), class(y), 0);
  end
end
)"},
    {"words_", R"(% Sums, differences and products of 64 bits that wrap around, by halves.
function y = words_(a, b, op)
  name = class(a);
  most = uint64(4294967295);
  a = reshape(typecast(a(:), 'uint64'), size(a));
  b = reshape(typecast(b(:), 'uint64'), size(b));
  al = bitand(a, most);
  ah = bitshift(a, -32);
  bl = bitand(b, most);
  bh = bitshift(b, -32);
  switch op
    case '+'
      low = al + bl;
      high = ah + bh + bitshift(low, -32);
    case '-'
      low = al + (most - bl) + 1;
      high = ah + (most - bh) + bitshift(low, -32);
    otherwise
      low = al .* bl;
      high = bitshift(low, -32) + bitand(al .* bh, most) + bitand(ah .* bl, most);
  end
  y = bitor(bitshift(bitand(high, most), 32), bitand(low, most));
  y = reshape(typecast(y(:), name), size(y));
end
)"},
    {"wrap_", R"(% Integers that do not fit wrap around; bits of other widths than the class: negative if signed.
function y = wrap_(x, name, bits)
  if bits == 0
    low = double(intmin(name));
    width = double(intmax(name)) - low + 1;
  else
    width = 2 ^ abs(bits);
    low = -(bits < 0) * width / 2;
  end
  if isfloat(x)
    x = fix(x);
  end
  if isfloat(x) && width > 9007199254740992
    y = cast(x, name);
    return;
  end
  if isinteger(x) && double(intmax(class(x))) < width + low && double(intmin(class(x))) >= low
    y = cast(x, name);
    return;
  end
  if any(strcmp(class(x), {'int64', 'uint64'}))
    x = reshape(typecast(x(:), 'uint64'), size(x));
    if width > 4294967296
      y = reshape(typecast(x(:), name), size(x));
      return;
    end
    x = bitand(x, uint64(4294967295));
  end
  y = cast(mod(double(x) - low, width) + low, name);
end
)"},
};

// What the language and its functions are called, as far as code calls them.
constexpr std::string_view kWords[] = {
    "Inf",      "NaN",     "abs",     "acos",    "acosh",     "all",       "ans",       "any",        "asin",
    "asinh",    "atan",    "atanh",   "bitand",  "bitor",     "bitshift",  "bitxor",    "bsxfun",     "cast",
    "ceil",     "cell",    "class",   "cos",     "cosh",      "dims",      "double",    "elseif",     "end",
    "eps",      "erf",     "error",   "exp",     "false",     "fileparts", "fix",       "floor",      "fullfile",
    "function", "global",  "imag",    "inf",     "int16",     "int32",     "int64",     "int8",       "intmax",
    "intmin",   "isempty", "isequal", "isfloat", "isinf",     "isinteger", "isnan",     "isreal",     "isscalar",
    "load",     "log",     "log1p",   "log2",    "logical",   "max",       "mfilename", "min",        "mod",
    "nan",      "num2str", "numel",   "ones",    "otherwise", "parfor",    "permute",   "persistent", "pi",
    "prod",     "real",    "rem",     "repmat",  "reshape",   "round",     "sign",      "sin",        "single",
    "sinh",     "size",    "sort",    "spmd",    "sqrt",      "sum",       "tan",       "tanh",       "true",
    "typecast", "uint16",  "uint32",  "uint64",  "uint8",     "weights",   "zeros",
};

}  // namespace

std::set<std::string, std::less<>> taken_words() {
  std::set<std::string, std::less<>> words(std::begin(kWords), std::end(kWords));
  for (const Text& t : kTexts) words.insert(std::string(t.name));
  return words;
}

std::string local_functions(const std::set<std::string>& names) {
  std::set<std::string> all = names;
  for (std::size_t before = 0; before != all.size();) {
    before = all.size();
    for (const Text& caller : kTexts)
      for (const Text& t : kTexts)
        if (all.contains(std::string(caller.name)) && caller.text.find(std::string(t.name) + "(") != std::string::npos)
          all.insert(std::string(t.name));
  }
  std::string text;
  for (const Text& t : kTexts)
    if (all.contains(std::string(t.name))) text += "\n" + std::string(t.text);
  return text;
}

}  // namespace ingot::backends::matlab
