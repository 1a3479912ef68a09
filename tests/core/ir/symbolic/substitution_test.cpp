// Sizes in the place of symbols: in formulas, types and lines.
#include "ir/symbolic/substitution.h"

#include <gtest/gtest.h>

#include "ir/schema.h"
#include "support/failure.h"

namespace thunder {
namespace {

TEST(Substitution, replaces_symbols_by_numbers_and_by_formulas_of_others) {
  Dims from, to;
  const Dim s0 = from.symbol(4), s1 = from.symbol(6), formula = (s0 * 2 + s1) / 3 - s1 % 4;
  Substitution numbers({Dim(5), Dim(11)});
  EXPECT_EQ(numbers(formula), Dim((5 * 2 + 11) / 3 - 11 % 4));
  EXPECT_EQ(numbers(Dim(7)), Dim(7));
  const Dim t = to.symbol(9);
  Substitution formulas({t, t + 1});
  EXPECT_EQ(formulas(s0 * 2 + s1), t * 2 + (t + 1));
}

TEST(Substitution, throws_where_a_formula_has_no_value) {
  Dims from;
  const Dim s0 = from.symbol(4), s1 = from.symbol(6);
  Substitution zero({Dim(5), Dim(0)});
  EXPECT_EQ(code_of([&] { zero(s0 / s1); }), Code::invalid_argument);
}

TEST(Specialisation, keeps_values_and_the_lines_without_symbols) {
  const Op exp(parse_schema("exp(tensor x) -> tensor")), reshape(parse_schema("reshape(tensor x, int[] to) -> tensor"));
  auto store = std::make_shared<Store>();
  const Dim s = store->dims().symbol(4);
  Trace trace;
  trace.store = store;
  TensorType type;
  type.dtype = DType::f32, type.shape = {s, 3};
  const ValueId x = store->add(type);
  trace.inputs = {{x, Source::argument, 0, "x"}};
  const Arg one[] = {Arg::value(x)};
  const ValueId y = store->add(type);
  trace.nodes.push_back(store->node(&exp, one, {&y, 1}, {}, nullptr));
  TensorType flat = type;
  flat.shape = {s * 3};
  const ValueId z = store->add(flat);
  const Dim to[] = {s * 3};
  const Arg reshaped[] = {Arg::value(y), Arg::dims(to)};
  trace.nodes.push_back(store->node(&reshape, reshaped, {&z, 1}, {}, nullptr));
  trace.outputs = {z};
  Substitution sizes({Dim(5)});
  const Trace sized = Specialisation(store, sizes)(trace);
  EXPECT_EQ(sized.type(x).shape, (Shape{5, 3}));
  EXPECT_EQ(sized.type(z).shape, (Shape{15}));
  EXPECT_EQ(sized.nodes[0], trace.nodes[0]);
  EXPECT_EQ(sized.nodes[1]->args[1].dim_list()[0], Dim(15));
  EXPECT_EQ(trace.nodes[1]->args[1].dim_list()[0], s * 3) << "the symbolic trace stays what it was";
}

}  // namespace
}  // namespace thunder
