// Products of matrices in vectors, and sorting: functions that printed code brings along.
#include <fmt/format.h>

#include "ingot/backends/mlir/support.h"
#include "ingot/backends/mlir/types.h"

namespace ingot::backends::mlir {
namespace {

constexpr int kRows = 6;     // rows of a tile: with its columns in vectors they fill the registers
constexpr int kDepth = 512;  // of a panel of the right side

int columns_of(DType type) { return type == DType::f64 ? 8 : 16; }

/// The sums of so many rows over k, started by what the tile holds if it adds.
std::string rows_text(int rows, const std::string& indent) {
  std::string text, names, types, starts;
  const auto add = [&](const std::string& line) { text += indent + line + "\n"; };
  for (int r = 0; r < rows; ++r) {
    if (r == 0) {
      add("%c_at0 = arith.addi %first_c, %zero : index");
      add("%a_at0 = arith.addi %first_a, %zero : index");
    } else {
      add(fmt::format("%c_at{} = arith.addi %c_at{}, %c_row : index", r, r - 1));
      add(fmt::format("%a_at{} = arith.addi %a_at{}, %a_row : index", r, r - 1));
    }
    add(fmt::format("%start{0} = scf.if %adds -> ($V) {{", r));
    add(fmt::format("  %old = vector.maskedload %c[%c_at{}], %mask, %none : memref<?x$T>, $M, $V into $V", r));
    add("  scf.yield %old : $V\n" + indent + "} else {\n" + indent + "  scf.yield %none : $V\n" + indent + "}");
    names += fmt::format("{}%s{} = %start{}", r ? ", " : "", r, r);
    types += r ? ", $V" : "$V";
  }
  add(fmt::format("%sums{} = scf.for %t = %zero to %k step %one iter_args({}) -> ({}) {{", rows > 1 ? ":6" : "", names,
                  types));
  add("  %b_skip = arith.muli %t, %b_row : index");
  add("  %b_at = arith.addi %first_b, %b_skip : index");
  add("  %v = vector.load %b[%b_at] : memref<?x$T>, $V");
  add("  %a_skip = arith.muli %t, %a_column : index");
  std::string results;
  for (int r = 0; r < rows; ++r) {
    add(fmt::format("  %f_at{0} = arith.addi %a_at{0}, %a_skip : index", r));
    add(fmt::format("  %f{0} = memref.load %a[%f_at{0}] : memref<?x$T>", r));
    add(fmt::format("  %w{0} = vector.broadcast %f{0} : $T to $V", r));
    add(fmt::format("  %n{0} = vector.fma %w{0}, %v, %s{0} : $V", r));
    results += fmt::format("{}%n{}", r ? ", " : "", r);
  }
  add(fmt::format("  scf.yield {} : {}", results, types));
  add("}");
  for (int r = 0; r < rows; ++r) {
    const std::string sum = rows > 1 ? fmt::format("%sums#{}", r) : "%sums";
    add(
        fmt::format("scf.if %is_full {{\n{0}  vector.store {1}, %c[%c_at{2}] : memref<?x$T>, $V\n{0}}} else {{\n{0}  "
                    "vector.maskedstore %c[%c_at{2}], %mask, {1} : memref<?x$T>, $M, $V\n{0}}}",
                    indent, sum, r));
  }
  return text;
}

// c[rows, columns] = (or +=) a[rows, k] * b[k, columns], where b has whole vectors.
std::string tile_text() {
  return
      R"(  func.func private @tile_$N(%rows: index, %columns: index, %k: index, %a: memref<?x$T>, %a_from: index, %a_row: index, %a_column: index, %b: memref<?x$T>, %first_b: index, %b_row: index, %c: memref<?x$T>, %c_from: index, %c_row: index, %adds: i1) $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %six = arith.constant )" +
      std::to_string(kRows) + R"( : index
    %width = arith.constant $W : index
    %none = arith.constant dense<0.0> : $V
    %mask = vector.create_mask %columns : $M
    %is_full = arith.cmpi sge, %columns, %width : index
    %is_whole = arith.cmpi eq, %rows, %six : index
    scf.if %is_whole {
      %first_a = arith.addi %a_from, %zero : index
      %first_c = arith.addi %c_from, %zero : index
)" + rows_text(kRows, "      ") +
      R"(    } else {
      scf.for %i = %zero to %rows step %one {
        %a_skipped = arith.muli %i, %a_row : index
        %first_a = arith.addi %a_from, %a_skipped : index
        %c_skipped = arith.muli %i, %c_row : index
        %first_c = arith.addi %c_from, %c_skipped : index
)" + rows_text(1, "        ") +
      R"(      }
    }
    return
  }
)";
}

// c[m, n] = a[m, k] * b[k, n], where rows of both are dense along k: few rows are not worth packing.
constexpr std::string_view kDots =
    R"(  func.func private @dots_$N(%m: index, %n: index, %k: index, %a: memref<?x$T>, %a_from: index, %a_row: index, %b: memref<?x$T>, %b_from: index, %b_column: index, %c: memref<?x$T>, %c_from: index) $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %width = arith.constant $W : index
    %none = arith.constant dense<0.0> : $V
    %four = arith.constant 4 : index
    %last = arith.remui %n, %four : index
    %quads = arith.subi %n, %last : index
    %rest = arith.remui %k, %width : index
    %whole = arith.subi %k, %rest : index
    scf.for %i = %zero to %m step %one {
      %a_skip = arith.muli %i, %a_row : index
      %a_at = arith.addi %a_from, %a_skip : index
      %c_skip = arith.muli %i, %n : index
      %c_at = arith.addi %c_from, %c_skip : index
$D    }
    return
  }
)";

/// Sums of so many columns at once, so that none waits for its own last step.
std::string dots_text(int count, const std::string& from, const std::string& to) {
  std::string text = fmt::format("      scf.for %j = {} to {} step {} {{\n", from, to, count > 1 ? "%four" : "%one");
  std::string names, types, results, rest;
  const auto add = [&](const std::string& line) { text += "        " + line + "\n"; };
  add("%b_skip = arith.muli %j, %b_column : index");
  add("%b_at0 = arith.addi %b_from, %b_skip : index");
  for (int i = 0; i < count; ++i) {
    if (i > 0) add(fmt::format("%b_at{} = arith.addi %b_at{}, %b_column : index", i, i - 1));
    names += fmt::format("{}%s{} = %none", i ? ", " : "", i);
    types += i ? ", $V" : "$V";
    results += fmt::format("{}%z{}", i ? ", " : "", i);
  }
  const std::string several = count > 1 ? fmt::format(":{}", count) : "";
  add(fmt::format("%sums{} = scf.for %t = %zero to %whole step %width iter_args({}) -> ({}) {{", several, names,
                  types));
  add("  %p = arith.addi %a_at, %t : index");
  add("  %x = vector.load %a[%p] : memref<?x$T>, $V");
  for (int i = 0; i < count; ++i) {
    add(fmt::format("  %q{0} = arith.addi %b_at{0}, %t : index", i));
    add(fmt::format("  %y{0} = vector.load %b[%q{0}] : memref<?x$T>, $V", i));
    add(fmt::format("  %z{0} = vector.fma %x, %y{0}, %s{0} : $V", i));
  }
  add(fmt::format("  scf.yield {} : {}", results, types));
  add("}");
  for (int i = 0; i < count; ++i) {
    const std::string sum = count > 1 ? fmt::format("%sums#{}", i) : "%sums";
    add(fmt::format("%sum{} = vector.reduction <add>, {} fastmath<reassoc> : $V into $T", i, sum));
    add(fmt::format("%all{0} = scf.for %t = %whole to %k step %one iter_args(%s = %sum{0}) -> ($T) {{", i));
    add("  %p = arith.addi %a_at, %t : index");
    add(fmt::format("  %q = arith.addi %b_at{}, %t : index", i));
    add("  %x = memref.load %a[%p] : memref<?x$T>");
    add("  %y = memref.load %b[%q] : memref<?x$T>");
    add("  %u = arith.mulf %x, %y fastmath<contract> : $T");
    add("  %z = arith.addf %s, %u fastmath<contract> : $T");
    add("  scf.yield %z : $T\n        }");
    add(fmt::format("%c_first{0} = arith.addi %c_at, %j : index\n        %i{0} = arith.constant {0} : index", i));
    add(fmt::format("%at{0} = arith.addi %c_first{0}, %i{0} : index", i));
    add(fmt::format("memref.store %all{0}, %c[%at{0}] : memref<?x$T>", i));
  }
  return text + "      }\n";
}

/// c[columns of four vectors] = (or +=) one row of a * b, so that no sum waits for its own last step.
std::string row_text() {
  std::string text =
      R"(  func.func private @row_$N(%k: index, %a: memref<?x$T>, %a_from: index, %a_column: index, %b: memref<?x$T>, %b_from: index, %b_row: index, %c: memref<?x$T>, %c_from: index, %adds: i1) $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %width = arith.constant $W : index
    %none = arith.constant dense<0.0> : $V
    %at0 = arith.addi %c_from, %zero : index
    %b0 = arith.addi %b_from, %zero : index
)";
  const auto add = [&](const std::string& line) { text += "    " + line + "\n"; };
  for (int i = 0; i < 4; ++i) {
    if (i > 0)
      add(fmt::format("%at{0} = arith.addi %at{1}, %width : index\n    %b{0} = arith.addi %b{1}, %width : index", i,
                      i - 1));
    add(fmt::format("%start{} = scf.if %adds -> ($V) {{", i));
    add(fmt::format("  %old = vector.load %c[%at{}] : memref<?x$T>, $V", i));
    add("  scf.yield %old : $V\n    } else {\n      scf.yield %none : $V\n    }");
  }
  add("%sums:4 = scf.for %t = %zero to %k step %one iter_args(%s0 = %start0, %s1 = %start1, %s2 = %start2, %s3 = "
      "%start3) -> ($V, $V, $V, $V) {");
  add("  %a_skip = arith.muli %t, %a_column : index\n      %a_at = arith.addi %a_from, %a_skip : index");
  add("  %f = memref.load %a[%a_at] : memref<?x$T>\n      %w = vector.broadcast %f : $T to $V");
  add("  %b_skip = arith.muli %t, %b_row : index");
  for (int i = 0; i < 4; ++i) {
    add(fmt::format("  %q{0} = arith.addi %b{0}, %b_skip : index", i));
    add(fmt::format("  %v{0} = vector.load %b[%q{0}] : memref<?x$T>, $V", i));
    add(fmt::format("  %n{0} = vector.fma %w, %v{0}, %s{0} : $V", i));
  }
  add("  scf.yield %n0, %n1, %n2, %n3 : $V, $V, $V, $V\n    }");
  for (int i = 0; i < 4; ++i) add(fmt::format("vector.store %sums#{0}, %c[%at{0}] : memref<?x$T>, $V", i));
  return text + "    return\n  }\n";
}

// c[m, n] = a[m, k] * b[k, n]; steps along rows and columns say whether a matrix is transposed. Columns of b are packed
// in panels unless few rows meet them.
constexpr std::string_view kProduct =
    R"(  func.func private @product_$N(%m: index, %n: index, %k: index, %a: memref<?x$T>, %a_from: index, %a_row: index, %a_column: index, %b: memref<?x$T>, %b_from: index, %b_row: index, %b_column: index, %c: memref<?x$T>, %c_from: index) $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %six = arith.constant $R : index
    %width = arith.constant $W : index
    %depth = arith.constant $K : index
    %no = arith.constant 0.0 : $T
    %panel_memory = memref.alloca() {alignment = 64 : i64} : memref<$Kx$W2$T>
    %panel = memref.collapse_shape %panel_memory [[0, 1]] : memref<$Kx$W2$T> into memref<$Px$T>
    %packed = memref.cast %panel : memref<$Px$T> to memref<?x$T>
    %few = arith.cmpi slt, %m, %six : index
    %a_dense = arith.cmpi eq, %a_column, %one : index
    %b_dense = arith.cmpi eq, %b_row, %one : index
    %dense = arith.andi %a_dense, %b_dense : i1
    %by_dots = arith.andi %few, %dense : i1
    %b_wide = arith.cmpi eq, %b_column, %one : index
    %in_place = arith.andi %few, %b_wide : i1
    scf.if %by_dots {
      func.call @dots_$N(%m, %n, %k, %a, %a_from, %a_row, %b, %b_from, %b_column, %c, %c_from) : (index, index, index, memref<?x$T>, index, index, memref<?x$T>, index, index, memref<?x$T>, index) -> ()
    } else {
      // Without a depth there is still a zero to store.
      %k_least = arith.maxsi %k, %one : index
      scf.for %t = %zero to %k_least step %depth {
        %deep0 = arith.subi %k, %t : index
        %deep = arith.minsi %deep0, %depth : index
        %adds = arith.cmpi sgt, %t, %zero : index
        %quad = arith.constant $Q : index
        %odd = arith.remui %n, %quad : index
        %even = arith.subi %n, %odd : index
        %past = arith.select %in_place, %even, %zero : index
        scf.for %j = %zero to %past step %quad {
          %t_skip = arith.muli %t, %b_row : index
          %b_skip = arith.addi %t_skip, %j : index
          %b_at = arith.addi %b_from, %b_skip : index
          %a_skip = arith.muli %t, %a_column : index
          %a_at = arith.addi %a_from, %a_skip : index
          %c_at = arith.addi %c_from, %j : index
          scf.for %i = %zero to %m step %one {
            %a_rows = arith.muli %i, %a_row : index
            %a_first = arith.addi %a_at, %a_rows : index
            %c_rows = arith.muli %i, %n : index
            %c_first = arith.addi %c_at, %c_rows : index
            func.call @row_$N(%deep, %a, %a_first, %a_column, %b, %b_at, %b_row, %c, %c_first, %adds) : (index, memref<?x$T>, index, index, memref<?x$T>, index, index, memref<?x$T>, index, i1) -> ()
          }
        }
        scf.for %j = %past to %n step %width {
          %left = arith.subi %n, %j : index
          %columns = arith.minsi %left, %width : index
          %is_full = arith.cmpi eq, %columns, %width : index
          %directly = arith.andi %in_place, %is_full : i1
          %t_skip = arith.muli %t, %b_row : index
          %j_skip = arith.muli %j, %b_column : index
          %b_skip = arith.addi %t_skip, %j_skip : index
          %b_at = arith.addi %b_from, %b_skip : index
          %a_skip = arith.muli %t, %a_column : index
          %a_at = arith.addi %a_from, %a_skip : index
          %c_at = arith.addi %c_from, %j : index
          scf.if %directly {
            func.call @tile_$N(%m, %width, %deep, %a, %a_at, %a_row, %a_column, %b, %b_at, %b_row, %c, %c_at, %n, %adds) : (index, index, index, memref<?x$T>, index, index, index, memref<?x$T>, index, index, memref<?x$T>, index, index, i1) -> ()
          } else {
            %copies = arith.andi %b_wide, %is_full : i1
            scf.if %copies {
              scf.for %s = %zero to %deep step %one {
                %row = arith.muli %s, %b_row : index
                %from = arith.addi %b_at, %row : index
                %v = vector.load %b[%from] : memref<?x$T>, $V
                %to = arith.muli %s, %width : index
                vector.store %v, %packed[%to] : memref<?x$T>, $V
              }
            } else {
              scf.for %q = %zero to %width step %one {
                %exists = arith.cmpi slt, %q, %columns : index
                %column = arith.muli %q, %b_column : index
                %b_first = arith.addi %b_at, %column : index
                scf.for %s = %zero to %deep step %one {
                  %v = scf.if %exists -> ($T) {
                    %row = arith.muli %s, %b_row : index
                    %from = arith.addi %b_first, %row : index
                    %x = memref.load %b[%from] : memref<?x$T>
                    scf.yield %x : $T
                  } else {
                    scf.yield %no : $T
                  }
                  %start = arith.muli %s, %width : index
                  %to = arith.addi %start, %q : index
                  memref.store %v, %packed[%to] : memref<?x$T>
                }
              }
            }
            scf.for %i = %zero to %m step %six {
              %below = arith.subi %m, %i : index
              %rows = arith.minsi %below, %six : index
              %i_skip = arith.muli %i, %a_row : index
              %a_first = arith.addi %a_at, %i_skip : index
              %c_skip = arith.muli %i, %n : index
              %c_first = arith.addi %c_at, %c_skip : index
              func.call @tile_$N(%rows, %columns, %deep, %a, %a_first, %a_row, %a_column, %packed, %zero, %width, %c, %c_first, %n, %adds) : (index, index, index, memref<?x$T>, index, index, index, memref<?x$T>, index, index, memref<?x$T>, index, index, i1) -> ()
            }
          }
        }
      }
    }
    return
  }
)";

// Each place goes where a search by halves finds it; no memory beside the result. NaN is the largest number.
constexpr std::string_view kSort =
    R"(  func.func private @sort_$D_$N(%x: memref<?x$S>, %places: memref<?xi64>, %outer: index, %n: index, %inner: index) $I {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %block = arith.muli %n, %inner : index
    scf.for %o = %zero to %outer step %one {
      %skip = arith.muli %o, %block : index
      scf.for %q = %zero to %inner step %one {
        %base = arith.addi %skip, %q : index
        scf.for %i = %zero to %n step %one {
          %i_skip = arith.muli %i, %inner : index
          %i_at = arith.addi %base, %i_skip : index
          %i_bits = memref.load %x[%i_at] : memref<?x$S>
          %a = $L %i_bits : $R
          %found:2 = scf.while (%low = %zero, %high = %i) : (index, index) -> (index, index) {
            %go = arith.cmpi slt, %low, %high : index
            scf.condition(%go) %low, %high : index, index
          } do {
          ^bb0(%low: index, %high: index):
            %sum = arith.addi %low, %high : index
            %middle = arith.divui %sum, %two : index
            %m_skip = arith.muli %middle, %inner : index
            %m_at = arith.addi %base, %m_skip : index
            %m_place = memref.load %places[%m_at] : memref<?xi64>
            %m_index = arith.index_cast %m_place : i64 to index
            %y_skip = arith.muli %m_index, %inner : index
            %y_at = arith.addi %base, %y_skip : index
            %y_bits = memref.load %x[%y_at] : memref<?x$S>
            %b = $L %y_bits : $R
$B
            %next = arith.addi %middle, %one : index
            %new_low = arith.select %before, %low, %next : index
            %new_high = arith.select %before, %middle, %high : index
            scf.yield %new_low, %new_high : index, index
          }
          %count = arith.subi %i, %found#0 : index
          scf.for %k = %zero to %count step %one {
            %to = arith.subi %i, %k : index
            %from = arith.subi %to, %one : index
            %to_skip = arith.muli %to, %inner : index
            %to_at = arith.addi %base, %to_skip : index
            %from_skip = arith.muli %from, %inner : index
            %from_at = arith.addi %base, %from_skip : index
            %held = memref.load %places[%from_at] : memref<?xi64>
            memref.store %held, %places[%to_at] : memref<?xi64>
          }
          %here = arith.index_cast %i : index to i64
          %here_skip = arith.muli %found#0, %inner : index
          %here_at = arith.addi %base, %here_skip : index
          memref.store %here, %places[%here_at] : memref<?xi64>
        }
      }
    }
    return
  }
)";

}  // namespace

std::string kernel_text(std::string_view base, DType type) {
  const int width = columns_of(type);
  std::string text = base == "row"    ? row_text()
                     : base == "tile" ? tile_text()
                     : base == "dots" ? replaced(std::string(kDots), "$D",
                                                 dots_text(4, "%zero", "%quads") + dots_text(1, "%quads", "%n"))
                                      : std::string(kProduct);
  text = replaced(replaced(text, "$R", std::to_string(kRows)), "$K", std::to_string(kDepth));
  text = replaced(text, "$Q", std::to_string(4 * width));
  text = replaced(text, "$W2", fmt::format("{}x", width));
  text = replaced(text, "$W", std::to_string(width));
  text = replaced(text, "$P", std::to_string(width * kDepth));
  text = replaced(text, "$V", fmt::format("vector<{}x$T>", width));
  return replaced(text, "$M", fmt::format("vector<{}xi1>", width));
}

std::string sort_text(bool descends, DType type) {
  const MType m = m_type(type);
  std::string text = replaced(std::string(kSort), "$D", descends ? "down" : "up");
  std::string load = "arith.bitcast", result = fmt::format("{0} to {0}", m.storage);
  if (type == DType::boolean) load = "arith.trunci", result = "i8 to i1";
  const std::string pad(12, ' ');
  std::string before;
  if (is_float(type)) {
    const auto lines = [&](const char* a, const char* b) {
      before = fmt::format(
          "{0}%less = arith.cmpf olt, {1}, {2} : $T\n{0}%b_none = arith.cmpf uno, {2}, {2} : $T\n{0}%a_some = "
          "arith.cmpf "
          "ord, {1}, {1} : $T\n{0}%last = arith.andi %b_none, %a_some : i1\n{0}%before = arith.ori %less, %last : i1",
          pad, a, b);
    };
    // NaN comes last where numbers ascend, first where they descend.
    descends ? lines("%b", "%a") : lines("%a", "%b");
  } else {
    before = fmt::format("{}%before = arith.cmpi {}, {} : $T", pad, is_unsigned(type) ? "ult" : "slt",
                         descends ? "%b, %a" : "%a, %b");
  }
  text = replaced(text, "$B", before);
  if (is_small_float(type)) {
    for (const char* name : {"%i_bits", "%y_bits"})
      text = replaced(text, fmt::format("$L {} : $R", name),
                      fmt::format("func.call @load_{}({}) : ({}) -> f32", m.suffix, name, m.storage));
  }
  return replaced(replaced(replaced(text, "$L", load), "$R", result), "$S", m.storage);
}

}  // namespace ingot::backends::mlir
