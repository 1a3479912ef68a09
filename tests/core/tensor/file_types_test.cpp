#include "tensor/file_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace thunder {
namespace {

float half(uint16_t bits) {
  float out = 0;
  decode(FileType::f16, false, reinterpret_cast<const std::byte*>(&bits), 1, reinterpret_cast<std::byte*>(&out));
  return out;
}

TEST(FileTypes, widen_every_half_as_its_formula_says) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
    const float sign = bits & 0x8000 ? -1.0f : 1.0f, got = half(static_cast<uint16_t>(bits));
    if (exponent == 31 && fraction) {
      EXPECT_TRUE(std::isnan(got)) << bits;
      continue;
    }
    const float magnitude = exponent == 31 ? INFINITY
                            : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                            : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    ASSERT_EQ(got, sign * magnitude) << bits;
    ASSERT_EQ(std::signbit(got), sign < 0) << bits;
  }
}

TEST(FileTypes, never_shrink) {
  for (int i = 0; i <= static_cast<int>(FileType::f64); i++) {
    const auto type = static_cast<FileType>(i);
    EXPECT_GE(size_of(dtype_of(type)), size_of(type)) << i;
  }
}

TEST(FileTypes, swap_bytes_in_place) {
  uint32_t word = 0x01020304;
  auto* bytes = reinterpret_cast<std::byte*>(&word);
  decode(FileType::f32, true, bytes, 1, bytes);
  EXPECT_EQ(word, 0x04030201u);
  decode(FileType::f32, false, bytes, 1, bytes);
  EXPECT_EQ(word, 0x04030201u);
}

TEST(FileTypes, find_the_first_byte_that_is_no_bool) {
  const std::byte bytes[] = {std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  EXPECT_EQ(find_bad_bool(bytes), 2u);
  EXPECT_EQ(find_bad_bool(std::span(bytes).first(2)), std::nullopt);
}

}  // namespace
}  // namespace thunder
