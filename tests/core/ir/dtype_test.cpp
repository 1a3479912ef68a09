#include "ir/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/elements.h"

namespace thunder {
namespace {

constexpr auto B = DType::boolean, U = DType::u8, I = DType::i32, L = DType::i64, H = DType::bf16, F = DType::f32,
               D = DType::f64;
constexpr auto C = DType::i8, S = DType::i16, E = DType::f16, X = DType::none;
constexpr auto U2 = DType::u16, U4 = DType::u32, U8 = DType::u64;
constexpr std::array kOrder = {B, U, C, S, I, L, U2, U4, U8, H, E, F, D};
constexpr size_t kMany = kOrder.size();
using Table = std::array<std::array<DType, kMany>, kMany>;

// torch.promote_types(a, b), rows a, columns b, both in the order of kOrder: c10/core/ScalarType.cpp, whose table has no
// unsigned integers of more than a byte; those it refuses (X) unless the other is real, or the same.
constexpr Table kBothTensors = {{{B, U, C, S, I, L, X, X, X, H, E, F, D},
                                 {U, U, S, S, I, L, X, X, X, H, E, F, D},
                                 {C, S, C, S, I, L, X, X, X, H, E, F, D},
                                 {S, S, S, S, I, L, X, X, X, H, E, F, D},
                                 {I, I, I, I, I, L, X, X, X, H, E, F, D},
                                 {L, L, L, L, L, L, X, X, X, H, E, F, D},
                                 {X, X, X, X, X, X, U2, X, X, H, E, F, D},
                                 {X, X, X, X, X, X, X, U4, X, H, E, F, D},
                                 {X, X, X, X, X, X, X, X, U8, H, E, F, D},
                                 {H, H, H, H, H, H, H, H, H, H, F, F, D},
                                 {E, E, E, E, E, E, E, E, E, F, E, F, D},
                                 {F, F, F, F, F, F, F, F, F, F, F, F, D},
                                 {D, D, D, D, D, D, D, D, D, D, D, D, D}}};
// a has dimensions, b has none: b counts only if its category is higher.
constexpr Table kTensorAndScalar = {{{B, U, C, S, I, L, X, X, X, H, E, F, D},
                                     {U, U, U, U, U, U, U, U, U, H, E, F, D},
                                     {C, C, C, C, C, C, C, C, C, H, E, F, D},
                                     {S, S, S, S, S, S, S, S, S, H, E, F, D},
                                     {I, I, I, I, I, I, I, I, I, H, E, F, D},
                                     {L, L, L, L, L, L, L, L, L, H, E, F, D},
                                     {U2, U2, U2, U2, U2, U2, U2, U2, U2, H, E, F, D},
                                     {U4, U4, U4, U4, U4, U4, U4, U4, U4, H, E, F, D},
                                     {U8, U8, U8, U8, U8, U8, U8, U8, U8, H, E, F, D},
                                     {H, H, H, H, H, H, H, H, H, H, H, H, H},
                                     {E, E, E, E, E, E, E, E, E, E, E, E, E},
                                     {F, F, F, F, F, F, F, F, F, F, F, F, F},
                                     {D, D, D, D, D, D, D, D, D, D, D, D, D}}};
// a is a tensor, with or without dimensions; b is True, 1 or 1.0.
struct Number {
  DType dtype;
  std::array<DType, kMany> with;
};
constexpr std::array kTensorAndNumber = {
    Number{B, {B, U, C, S, I, L, U2, U4, U8, H, E, F, D}},
    Number{L, {L, U, C, S, I, L, U2, U4, U8, H, E, F, D}},
    Number{D, {F, F, F, F, F, F, F, F, F, H, E, F, D}},
};

using Operand = std::pair<DType, Strength>;
// In every order of the operands; none: refused.
DType promoted(std::vector<Operand> operands) {
  std::sort(operands.begin(), operands.end());
  DType result = DType::none;
  bool first = true;
  do {
    DType now = DType::none;
    try {
      Promotion p;
      for (auto& [dtype, strength] : operands) p.add(dtype, strength);
      now = p.dtype();
    } catch (const Error& e) {
      EXPECT_NE(e.message().find("promotion of uint16, uint32 and uint64"), std::string::npos) << e.message();
    }
    if (std::exchange(first, false)) result = now;
    EXPECT_EQ(now, result) << "the order of operands must not matter";
  } while (std::next_permutation(operands.begin(), operands.end()));
  return result;
}
DType promoted(DType a, Strength x, DType b, Strength y) { return promoted({{a, x}, {b, y}}); }

TEST(Promotion, of_equal_strengths_is_torchs) {
  for (auto strength : {Strength::tensor, Strength::scalar})
    for (size_t i = 0; i < kMany; i++)
      for (size_t j = 0; j < kMany; j++)
        EXPECT_EQ(promoted(kOrder[i], strength, kOrder[j], strength), kBothTensors[i][j])
            << name(kOrder[i]) << " " << name(kOrder[j]);
}

TEST(Promotion, of_a_tensor_and_a_0d_tensor_is_torchs) {
  for (size_t i = 0; i < kMany; i++)
    for (size_t j = 0; j < kMany; j++)
      EXPECT_EQ(promoted(kOrder[i], Strength::tensor, kOrder[j], Strength::scalar), kTensorAndScalar[i][j])
          << name(kOrder[i]) << " " << name(kOrder[j]);
}

TEST(Promotion, of_a_tensor_and_a_number_is_torchs) {
  for (auto& row : kTensorAndNumber)
    for (auto strength : {Strength::tensor, Strength::scalar})
      for (size_t i = 0; i < kMany; i++)
        EXPECT_EQ(promoted(kOrder[i], strength, row.dtype, Strength::number), row.with[i])
            << name(kOrder[i]) << " and a number of " << name(row.dtype);
}

// A plain real number is of the default dtype, f32, however it is stored.
TEST(Promotion, of_numbers_is_torchs) {
  constexpr std::array kNumbers = {B, L, D};
  constexpr std::array<std::array<DType, 3>, 3> kBothNumbers = {{{B, L, F}, {L, L, F}, {F, F, F}}};
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 3; j++)
      EXPECT_EQ(promoted(kNumbers[i], Strength::number, kNumbers[j], Strength::number), kBothNumbers[i][j])
          << name(kNumbers[i]) << " " << name(kNumbers[j]);
}

TEST(Promotion, of_many_operands_weighs_each_strength_on_its_own) {
  EXPECT_EQ(promoted({{I, Strength::tensor}, {D, Strength::scalar}, {H, Strength::tensor}}), H) << "the 0-d f64 meets a real tensor";
  EXPECT_EQ(promoted({{U, Strength::tensor}, {L, Strength::scalar}, {D, Strength::number}}), F);
  EXPECT_EQ(promoted({{B, Strength::tensor}, {U, Strength::scalar}, {L, Strength::number}}), U);
}

TEST(Promotion, of_one_operand_is_its_own) {
  for (DType d : kOrder) EXPECT_EQ(promoted({{d, Strength::tensor}}), d);
}

TEST(DType, is_found_by_our_name_and_by_torchs) {
  for (auto& row : all_dtypes()) EXPECT_EQ(find_dtype(row.name), row.dtype);
  EXPECT_EQ(find_dtype("float32"), F);
  EXPECT_EQ(find_dtype("long"), L);
  EXPECT_EQ(find_dtype("bfloat16"), H);
  EXPECT_EQ(find_dtype("half"), E);
  EXPECT_EQ(find_dtype("short"), S);
  EXPECT_EQ(find_dtype("F32"), std::nullopt);
  EXPECT_EQ(find_dtype(""), std::nullopt);
}

TEST(DType, knows_only_what_it_lists) {
  EXPECT_TRUE(known(F));
  EXPECT_FALSE(known(DType::none));
  EXPECT_FALSE(known(static_cast<DType>(0x0208)));
  EXPECT_FALSE(known(static_cast<DType>(-1)));
  EXPECT_FALSE(known(static_cast<DType>(0x0118)));
  EXPECT_EQ(name(DType::none), "none");
}

TEST(DType, has_the_size_that_its_value_says) {
  for (auto& row : all_dtypes()) EXPECT_EQ(row.size * 8, static_cast<int>(row.dtype) & 0xff) << row.name;
}

TEST(DType, computes_in_real_types) {
  EXPECT_EQ(to_real(L), F);
  EXPECT_EQ(to_real(H), H);
  EXPECT_EQ(compute_dtype(H), F);
  EXPECT_EQ(compute_dtype(E), F);
  EXPECT_EQ(compute_dtype(D), D);
}

// The least and greatest of a type, what is next to them, and the neighbour of 1.
template <class T>
std::vector<T> telling(const DTypeInfo& row) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>) return {Limits::min(), T(1), T(Limits::max() - 1), Limits::max()};
  else return {converted<T>(-row.largest), converted<T>(1 + std::ldexp(1.0, 1 - row.digits)), converted<T>(row.largest)};
}
// Whether each of them is the same number in the other type. A long double holds all of both.
template <class From, class To>
bool all_survive(const DTypeInfo& from) {
  const std::vector<From> numbers = telling<From>(from);
  return std::all_of(numbers.begin(), numbers.end(), [](From number) {
    const auto before = static_cast<Compute<From>>(number);
    const auto there = static_cast<Compute<To>>(converted<To>(before));
    return static_cast<long double>(there) == static_cast<long double>(before);
  });
}

TEST(DType, loses_nothing_only_where_every_number_survives) {
  for (auto& from : all_dtypes())
    for (auto& to : all_dtypes()) {
      if (from.dtype == B || to.dtype == B) continue;
      const bool kept = by_element(from.dtype, [&](auto a) {
        return by_element(to.dtype, [&](auto b) { return all_survive<decltype(a), decltype(b)>(from); });
      });
      const bool real_to_integer = from.category == Category::real && to.category == Category::integer;
      EXPECT_EQ(lossless(from.dtype, to.dtype), kept && !real_to_integer) << from.name << " to " << to.name;
    }
  EXPECT_TRUE(lossless(B, E));
  EXPECT_FALSE(lossless(U, B));
}

TEST(Half, widens_every_number_as_its_formula_says) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
    f16 half;
    half.bits = static_cast<uint16_t>(bits);
    const float sign = bits & 0x8000 ? -1.0f : 1.0f, got = half;
    if (exponent == 31 && fraction) {
      EXPECT_TRUE(std::isnan(got)) << bits;
      EXPECT_TRUE(std::isnan(static_cast<float>(f16(got)))) << bits;
      continue;
    }
    const float magnitude = exponent == 31   ? INFINITY
                            : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                            : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    ASSERT_EQ(got, sign * magnitude) << bits;
    ASSERT_EQ(std::signbit(got), sign < 0) << bits;
    ASSERT_EQ(f16(got).bits, bits);
  }
}

// Between each number and the next: below the middle down, above it up, in the middle to the even one.
TEST(Half, rounds_to_the_nearest_and_ties_to_even) {
  for (uint16_t bits = 0; bits < 0x7bff; bits++) {
    f16 low, high;
    low.bits = bits, high.bits = static_cast<uint16_t>(bits + 1);
    const float a = low, b = high, middle = a + (b - a) / 2;
    ASSERT_EQ(f16(middle).bits, bits % 2 ? bits + 1 : bits) << bits;
    ASSERT_EQ(f16(std::nextafter(middle, a)).bits, bits);
    ASSERT_EQ(f16(std::nextafter(middle, b)).bits, bits + 1);
    ASSERT_EQ(f16(-std::nextafter(middle, b)).bits, (bits + 1) | 0x8000);
  }
  EXPECT_EQ(f16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(f16(65520.0f).bits, 0x7c00) << "too large";
  EXPECT_EQ(f16(-INFINITY).bits, 0xfc00);
}

}  // namespace
}  // namespace thunder
