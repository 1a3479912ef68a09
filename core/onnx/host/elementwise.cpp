#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/shape.h"
#include "onnx/host/host.h"

namespace thunder::onnx {
namespace {

// The place in an operand of shape `from` that the place `at` of `to` reads.
int64_t broadcast_place(const Sizes& from, const Sizes& to, int64_t at) {
  int64_t place = 0, step = 1;
  for (size_t d = to.size(), behind = from.size(); d-- > 0 && behind > 0;) {
    const int64_t here = at % to[d];
    at /= to[d], behind--;
    if (from[behind] != 1) place += here * step;
    step *= from[behind];
  }
  return place;
}

bool common_shape(std::span<const Host* const> operands, Sizes& shape) {
  Shape all;
  for (const Host* h : operands) {
    Shape one;
    for (int64_t d : h->shape) one.push_back(d);
    all = broadcast(all, one);
  }
  shape = concrete(all);
  return host_elements(shape) >= 0;
}

// f(place) gives element i of the result by the places that it reads of the operands.
template <class F>
bool give_elementwise(Node& n, std::initializer_list<const Host*> operands, DType dtype, F&& f) {
  Sizes shape;
  const std::vector<const Host*> list(operands);
  if (!common_shape(list, shape)) return false;
  auto h = std::make_shared<Host>();
  h->dtype = dtype, h->shape = shape;
  const int64_t count = host_elements(shape);
  std::vector<size_t> places(list.size());
  for (int64_t i = 0; i < count; i++) {
    for (size_t k = 0; k < list.size(); k++) places[k] = static_cast<size_t>(broadcast_place(list[k]->shape, shape, i));
    f(*h, places);
  }
  n.give(HostRef(std::move(h)));
  return true;
}

// Computes integers by `whole` and reals by `real`.
template <class Whole, class Real>
bool arithmetic(Node& n, Whole&& whole, Real&& real) {
  if (n.inputs() != 2 || !all_known(n)) return false;
  const Host *a = n.known(0), *b = n.known(1);
  n.require(a->dtype == b->dtype, "its inputs are ", name(a->dtype), " and ", name(b->dtype),
            ", they must be of one dtype");
  return give_elementwise(n, {a, b}, a->dtype, [&](Host& h, const std::vector<size_t>& at) {
    if (h.holds_reals())
      h.reals.push_back(round_to_dtype(real(a->reals[at[0]], b->reals[at[1]]), h.dtype));
    else
      h.ints.push_back(wrap_to_dtype(whole(a->ints[at[0]], b->ints[at[1]]), h.dtype));
  });
}

template <class Whole, class Real>
bool comparison(Node& n, Whole&& whole, Real&& real) {
  if (n.inputs() != 2 || !all_known(n)) return false;
  const Host *a = n.known(0), *b = n.known(1);
  n.require(a->dtype == b->dtype, "its inputs are ", name(a->dtype), " and ", name(b->dtype),
            ", they must be of one dtype");
  return give_elementwise(n, {a, b}, DType::boolean, [&](Host& h, const std::vector<size_t>& at) {
    h.ints.push_back(a->holds_reals() ? real(a->reals[at[0]], b->reals[at[1]]) : whole(a->ints[at[0]], b->ints[at[1]]));
  });
}

template <class Whole, class Real>
bool give_unary(Node& n, Whole&& whole, Real&& real) {
  if (!all_known(n)) return false;
  const Host* a = n.known(0);
  return give_elementwise(n, {a}, a->dtype, [&](Host& h, const std::vector<size_t>& at) {
    if (h.holds_reals())
      h.reals.push_back(round_to_dtype(real(a->reals[at[0]]), h.dtype));
    else
      h.ints.push_back(wrap_to_dtype(whole(a->ints[at[0]]), h.dtype));
  });
}

// ONNX truncates quotients, formulas of sizes round down: the same if nothing is negative.
Dim divided(Node& n, Dim a, Dim b) {
  if (a.constant() && b.constant()) {
    n.require(b.value() != 0, "a division by zero");
    return b.value() == -1 ? Dim(0) - a : Dim(a.value() / b.value());
  }
  if (decide_less(n, a, 0) || !decide_less(n, 0, b)) {
    const int64_t y = hint(b);
    n.require(y != 0, "a division by zero");
    return hint(a) / y;
  }
  return a / b;
}

Dim remainder(Node& n, Dim a, Dim b) {
  if (!a.constant() && !decide_less(n, a, 0) && decide_less(n, 0, b)) return a % b;
  const int64_t x = hint(a), y = hint(b);
  n.require(y != 0, "a division by zero");
  const int64_t r = y == -1 ? 0 : x % y;
  return n.flag("fmod") || r == 0 || (r < 0) == (y < 0) ? r : r + y;
}

double python_remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double zero_of_real(double) {
  return 0;
}

}  // namespace

bool host_add(Node& n) {
  return arithmetic(
      n, [](Dim a, Dim b) { return a + b; }, [](double a, double b) { return a + b; });
}
bool host_sub(Node& n) {
  return arithmetic(
      n, [](Dim a, Dim b) { return a - b; }, [](double a, double b) { return a - b; });
}
bool host_mul(Node& n) {
  return arithmetic(
      n, [](Dim a, Dim b) { return a * b; }, [](double a, double b) { return a * b; });
}
bool host_div(Node& n) {
  return arithmetic(
      n, [&](Dim a, Dim b) { return divided(n, a, b); }, [](double a, double b) { return a / b; });
}
bool host_mod(Node& n) {
  const bool c = n.flag("fmod");
  return arithmetic(
      n, [&](Dim a, Dim b) { return remainder(n, a, b); },
      [&](double a, double b) { return c ? std::fmod(a, b) : python_remainder(a, b); });
}
bool host_pow(Node& n) {
  if (!all_known(n, 2) || !n.known(0)->holds_reals() || !n.known(1)->holds_reals()) return false;
  return n.known(0)->dtype == n.known(1)->dtype &&
         arithmetic(
             n, [](Dim a, Dim) { return a; }, [](double a, double b) { return std::pow(a, b); });
}
bool host_min(Node& n) {
  return arithmetic(
      n, [&](Dim a, Dim b) { return decide_less(n, b, a) ? b : a; },
      [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}
bool host_max(Node& n) {
  return arithmetic(
      n, [&](Dim a, Dim b) { return decide_less(n, a, b) ? b : a; },
      [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}

bool host_equal(Node& n) {
  return comparison(
      n, [&](Dim a, Dim b) { return decide_equal(n, a, b); }, [](double a, double b) { return a == b; });
}
bool host_less(Node& n) {
  return comparison(
      n, [&](Dim a, Dim b) { return decide_less(n, a, b); }, [](double a, double b) { return a < b; });
}
bool host_less_or_equal(Node& n) {
  return comparison(
      n, [&](Dim a, Dim b) { return decide_at_most(n, a, b); }, [](double a, double b) { return a <= b; });
}
bool host_greater(Node& n) {
  return comparison(
      n, [&](Dim a, Dim b) { return decide_less(n, b, a); }, [](double a, double b) { return a > b; });
}
bool host_greater_or_equal(Node& n) {
  return comparison(
      n, [&](Dim a, Dim b) { return decide_at_most(n, b, a); }, [](double a, double b) { return a >= b; });
}
bool host_and(Node& n) {
  return comparison(
      n, [](Dim a, Dim b) { return hint(a) && hint(b); }, [](double, double) { return false; });
}
bool host_or(Node& n) {
  return comparison(
      n, [](Dim a, Dim b) { return hint(a) || hint(b); }, [](double, double) { return false; });
}
bool host_not(Node& n) {
  return give_unary(
      n, [](Dim a) { return Dim(!hint(a)); }, zero_of_real);
}
bool host_neg(Node& n) {
  return give_unary(
      n, [](Dim a) { return Dim(0) - a; }, [](double a) { return -a; });
}
bool host_abs(Node& n) {
  return give_unary(
      n, [&](Dim a) { return decide_less(n, a, 0) ? Dim(0) - a : a; }, [](double a) { return std::fabs(a); });
}
bool host_sqrt(Node& n) {
  return all_known(n) && n.known(0)->holds_reals() &&
         give_unary(
             n, [](Dim a) { return a; }, [](double a) { return std::sqrt(a); });
}
bool host_reciprocal(Node& n) {
  return all_known(n) && n.known(0)->holds_reals() &&
         give_unary(
             n, [](Dim a) { return a; }, [](double a) { return 1 / a; });
}
bool host_floor(Node& n) {
  return give_unary(
      n, [](Dim a) { return a; }, [](double a) { return std::floor(a); });
}
bool host_ceil(Node& n) {
  return give_unary(
      n, [](Dim a) { return a; }, [](double a) { return std::ceil(a); });
}

// A formula of sizes that is cast to a real becomes its value for these sizes.
bool host_cast(Node& n) {
  if (!all_known(n)) return false;
  const Host* a = n.known(0);
  const ElementType* to = find_element_type(static_cast<int32_t>(n.count("to")));
  if (!to || to->dtype == DType::none || to->dtype == DType::u64 || to->bits < 8) return false;
  const DType dtype = to->dtype;
  // Formulas are of 64 bits, and not cut to fewer.
  if (!a->constant() && is_integer(dtype) && size_of(dtype) < 4) return false;
  return give_elementwise(n, {a}, dtype, [&](Host& h, const std::vector<size_t>& at) {
    const size_t i = at[0];
    if (h.holds_reals())
      h.reals.push_back(round_to_dtype(a->holds_reals() ? a->reals[i] : static_cast<double>(hint(a->ints[i])), dtype));
    else if (!a->holds_reals())
      h.ints.push_back(dtype == DType::boolean ? Dim(hint(a->ints[i]) != 0) : wrap_to_dtype(a->ints[i], dtype));
    else
      h.ints.push_back(dtype == DType::boolean ? Dim(a->reals[i] != 0)
                                               : Dim(static_cast<int64_t>(round_to_dtype(a->reals[i], dtype))));
  });
}

bool host_where(Node& n) {
  if (n.inputs() != 3 || !all_known(n)) return false;
  const Host *c = n.known(0), *a = n.known(1), *b = n.known(2);
  if (a->dtype != b->dtype) return false;
  return give_elementwise(n, {c, a, b}, a->dtype, [&](Host& h, const std::vector<size_t>& at) {
    const bool first = hint(c->ints[at[0]]) != 0;
    if (h.holds_reals())
      h.reals.push_back(first ? a->reals[at[1]] : b->reals[at[2]]);
    else
      h.ints.push_back(first ? a->ints[at[1]] : b->ints[at[2]]);
  });
}

}  // namespace thunder::onnx
