#include "ir/limits.h"

#include <cmath>

namespace thunder {

Limits limits_of(DType dtype) {
  const DTypeInfo& row = info(dtype);
  Limits out;
  if (row.category != Category::real) {
    out.integer_max = row.digits == 64 ? ~uint64_t{0} : (uint64_t{1} << row.digits) - 1;
    out.integer_min = row.is_signed ? -static_cast<int64_t>(out.integer_max) - 1 : 0;
    out.min = static_cast<double>(out.integer_min), out.max = static_cast<double>(out.integer_max);
    return out;
  }
  // IEEE 754: the exponents reach as far down as up, less one.
  const int least = 1 - std::ilogb(row.largest);
  out.max = row.largest, out.min = -row.largest;
  out.eps = std::ldexp(1.0, 1 - row.digits);
  out.smallest_normal = std::ldexp(1.0, least);
  out.smallest_subnormal = std::ldexp(1.0, least + 1 - row.digits);
  out.resolution = std::pow(10.0, -std::floor((row.digits - 1) * std::log10(2.0)));
  return out;
}

}  // namespace thunder
