#include "ir/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace thunder {
namespace {

constexpr auto B = DType::boolean, U = DType::u8, I = DType::i32, L = DType::i64, H = DType::bf16, F = DType::f32,
               D = DType::f64;
constexpr std::array kOrder = {B, U, I, L, H, F, D};
using Table = std::array<std::array<DType, 7>, 7>;

// torch.result_type(a, b), rows a, columns b, both in the order of kOrder.
constexpr Table kBothTensors = {{{B, U, I, L, H, F, D},
                                 {U, U, I, L, H, F, D},
                                 {I, I, I, L, H, F, D},
                                 {L, L, L, L, H, F, D},
                                 {H, H, H, H, H, F, D},
                                 {F, F, F, F, F, F, D},
                                 {D, D, D, D, D, D, D}}};
// a has dimensions, b has none: b counts only if its category is higher.
constexpr Table kTensorAndScalar = {{{B, U, I, L, H, F, D},
                                     {U, U, U, U, H, F, D},
                                     {I, I, I, I, H, F, D},
                                     {L, L, L, L, H, F, D},
                                     {H, H, H, H, H, H, H},
                                     {F, F, F, F, F, F, F},
                                     {D, D, D, D, D, D, D}}};
// a is a tensor, with or without dimensions; b is True, 1 or 1.0.
struct Number {
  DType dtype;
  std::array<DType, 7> with;
};
constexpr std::array kTensorAndNumber = {
    Number{B, {B, U, I, L, H, F, D}},
    Number{L, {L, U, I, L, H, F, D}},
    Number{D, {F, F, F, F, H, F, D}},
};

using Operand = std::pair<DType, Strength>;
// In every order of the operands.
DType promoted(std::vector<Operand> operands) {
  std::sort(operands.begin(), operands.end());
  DType result = DType::none;
  do {
    Promotion p;
    for (auto& [dtype, strength] : operands) p.add(dtype, strength);
    if (result == DType::none) result = p.dtype();
    EXPECT_EQ(p.dtype(), result) << "the order of operands must not matter";
  } while (std::next_permutation(operands.begin(), operands.end()));
  return result;
}
DType promoted(DType a, Strength x, DType b, Strength y) { return promoted({{a, x}, {b, y}}); }

TEST(Promotion, of_equal_strengths_is_torchs) {
  for (auto strength : {Strength::tensor, Strength::scalar})
    for (size_t i = 0; i < 7; i++)
      for (size_t j = 0; j < 7; j++)
        EXPECT_EQ(promoted(kOrder[i], strength, kOrder[j], strength), kBothTensors[i][j])
            << name(kOrder[i]) << " " << name(kOrder[j]);
}

TEST(Promotion, of_a_tensor_and_a_0d_tensor_is_torchs) {
  for (size_t i = 0; i < 7; i++)
    for (size_t j = 0; j < 7; j++)
      EXPECT_EQ(promoted(kOrder[i], Strength::tensor, kOrder[j], Strength::scalar), kTensorAndScalar[i][j])
          << name(kOrder[i]) << " " << name(kOrder[j]);
}

TEST(Promotion, of_a_tensor_and_a_number_is_torchs) {
  for (auto& row : kTensorAndNumber)
    for (auto strength : {Strength::tensor, Strength::scalar})
      for (size_t i = 0; i < 7; i++)
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
  EXPECT_EQ(find_dtype("F32"), std::nullopt);
  EXPECT_EQ(find_dtype(""), std::nullopt);
}

TEST(DType, knows_only_what_it_lists) {
  EXPECT_TRUE(known(F));
  EXPECT_FALSE(known(DType::none));
  EXPECT_FALSE(known(static_cast<DType>(0x0210)));
  EXPECT_EQ(name(DType::none), "none");
}

TEST(DType, has_the_size_that_its_value_says) {
  for (auto& row : all_dtypes()) EXPECT_EQ(row.size * 8, static_cast<int>(row.dtype) & 0xff) << row.name;
}

TEST(DType, computes_in_real_types) {
  EXPECT_EQ(to_real(L), F);
  EXPECT_EQ(to_real(H), H);
  EXPECT_EQ(compute_dtype(H), F);
  EXPECT_EQ(compute_dtype(D), D);
}

}  // namespace
}  // namespace thunder
