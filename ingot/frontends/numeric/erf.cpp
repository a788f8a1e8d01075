// The error function by rational approximations (W. J. Cody, 1969).
#include "ingot/frontends/numeric/erf.h"

#include <span>

#include "ingot/frontends/numeric/f64.h"

namespace ingot::frontends::numeric {
namespace {

constexpr double kMiddle = 0.46875;  // the formulas change here
constexpr double kEnd = 6;           // from here on it is 1

constexpr double kLowAbove[] = {1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2,
                                3.77485237685302021e2, 3.20937758913846947e3};
constexpr double kLowBelow[] = {1, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
                                2.84423683343917062e3};
constexpr double kHighAbove[] = {2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594,
                                 6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
                                 1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3};
constexpr double kHighBelow[] = {1,
                                 1.57449261107098347e1,
                                 1.17693950891312499e2,
                                 5.37181101862009858e2,
                                 1.62138957456669019e3,
                                 3.29079923573345963e3,
                                 4.36261909014324716e3,
                                 3.43936767414372164e3,
                                 1.23033935480374942e3};

/// The polynomial with these coefficients, highest power first.
Value* polynomial(GraphBuilder& g, Value* x, std::span<const double> coefficients) {
  Value* sum = f64(g, coefficients[0]);
  for (const double c : coefficients.subspan(1)) sum = g.add(g.mul(sum, x), f64(g, c));
  return sum;
}

}  // namespace

Value* erf_of_doubles(GraphBuilder& g, Value* x) {
  Value* size = g.op("Abs", {x});
  Value* square = g.mul(x, x);
  Value* low = g.mul(x, g.div(polynomial(g, square, kLowAbove), polynomial(g, square, kLowBelow)));
  Value* y = g.op("Min", {size, f64(g, kEnd)});
  Value* rest = g.div(polynomial(g, y, kHighAbove), polynomial(g, y, kHighBelow));
  Value* high = g.sub(1.0, g.mul(g.op("Exp", {g.neg(g.mul(y, y))}), rest));
  Value* is_low = g.op("LessOrEqual", {size, f64(g, kMiddle)});
  return g.where(is_low, low, g.mul(g.op("Sign", {x}), high));
}

}  // namespace ingot::frontends::numeric
