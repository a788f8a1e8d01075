// The text of functions of fixed types that code brings along.
#include "ingot/backends/mlir/support_text.h"

namespace ingot::backends::mlir {
namespace {

constexpr Text kPlain[] = {
    {"floor_div", R"(  func.func private @floor_div(%a: index, %b: index) -> index $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %minus = arith.constant -1 : index
    %is_zero = arith.cmpi eq, %b, %zero : index
    %is_minus = arith.cmpi eq, %b, %minus : index
    %is_odd = arith.ori %is_zero, %is_minus : i1
    %safe = arith.select %is_odd, %one, %b : index
    %q = arith.divsi %a, %safe : index
    %r = arith.remsi %a, %safe : index
    %some = arith.cmpi ne, %r, %zero : index
    %x = arith.cmpi slt, %a, %zero : index
    %y = arith.cmpi slt, %safe, %zero : index
    %differ = arith.xori %x, %y : i1
    %both = arith.andi %some, %differ : i1
    %less = arith.subi %q, %one : index
    %f = arith.select %both, %less, %q : index
    %n = arith.subi %zero, %a : index
    %g = arith.select %is_minus, %n, %f : index
    %h = arith.select %is_zero, %zero, %g : index
    return %h : index
  }
)"},
    {"floor_mod", R"(  func.func private @floor_mod(%a: index, %b: index) -> index $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %minus = arith.constant -1 : index
    %is_zero = arith.cmpi eq, %b, %zero : index
    %is_minus = arith.cmpi eq, %b, %minus : index
    %is_odd = arith.ori %is_zero, %is_minus : i1
    %safe = arith.select %is_odd, %one, %b : index
    %r = arith.remsi %a, %safe : index
    %some = arith.cmpi ne, %r, %zero : index
    %x = arith.cmpi slt, %r, %zero : index
    %y = arith.cmpi slt, %safe, %zero : index
    %differ = arith.xori %x, %y : i1
    %both = arith.andi %some, %differ : i1
    %other = arith.addi %r, %safe : index
    %s = arith.select %both, %other, %r : index
    return %s : index
  }
)"},
    // The product of two sizes, or -1: one is negative, or no memory is so large.
    {"size_times", R"(  func.func private @size_times(%a: index, %b: index) -> index $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %minus = arith.constant -1 : index
    %most = arith.constant 576460752303423487 : index
    %x = arith.cmpi slt, %a, %zero : index
    %y = arith.cmpi slt, %b, %zero : index
    %negative = arith.ori %x, %y : i1
    %safe = arith.maxsi %b, %one : index
    %limit = arith.divsi %most, %safe : index
    %large = arith.cmpi sgt, %a, %limit : index
    %none = arith.ori %negative, %large : i1
    %product = arith.muli %a, %b : index
    %r = arith.select %none, %minus, %product : index
    return %r : index
  }
)"},
    // Where an index leads in an axis of n elements: never outside.
    {"place", R"(  func.func private @place(%i: index, %n: index) -> index $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %negative = arith.cmpi slt, %i, %zero : index
    %other = arith.addi %i, %n : index
    %p = arith.select %negative, %other, %i : index
    %last = arith.subi %n, %one : index
    %q = arith.minsi %p, %last : index
    %r = arith.maxsi %q, %zero : index
    return %r : index
  }
)"},
    // Exactly, modulo 2^64; a negative exponent leaves only 1 and -1.
    {"whole_power", R"(  func.func private @whole_power(%x: i64, %n: i64) -> i64 $I {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %minus = arith.constant -1 : i64
    %power:3 = scf.while (%y = %one, %b = %x, %e = %n) : (i64, i64, i64) -> (i64, i64, i64) {
      %go = arith.cmpi sgt, %e, %zero : i64
      scf.condition(%go) %y, %b, %e : i64, i64, i64
    } do {
    ^bb0(%y: i64, %b: i64, %e: i64):
      %bit = arith.andi %e, %one : i64
      %odd = arith.cmpi eq, %bit, %one : i64
      %more = arith.muli %y, %b : i64
      %next = arith.select %odd, %more, %y : i64
      %square = arith.muli %b, %b : i64
      %half = arith.shrui %e, %one : i64
      scf.yield %next, %square, %half : i64, i64, i64
    }
    %negative = arith.cmpi slt, %n, %zero : i64
    %is_one = arith.cmpi eq, %x, %one : i64
    %is_minus = arith.cmpi eq, %x, %minus : i64
    %last = arith.andi %n, %one : i64
    %is_odd = arith.cmpi eq, %last, %one : i64
    %sign = arith.select %is_odd, %minus, %one : i64
    %s = arith.select %is_minus, %sign, %zero : i64
    %t = arith.select %is_one, %one, %s : i64
    %r = arith.select %negative, %t, %power#0 : i64
    return %r : i64
  }
)"},
    // The bits of a small float nearest to x, halves to even. `special`: 0 has infinity and NaN, 1 NaN only, 2 NaN as
    // the negative zero, 3 neither.
    {"encode",
     R"(  func.func private @encode(%x: f64, %exponent_bits: i32, %mantissa_bits: i32, %bias: i32, %special: i32, %saturates: i1) -> i32 $I {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %no = arith.constant 0.0 : f64
    %most = arith.constant 1.0e300 : f64
    %width = arith.addi %exponent_bits, %mantissa_bits : i32
    %sign_bit = arith.shli %one, %width : i32
    %all = arith.subi %sign_bit, %one : i32
    %is0 = arith.cmpi eq, %special, %zero : i32
    %is1 = arith.cmpi eq, %special, %one : i32
    %is2 = arith.cmpi eq, %special, %two : i32
    %is3 = arith.cmpi eq, %special, %three : i32
    %step = arith.shli %one, %mantissa_bits : i32
    %top0 = arith.subi %all, %step : i32
    %top1 = arith.subi %all, %one : i32
    %top2 = arith.select %is1, %top1, %all : i32
    %top = arith.select %is0, %top0, %top2 : i32
    %raw = arith.bitcast %x : f64 to i64
    %c63 = arith.constant 63 : i64
    %top_bit = arith.shrui %raw, %c63 : i64
    %negative = arith.trunci %top_bit : i64 to i1
    %sign = arith.select %negative, %sign_bit, %zero : i32
    %infinite = arith.addi %top, %one : i32
    %quiet = arith.shrui %step, %one : i32
    %nan0 = arith.ori %infinite, %quiet : i32
    %nan1 = arith.ori %nan0, %sign : i32
    %nan2 = arith.ori %all, %sign : i32
    %nan3 = arith.select %is1, %nan2, %sign_bit : i32
    %none = arith.select %is0, %nan1, %nan3 : i32
    %held = arith.ori %saturates, %is3 : i1
    %largest = arith.ori %sign, %top : i32
    %signed_infinite = arith.ori %sign, %infinite : i32
    %beyond = arith.select %is0, %signed_infinite, %none : i32
    %too_large = arith.select %held, %largest, %beyond : i32
    %magnitude = math.absf %x : f64
    %is_huge = arith.cmpf ogt, %magnitude, %most : f64
    %tame0 = arith.select %is_huge, %no, %magnitude : f64
    %is_nan = arith.cmpf uno, %x, %x : f64
    %tame = arith.select %is_nan, %no, %tame0 : f64
    %pattern0 = arith.bitcast %tame : f64 to i64
    %c52 = arith.constant 52 : i64
    %field = arith.shrui %pattern0, %c52 : i64
    %field32 = arith.trunci %field : i64 to i32
    %c1023 = arith.constant 1023 : i32
    %power = arith.subi %field32, %c1023 : i32
    %least = arith.subi %one, %bias : i32
    %exponent = arith.maxsi %power, %least : i32
    %shift = arith.subi %mantissa_bits, %exponent : i32
    %scale_field = arith.addi %shift, %c1023 : i32
    %scale64 = arith.extsi %scale_field : i32 to i64
    %scale_bits = arith.shli %scale64, %c52 : i64
    %scale = arith.bitcast %scale_bits : i64 to f64
    %product = arith.mulf %tame, %scale : f64
    %scaled = math.roundeven %product : f64
    %digits = arith.fptosi %scaled : f64 to i32
    %biased = arith.addi %exponent, %bias : i32
    %before = arith.subi %biased, %one : i32
    %shifted = arith.shli %before, %mantissa_bits : i32
    %pattern = arith.addi %shifted, %digits : i32
    %powers = arith.shli %one, %exponent_bits : i32
    %limit = arith.addi %powers, %one : i32
    %far = arith.cmpi sgt, %biased, %limit : i32
    %above = arith.cmpi ugt, %pattern, %top : i32
    %is_large0 = arith.ori %far, %above : i1
    %is_large = arith.ori %is_large0, %is_huge : i1
    %is_none = arith.cmpi eq, %pattern, %zero : i32
    %unsigned = arith.andi %is_none, %is2 : i1
    %with_sign = arith.ori %sign, %pattern : i32
    %small = arith.select %unsigned, %zero, %with_sign : i32
    %number = arith.select %is_large, %too_large, %small : i32
    %result = arith.select %is_nan, %none, %number : i32
    return %result : i32
  }
)"},
    {"decode",
     R"(  func.func private @decode(%bits: i32, %exponent_bits: i32, %mantissa_bits: i32, %bias: i32, %special: i32) -> f32 $I {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %width = arith.addi %exponent_bits, %mantissa_bits : i32
    %sign_bit = arith.shli %one, %width : i32
    %all = arith.subi %sign_bit, %one : i32
    %is0 = arith.cmpi eq, %special, %zero : i32
    %is1 = arith.cmpi eq, %special, %one : i32
    %is2 = arith.cmpi eq, %special, %two : i32
    %step = arith.shli %one, %mantissa_bits : i32
    %top0 = arith.subi %all, %step : i32
    %top1 = arith.subi %all, %one : i32
    %top2 = arith.select %is1, %top1, %all : i32
    %top = arith.select %is0, %top0, %top2 : i32
    %magnitude = arith.andi %bits, %all : i32
    %low = arith.subi %step, %one : i32
    %mantissa = arith.andi %magnitude, %low : i32
    %exponent = arith.shrui %magnitude, %mantissa_bits : i32
    %is_small = arith.cmpi eq, %exponent, %zero : i32
    %whole = arith.ori %mantissa, %step : i32
    %digits = arith.select %is_small, %mantissa, %whole : i32
    %power = arith.maxsi %exponent, %one : i32
    %away = arith.addi %bias, %mantissa_bits : i32
    %shift = arith.subi %power, %away : i32
    %c1023 = arith.constant 1023 : i32
    %field = arith.addi %shift, %c1023 : i32
    %field64 = arith.extsi %field : i32 to i64
    %c52 = arith.constant 52 : i64
    %scale_bits = arith.shli %field64, %c52 : i64
    %scale = arith.bitcast %scale_bits : i64 to f64
    %real = arith.sitofp %digits : i32 to f64
    %product = arith.mulf %real, %scale : f64
    %number = arith.truncf %product : f64 to f32
    %nan = arith.constant 0x7FC00000 : f32
    %infinity = arith.constant 0x7F800000 : f32
    %above = arith.cmpi ugt, %magnitude, %top : i32
    %is_whole = arith.cmpi eq, %mantissa, %zero : i32
    %is_infinite = arith.andi %is0, %is_whole : i1
    %special_number = arith.select %is_infinite, %infinity, %nan : f32
    %x = arith.select %above, %special_number, %number : f32
    %opposite = arith.negf %x : f32
    %sign = arith.andi %bits, %sign_bit : i32
    %negative = arith.cmpi ne, %sign, %zero : i32
    %y = arith.select %negative, %opposite, %x : f32
    %is_alone = arith.cmpi eq, %bits, %sign_bit : i32
    %is_none = arith.andi %is2, %is_alone : i1
    %r = arith.select %is_none, %nan, %y : f32
    return %r : f32
  }
)"},
    {"load_f16", R"(  func.func private @load_f16(%bits: i16) -> f32 $I {
    %h = arith.bitcast %bits : i16 to f16
    %x = arith.extf %h : f16 to f32
    return %x : f32
  }
)"},
    {"load_bf16", R"(  func.func private @load_bf16(%bits: i16) -> f32 $I {
    %c16 = arith.constant 16 : i32
    %wide = arith.extui %bits : i16 to i32
    %up = arith.shli %wide, %c16 : i32
    %x = arith.bitcast %up : i32 to f32
    return %x : f32
  }
)"},
    {"load_f8e8m0", R"(  func.func private @load_f8e8m0(%bits: i8) -> f32 $I {
    %none = arith.constant -1 : i8
    %c896 = arith.constant 896 : i64
    %c52 = arith.constant 52 : i64
    %nan = arith.constant 0x7FC00000 : f32
    %wide = arith.extui %bits : i8 to i64
    %field = arith.addi %wide, %c896 : i64
    %raw = arith.shli %field, %c52 : i64
    %real = arith.bitcast %raw : i64 to f64
    %x = arith.truncf %real : f64 to f32
    %is_none = arith.cmpi eq, %bits, %none : i8
    %r = arith.select %is_none, %nan, %x : f32
    return %r : f32
  }
)"},
    {"store_f8e8m0", R"(  func.func private @store_f8e8m0(%x: f64, %how: i32) -> i8 $I {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %four = arith.constant 4 : i32
    %c127 = arith.constant 127 : i32
    %c254 = arith.constant 254 : i32
    %c255 = arith.constant 255 : i32
    %c1023 = arith.constant 1023 : i32
    %no = arith.constant 0.0 : f64
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %c52 = arith.constant 52 : i64
    %low = arith.constant 4503599627370495 : i64
    %half = arith.constant 2251799813685248 : i64
    %none = arith.constant 0 : i64
    %a = math.absf %x : f64
    %raw = arith.bitcast %a : f64 to i64
    %field = arith.shrui %raw, %c52 : i64
    %field32 = arith.trunci %field : i64 to i32
    %power = arith.subi %field32, %c1023 : i32
    %fraction = arith.andi %raw, %low : i64
    %some = arith.cmpi ne, %fraction, %none : i64
    %near = arith.cmpi uge, %fraction, %half : i64
    %flag4 = arith.andi %how, %four : i32
    %is4 = arith.cmpi ne, %flag4, %zero : i32
    %flag2 = arith.andi %how, %two : i32
    %up = arith.cmpi eq, %flag2, %zero : i32
    %choice = arith.select %is4, %near, %up : i1
    %raise = arith.andi %some, %choice : i1
    %next = arith.addi %power, %one : i32
    %exponent = arith.select %raise, %next, %power : i32
    %flag1 = arith.andi %how, %one : i32
    %overflows = arith.cmpi ne, %flag1, %zero : i32
    %most = arith.select %overflows, %c255, %c254 : i32
    %biased = arith.addi %exponent, %c127 : i32
    %is_large = arith.cmpi sgt, %exponent, %c127 : i32
    %is_small = arith.cmpi slt, %biased, %zero : i32
    %p = arith.select %is_large, %most, %biased : i32
    %q = arith.select %is_small, %zero, %p : i32
    %is_zero = arith.cmpf oeq, %a, %no : f64
    %r = arith.select %is_zero, %zero, %q : i32
    %finite = arith.cmpf olt, %a, %infinity : f64
    %s = arith.select %finite, %r, %c255 : i32
    %t = arith.trunci %s : i32 to i8
    return %t : i8
  }
)"},
};

}  // namespace

std::span<const Text> plain_texts() { return kPlain; }

}  // namespace ingot::backends::mlir
