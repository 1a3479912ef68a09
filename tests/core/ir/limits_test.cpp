// The limits of element types against those of the compiler's own, and of the two that it has not.
#include "ir/limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace thunder {
namespace {

template <class T>
void expect_real(DType dtype) {
  using L = std::numeric_limits<T>;
  const Limits limits = limits_of(dtype);
  EXPECT_EQ(limits.max, static_cast<double>(L::max()));
  EXPECT_EQ(limits.min, static_cast<double>(L::lowest()));
  EXPECT_EQ(limits.eps, static_cast<double>(L::epsilon()));
  EXPECT_EQ(limits.smallest_normal, static_cast<double>(L::min()));
  EXPECT_EQ(limits.smallest_subnormal, static_cast<double>(L::denorm_min()));
  EXPECT_DOUBLE_EQ(limits.resolution, std::pow(10.0, -L::digits10));
}
template <class T>
void expect_integer(DType dtype) {
  using L = std::numeric_limits<T>;
  EXPECT_EQ(limits_of(dtype).integer_min, static_cast<int64_t>(L::min())) << name(dtype);
  EXPECT_EQ(limits_of(dtype).integer_max, static_cast<uint64_t>(L::max())) << name(dtype);
  EXPECT_EQ(limits_of(dtype).eps, 0);
}

TEST(Limits, are_those_of_the_compiler) {
  expect_real<float>(DType::f32), expect_real<double>(DType::f64);
  expect_integer<int8_t>(DType::i8), expect_integer<int16_t>(DType::i16), expect_integer<int32_t>(DType::i32);
  expect_integer<int64_t>(DType::i64), expect_integer<uint8_t>(DType::u8), expect_integer<uint16_t>(DType::u16);
  expect_integer<uint32_t>(DType::u32), expect_integer<uint64_t>(DType::u64), expect_integer<bool>(DType::boolean);
}

TEST(Limits, of_16_bits_are_those_of_pytorch) {
  const Limits half = limits_of(DType::f16), brain = limits_of(DType::bf16);
  EXPECT_EQ(half.max, 65504);
  EXPECT_EQ(half.eps, 0.0009765625);
  EXPECT_EQ(half.smallest_normal, 6.103515625e-05);
  EXPECT_EQ(half.resolution, 0.001);
  EXPECT_EQ(brain.max, 3.3895313892515355e+38);
  EXPECT_EQ(brain.eps, 0.0078125);
  EXPECT_EQ(brain.smallest_normal, 1.1754943508222875e-38);
  EXPECT_EQ(brain.resolution, 0.01);
}

}  // namespace
}  // namespace thunder
