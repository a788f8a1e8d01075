// Symbolic dimensions: sums of products, their order and their spelling.
#include "ingot/ir/dim.h"

#include <algorithm>

#include "ingot/ir/dim_expr.h"

namespace ingot {
namespace {

constexpr auto kEqual = std::strong_ordering::equal;

std::strong_ordering compare(const DimAtomPtr& a, const DimAtomPtr& b) { return a == b ? kEqual : compare(*a, *b); }

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return letter(name[0]) && std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

/// True if it reads as one factor without brackets.
bool is_factor(const Dim& d) {
  if (d.is_known()) return d.value() >= 0;
  const auto& terms = DimParts::expr(d).terms;
  return terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1;
}

bool is_product(const Dim& d) { return d.is_known() || DimParts::expr(d).terms.size() == 1; }

std::string spelling(const Dim& d);

std::string bracketed(const Dim& d, bool bare) { return bare ? spelling(d) : '(' + spelling(d) + ')'; }

std::string spelling(const DimAtom& atom) {
  if (atom.op == DimOp::symbol) return is_identifier(atom.name) ? atom.name : quoted(atom.name);
  if (atom.op == DimOp::floor_div) {
    return "floor(" + bracketed(atom.args[0], is_product(atom.args[0])) + '/' +
           bracketed(atom.args[1], is_factor(atom.args[1])) + ')';
  }
  std::string text = atom.op == DimOp::mod ? "mod(" : atom.op == DimOp::min ? "min(" : "max(";
  for (std::size_t i = 0; i < atom.args.size(); ++i) text += (i == 0 ? "" : ", ") + spelling(atom.args[i]);
  return text + ')';
}

std::string spelling(const Dim& d) {
  if (d.is_known()) return std::to_string(d.value());
  std::string text;
  for (const DimTerm& term : DimParts::expr(d).terms) {
    const bool negative = term.coefficient < 0;
    const auto bits = static_cast<std::uint64_t>(term.coefficient);
    const std::uint64_t magnitude = negative ? 0 - bits : bits;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    bool first = true;
    if (magnitude != 1 || term.atoms.empty()) {
      text += std::to_string(magnitude);
      first = false;
    }
    for (const DimAtomPtr& atom : term.atoms) {
      text += (first ? "" : "*") + spelling(*atom);
      first = false;
    }
  }
  return text;
}

Dim substituted(const DimAtomPtr& atom, const std::function<std::optional<Dim>(std::string_view)>& lookup) {
  if (atom->op == DimOp::symbol) {
    const std::optional<Dim> found = lookup(atom->name);
    return found && !found->is_unknown() ? *found : dim_from(atom);
  }
  Dim result = atom->args[0].substitute(lookup);
  for (std::size_t i = 1; i < atom->args.size(); ++i) {
    const Dim next = atom->args[i].substitute(lookup);
    switch (atom->op) {
      case DimOp::floor_div:
        result = floor_div(result, next);
        break;
      case DimOp::mod:
        result = mod(result, next);
        break;
      case DimOp::min:
        result = min(result, next);
        break;
      default:
        result = max(result, next);
        break;
    }
  }
  return result;
}

void collect(const Dim& d, std::size_t start, std::vector<std::string>& names) {
  if (!d.is_symbolic()) return;
  for (const DimTerm& term : DimParts::expr(d).terms) {
    for (const DimAtomPtr& atom : term.atoms) {
      for (const Dim& arg : atom->args) collect(arg, start, names);
      if (atom->op != DimOp::symbol) continue;
      const auto begin = names.begin() + static_cast<std::ptrdiff_t>(start);
      if (std::find(begin, names.end(), atom->name) == names.end()) names.push_back(atom->name);
    }
  }
}

}  // namespace

Dim Dim::symbol(std::string name) {
  if (name.empty()) return {};
  return dim_from(std::make_shared<DimAtom>(DimAtom{
      .op = DimOp::symbol, .name = std::move(name), .args = {}, .range = {.lo = 0, .hi = DimRange::kInfinity}}));
}

std::string Dim::str() const {
  if (is_unknown()) return "";
  if (is_symbolic() && is_factor(*this)) {
    const DimAtom& atom = *DimParts::expr(*this).terms[0].atoms[0];
    if (atom.op == DimOp::symbol) return atom.name;
  }
  return spelling(*this);
}

Dim Dim::substitute(const std::function<std::optional<Dim>(std::string_view)>& lookup) const {
  if (!is_symbolic()) return *this;
  Dim sum = 0;
  for (const DimTerm& term : DimParts::expr(*this).terms) {
    Dim product = term.coefficient;
    for (const DimAtomPtr& atom : term.atoms) product = product * substituted(atom, lookup);
    sum = sum + product;
  }
  return sum;
}

void Dim::collect_symbols(std::vector<std::string>& names) const { collect(*this, names.size(), names); }

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return a.is_unknown() && b.is_unknown();
  return compare(a, b) == kEqual;
}

bool same(const Dim& a, const Dim& b) { return !a.is_unknown() && a == b; }

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_known() && b.is_known()) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a.value(), b.value(), &sum) ? Dim() : Dim(sum);
  }
  std::vector<DimTerm> terms = dim_terms(a);
  for (DimTerm& term : dim_terms(b)) terms.push_back(std::move(term));
  return dim_sum(std::move(terms));
}

Dim operator-(const Dim& a) { return Dim(-1) * a; }

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a.value(), b.value(), &difference) ? Dim() : Dim(difference);
  }
  return a + -b;
}

Dim operator*(const Dim& a, const Dim& b) {
  if ((a.is_known() && a.value() == 0) || (b.is_known() && b.value() == 0)) return 0;
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_known() && a.value() == 1) return b;
  if (b.is_known() && b.value() == 1) return a;
  std::vector<DimTerm> products;
  const std::vector<DimTerm> left = dim_terms(a);
  const std::vector<DimTerm> right = dim_terms(b);
  for (const DimTerm& x : left) {
    for (const DimTerm& y : right) {
      DimTerm product;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &product.coefficient)) return {};
      if (x.atoms.size() + y.atoms.size() > static_cast<std::size_t>(kMaxDimSize)) return {};
      std::ranges::merge(x.atoms, y.atoms, std::back_inserter(product.atoms),
                         [](const DimAtomPtr& p, const DimAtomPtr& q) { return compare(p, q) < 0; });
      products.push_back(std::move(product));
    }
  }
  return dim_sum(std::move(products));
}

Dim DimParts::make(std::shared_ptr<const DimExpr> expr) {
  Dim d;
  d.expr_ = std::move(expr);
  return d;
}

std::vector<DimTerm> dim_terms(const Dim& d) {
  if (d.is_symbolic()) return DimParts::expr(d).terms;
  if (d.value() == 0) return {};
  return {{.coefficient = d.value(), .atoms = {}}};
}

Dim dim_sum(std::vector<DimTerm> terms) {
  std::ranges::sort(terms, [](const DimTerm& a, const DimTerm& b) { return compare_products(a.atoms, b.atoms) < 0; });
  auto expr = std::make_shared<DimExpr>();
  for (DimTerm& term : terms) {
    if (!expr->terms.empty() && compare_products(expr->terms.back().atoms, term.atoms) == kEqual) {
      std::int64_t& sum = expr->terms.back().coefficient;
      if (__builtin_add_overflow(sum, term.coefficient, &sum)) return {};
    } else {
      expr->terms.push_back(std::move(term));
    }
  }
  std::erase_if(expr->terms, [](const DimTerm& term) { return term.coefficient == 0; });
  if (expr->terms.empty()) return 0;
  if (expr->terms[0].atoms.empty()) return expr->terms[0].coefficient;
  for (const DimTerm& term : expr->terms) {
    for (const DimAtomPtr& atom : term.atoms) {
      expr->size += atom->size;
      expr->depth = std::max(expr->depth, atom->depth);
    }
  }
  if (expr->terms.size() > kMaxDimTerms || expr->size > kMaxDimSize || expr->depth > kMaxDimDepth) return {};
  return DimParts::make(std::move(expr));
}

Dim dim_atom(DimOp op, std::vector<Dim> args) {
  DimAtom atom{.op = op, .name = {}, .args = std::move(args), .range = {}};
  for (const Dim& arg : atom.args) {
    if (arg.is_unknown()) return {};
    if (arg.is_known()) continue;
    atom.size += DimParts::expr(arg).size;
    atom.depth = std::max(atom.depth, DimParts::expr(arg).depth + 1);
  }
  if (atom.size > kMaxDimSize || atom.depth > kMaxDimDepth) return {};
  atom.range = range_of(op, atom.args);
  return dim_from(std::make_shared<DimAtom>(std::move(atom)));
}

Dim dim_from(const DimAtomPtr& atom) {
  return DimParts::make(std::make_shared<DimExpr>(
      DimExpr{.terms = {{.coefficient = 1, .atoms = {atom}}}, .size = atom->size, .depth = atom->depth}));
}

std::strong_ordering compare(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) return a.value() <=> b.value();
  if (a.is_known() != b.is_known()) return b.is_known() <=> a.is_known();
  const DimExpr& x = DimParts::expr(a);
  const DimExpr& y = DimParts::expr(b);
  if (&x == &y) return kEqual;
  for (std::size_t i = 0; i < std::min(x.terms.size(), y.terms.size()); ++i) {
    if (const auto order = compare_products(x.terms[i].atoms, y.terms[i].atoms); order != 0) return order;
    if (const auto order = x.terms[i].coefficient <=> y.terms[i].coefficient; order != 0) return order;
  }
  return x.terms.size() <=> y.terms.size();
}

std::strong_ordering compare(const DimAtom& a, const DimAtom& b) {
  if (const auto order = a.op <=> b.op; order != 0) return order;
  if (const int order = a.name.compare(b.name); order != 0) return order <=> 0;
  if (const auto order = a.args.size() <=> b.args.size(); order != 0) return order;
  for (std::size_t i = 0; i < a.args.size(); ++i) {
    if (const auto order = compare(a.args[i], b.args[i]); order != 0) return order;
  }
  return kEqual;
}

std::strong_ordering compare_products(const std::vector<DimAtomPtr>& a, const std::vector<DimAtomPtr>& b) {
  if (const auto order = b.size() <=> a.size(); order != 0) return order;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const auto order = compare(a[i], b[i]); order != 0) return order;
  }
  return kEqual;
}

}  // namespace ingot
