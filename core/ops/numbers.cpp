#include "ops/numbers.h"

#include <cmath>

#include "base/text.h"
#include "ir/elements.h"
#include "ir/limits.h"
#include "ir/prim.h"

namespace thunder {
namespace {

constexpr bool is_float(const Arg& a) { return a.kind == ArgKind::real; }

bool integer_fits(int64_t i, const Limits& limits, bool is_signed) {
  if (is_signed) return i >= limits.integer_min && (i < 0 || static_cast<uint64_t>(i) <= limits.integer_max);
  return (i < 0 ? uint64_t{0} - static_cast<uint64_t>(i) : static_cast<uint64_t>(i)) <= limits.integer_max;
}
bool fits(const Arg& n, DType dtype) {
  const Limits limits = limits_of(dtype);
  if (dtype == DType::boolean) return true;
  if (is_integer(dtype) && !is_float(n)) return integer_fits(n.i, limits, is_signed(dtype));
  if (!is_integer(dtype)) return !is_float(n) || !std::isfinite(n.f) || std::fabs(n.f) <= limits.max;
  // The greatest integers of 64 bits are no doubles.
  const double most = info(dtype).digits < 53 ? limits.max : std::nextafter(limits.max, 0);
  return n.f >= (is_signed(dtype) ? limits.min : -most) && n.f <= most;
}

// Whether narrower reals are the number itself. As in PyTorch a tensor of rank 0 that is wider stands for a number.
bool is_exact_in_half(const Call& c, size_t param, DType half) {
  const Arg& a = c.args[param];
  if (a.kind == ArgKind::value) {
    const TensorType& t = c.type(param);
    return !t.weak && (t.rank() > 0 || t.dtype == half || t.dtype == DType::boolean);
  }
  const Arg number = exact_number(a);
  if (!is_float(number)) return false;
  return by_element(half, [&](auto t) {
    using T = decltype(t);
    const auto stored = static_cast<double>(static_cast<Compute<T>>(converted<T>(number.f)));
    return stored == number.f || std::isnan(number.f);
  });
}

// The device and shape of a result.
struct ScalarPlace {
  Shape shape;
  Device device = Device::none;
};
ScalarPlace choose_place(const Call& c, std::initializer_list<size_t> params) {
  ScalarPlace p;
  bool stays = false;  // one of them is where all are to be
  for (size_t i : params) {
    if (c.args[i].kind != ArgKind::value) continue;
    const TensorType& t = c.type(i);
    // As in PyTorch, a tensor of rank 0 on the CPU follows the device of the others.
    const bool follows = t.rank() == 0 && t.device == Device::cpu;
    c.require(follows || !stays || t.device == p.device, "tensors are on different devices; ", c.types());
    if (!follows || !stays) p.device = t.device;
    stays = stays || !follows;
    try {
      p.shape = broadcast(p.shape, t.shape);
    } catch (const Error& e) {
      c.require(false, e.message(), "; ", c.types());
    }
  }
  if (p.device == Device::none) p.device = Device::cpu;
  return p;
}

void add_operand(Promotion& p, const Call& c, size_t i) {
  switch (c.args[i].kind) {
    case ArgKind::real: return p.add(DType::f64, Strength::number);
    case ArgKind::integer:
    case ArgKind::symbolic: return p.add(DType::i64, Strength::number);
    case ArgKind::boolean: return p.add(DType::boolean, Strength::number);
    default: return p.add(c.type(i).dtype, strength(c.type(i)));
  }
}

// Fast path: tensors of one type need no promotion.
bool are_promoted_already(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype) {
  for (size_t i : params)
    if (c.args[i].kind != ArgKind::value) return false;
  const TensorType& first = c.type(*params.begin());
  if (first.weak || (to_real_dtype && !is_real(first.dtype))) return false;
  for (auto i = params.begin() + 1; i != params.end(); ++i)
    if (!(c.type(*i) == first)) return false;
  return true;
}

// Whether all are plain numbers, some of them live.
bool are_live_numbers(const Call& c, std::initializer_list<size_t> params) {
  bool live = false;
  for (size_t i : params) {
    if (!is_plain_number(c, i)) return false;
    live = live || c.args[i].kind == ArgKind::value;
  }
  return live;
}
// The dtype of a result computed from plain numbers only: f64 or i64, as numbers are in the host's language.
DType dtype_of_numbers(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype) {
  bool real = to_real_dtype;
  for (size_t i : params)
    real = real || c.args[i].kind == ArgKind::real || (c.args[i].kind == ArgKind::value && is_real(c.type(i).dtype));
  return real ? DType::f64 : DType::i64;
}
ComputedOperands promote_numbers(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype) {
  ComputedOperands out;
  out.dtype = dtype_of_numbers(c, params, to_real_dtype);
  for (size_t i : params) {
    const Arg& a = c.args[i];
    if (a.kind == ArgKind::value && c.type(i).dtype == out.dtype) out.live = c.builder.var(a.v);
    out.v.push_back(in_dtype(c, i, out.dtype));
  }
  return out;
}

enum class In16 : uint8_t { rounded, computed };  // what narrower reals do with a number that they do not hold

ComputedOperands promote_operands(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype,
                                  Overflow overflow, In16 narrow) {
  ComputedOperands out;
  if (are_promoted_already(c, params, to_real_dtype)) {
    for (size_t i : params) out.v.push_back(c.var(i));
    out.dtype = out.v[0].dtype();
    return out;
  }
  if (narrow == In16::computed && are_live_numbers(c, params)) return promote_numbers(c, params, to_real_dtype);
  const ScalarPlace place = choose_place(c, params);
  const DType common = common_dtype(c, [&](Promotion& p) {
    for (size_t i : params) add_operand(p, c, i);
  });
  out.dtype = to_real_dtype ? to_real(common) : common;
  DType in = out.dtype;
  if (narrow == In16::computed && is_half(in))
    for (size_t i : params)
      if (!is_exact_in_half(c, i, out.dtype)) in = compute_dtype(out.dtype);
  for (size_t i : params) {
    const Arg& a = c.args[i];
    if (a.kind != ArgKind::value && overflow == Overflow::refused && is_integer(in))
      require_fits(c, c.op.schema.params[i].name, a, in);
    Var v = a.kind == ArgKind::value ? to_device(convert(c.builder.var(a.v), in), place.device)
                                     : full(c.builder, {}, a, in, place.device);
    out.v.push_back(expand_to(v, place.shape));
  }
  return out;
}

}  // namespace

Var full(Builder& b, std::span<const Dim> shape, const Arg& number, DType dtype, Device device) {
  return b.call(Prim::full, {shape, exact_number(number), dtype, device});
}

Arg exact_number(const Arg& number) {
  const Arg plain = number.plain();
  if (is_float(plain)) return plain;
  const auto as_double = static_cast<double>(plain.i);
  const bool held = std::fabs(as_double) < 0x1p62 && static_cast<int64_t>(as_double) == plain.i;
  return held ? Arg::real(as_double) : plain;
}

bool is_plain_number(const Call& c, size_t param) {
  return is_number(c.args[param]) || (c.args[param].kind == ArgKind::value && c.type(param).weak);
}

DType dtype_of(const Call& c, size_t param) {
  const Arg& a = c.args[param];
  if (a.kind == ArgKind::value) return c.type(param).weak ? tensor_dtype(c.type(param).dtype) : c.type(param).dtype;
  return is_float(a) ? tensor_dtype(DType::f64) : a.is_integer() ? DType::i64 : DType::boolean;
}

void require_fits(const Call& c, std::string_view what, const Arg& number, DType dtype) {
  const Arg n = number.plain();
  if (fits(n, dtype)) [[likely]] return;
  const std::string types = c.types();
  c.require(false, "argument '", what, "': the value ", is_float(n) ? cat(n.f) : cat(n.i), " cannot be converted to ",
            info(dtype).pytorch, " without overflow", types.empty() ? "" : "; ", types);
}

Var in_dtype(const Call& c, size_t param, DType dtype) {
  const Arg& a = c.args[param];
  return a.kind == ArgKind::value ? convert(c.builder.var(a.v), dtype) : full(c.builder, {}, a, dtype);
}

Var convert_checked(const Call& c, size_t param, DType dtype) {
  if (is_number(c.args[param])) require_fits(c, c.op.schema.params[param].name, c.args[param], dtype);
  return in_dtype(c, param, dtype);
}

Arg number_in(const Call& c, size_t param, DType dtype) {
  const Arg& a = c.args[param];
  if (!is_integer(dtype)) return a;
  require_fits(c, c.op.schema.params[param].name, a, dtype);
  return is_float(a) ? Arg::integer(converted<int64_t>(a.f)) : a;
}

ComputedOperands computed_operands(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype,
                           Overflow overflow) {
  return promote_operands(c, params, to_real_dtype, overflow, In16::computed);
}

Var rounded(const ComputedOperands& operands, Var result) {
  Var y = convert(result, operands.dtype);
  if (!operands.live) return y;
  // The first of two alternatives determines the type of both.
  Var never = full(*y.builder, {}, Arg::boolean(false), DType::boolean);
  return y.builder->call(Prim::where, {never, operands.live, y});
}

Var computed_by(Call& c, std::string_view prim, bool to_real_dtype, Overflow overflow) {
  const ComputedOperands x = computed_operands(c, {0, 1}, to_real_dtype, overflow);
  Var y = c.builder.call(prim, {x.v[0], x.v[1]});
  return y.dtype() == x.v[0].dtype() ? rounded(x, y) : y;
}

Operands promoted(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype) {
  return promote_operands(c, params, to_real_dtype, Overflow::refused, In16::rounded).v;
}

}  // namespace thunder
