// thunder_dtype_describe, thunder_promote_types, thunder_can_cast, thunder_result_type: what element types are like.
#include "ir/dtype.h"

#include "capi/leaf.h"
#include "capi/tensor.h"
#include "ir/limits.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

DType checked_dtype(thunder_dtype dtype) {
  const auto d = static_cast<DType>(dtype);
  check(known(d), "unknown dtype ", dtype);
  return d;
}

void add_operand(Promotion& promotion, const Any& operand, size_t i) {
  switch (operand.kind) {
    case ArgKind::value: {
      const Tensor& t = *operand.t;
      if (t.kind() == Tensor::Kind::failed) throw Error(t.failure());
      const Strength strength = t.kind() == Tensor::Kind::number ? Strength::number
                                : t.type().rank() == 0           ? Strength::scalar
                                                                 : Strength::tensor;
      return promotion.add(t.type().dtype, strength);
    }
    case ArgKind::boolean:
      return promotion.add(DType::boolean, Strength::number);
    case ArgKind::integer:
      return promotion.add(DType::i64, Strength::number);
    case ArgKind::real:
      return promotion.add(DType::f64, Strength::number);
    default:
      check(false, "operand ", i, " must be a tensor or a number, got ", kind_name(operand.kind));
  }
}

}  // namespace

extern "C" {

thunder_status* thunder_dtype_describe(thunder_dtype dtype, thunder_dtype_info* out) noexcept {
  return given(guarded(__func__, [&] {
    need(out, "out");
    const DType d = checked_dtype(dtype);
    const DTypeInfo& row = info(d);
    const Limits limits = limits_of(d);
    thunder_dtype_info made{};
    made.size = out->size;
    made.name = row.pytorch.data();
    made.bits = row.size * 8;
    made.is_real = is_real(d), made.is_signed = is_signed(d);
    made.integer_min = limits.integer_min, made.integer_max = limits.integer_max;
    made.min = limits.min, made.max = limits.max, made.eps = limits.eps;
    made.smallest_normal = limits.smallest_normal, made.smallest_subnormal = limits.smallest_subnormal;
    made.resolution = limits.resolution;
    std::memcpy(out, &made, std::min(out->size, sizeof made));
  }));
}

thunder_status* thunder_promote_types(thunder_dtype a, thunder_dtype b, thunder_dtype* out) noexcept {
  return given(guarded(__func__, [&] {
    need(out, "out");
    Promotion promotion;
    promotion.add(checked_dtype(a), Strength::tensor);
    promotion.add(checked_dtype(b), Strength::tensor);
    *out = static_cast<thunder_dtype>(promotion.dtype());
  }));
}

int32_t thunder_can_cast(thunder_dtype from, thunder_dtype to) noexcept {
  const auto a = static_cast<DType>(from), b = static_cast<DType>(to);
  return known(a) && known(b) && info(a).category <= info(b).category;
}

thunder_status* thunder_result_type(const thunder_any* operands, size_t n, thunder_dtype* out) noexcept {
  return given(guarded(__func__, [&] {
    need(out, "out"), need(operands, "operands");
    check(n > 0, "there are no operands");
    const CoreLeaves given("result_type", operands, n);
    check_args("result_type", nullptr, given.span());
    Promotion promotion;
    for (size_t i = 0; i < n; i++) add_operand(promotion, given[i], i);
    *out = static_cast<thunder_dtype>(promotion.dtype());
  }));
}

}  // extern "C"
