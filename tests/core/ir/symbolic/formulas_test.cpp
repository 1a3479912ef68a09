// Numbers that are formulas of symbols, in one pass for other values of these, and conditions of them.
// covers: core/ir/symbolic/conditions.cpp
#include "ir/symbolic/formulas.h"

#include <gtest/gtest.h>

#include "ir/symbolic/conditions.h"
#include "support/failure.h"

namespace thunder {
namespace {

TEST(Formulas, have_the_values_that_dims_evaluate_to) {
  Dims dims;
  const Dim s0 = dims.symbol(4), s1 = dims.symbol(6);
  const Dim all[] = {Dim(7), s0, s1 * 8, (s0 * 2 + s1) / 3 - s1 % 4, s0 * s1 * s0};
  Formulas formulas;
  std::vector<FormulaRef> at;
  for (Dim d : all) at.push_back(formulas.add(d));
  const std::vector<int64_t> symbols = {5, 11}, values = formulas.evaluate(symbols);
  for (size_t i = 0; i < at.size(); i++)
    EXPECT_EQ(Formulas::value(at[i], values), Dims::evaluate(all[i], symbols)) << i;
}

TEST(Formulas, give_equal_expressions_one_place) {
  Dims dims;
  const Dim s = dims.symbol(4);
  Formulas formulas;
  const FormulaRef first = formulas.add(s * 3 + 1), again = formulas.add(s * 3 + 1), other = formulas.add(s * 3);
  EXPECT_EQ(first.at, again.at);
  EXPECT_NE(first.at, other.at);
  EXPECT_EQ(formulas.add(12).at, -1) << "a number needs none";
}

TEST(Formulas, throw_where_one_has_no_value) {
  Dims dims;
  Formulas formulas;
  formulas.add(Dim(8) / dims.symbol(4));
  EXPECT_EQ(code_of([&] { formulas.evaluate(std::vector<int64_t>{0}); }), Code::invalid_argument);
}

TEST(Conditions, hold_for_values_that_lead_to_the_same_decisions) {
  Dims dims;
  const Dim s = dims.symbol(4);
  DimReads reads(DimReads::Of::lines);
  EXPECT_TRUE(is_less(s, 10));
  EXPECT_FALSE(is_equal(s % 4, 1));
  const Conditions conditions(reads.conditions());
  const auto hold = [&](int64_t value) { return conditions.hold_for(std::vector<int64_t>{value}); };
  EXPECT_TRUE(hold(4));
  EXPECT_TRUE(hold(6));
  EXPECT_FALSE(hold(10)) << "not less than 10";
  EXPECT_FALSE(hold(5)) << "5 % 4 is 1";
}

}  // namespace
}  // namespace thunder
