// The error function (W. J. Cody, 1969) and the quantiles of the normal distribution (M. J. Wichura, 1988) by rational
// approximations.
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

constexpr double kInnerAbove[] = {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
                                  4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
                                  1.3314166789178437745e2, 3.3871328727963666080};
constexpr double kInnerBelow[] = {
    5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
    5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1};
constexpr double kOuterAbove[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                                  1.27045825245236838258,    3.64784832476320460504,    5.76949722146069140550,
                                  4.63033784615654529590,    1.42343711074968357734};
constexpr double kOuterBelow[] = {
    1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940,    2.05319162663775882187,    1};

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

Value* normal_quantile(GraphBuilder& g, Value* p) {
  Value* q = g.sub(p, 0.5);
  Value* r = g.sub(0.180625, g.mul(q, q));
  Value* inner = g.mul(q, g.div(polynomial(g, r, kInnerAbove), polynomial(g, r, kInnerBelow)));
  Value* tail = g.op("Min", {p, g.sub(1.0, p)});
  Value* root = g.sub(g.op("Sqrt", {g.neg(g.op("Log", {tail}))}), 1.6);
  Value* outer = g.div(polynomial(g, root, kOuterAbove), polynomial(g, root, kOuterBelow));
  Value* is_inner = g.op("LessOrEqual", {g.op("Abs", {q}), f64(g, 0.425)});
  return g.where(is_inner, inner, g.mul(g.op("Sign", {q}), outer));
}

}  // namespace ingot::frontends::numeric
