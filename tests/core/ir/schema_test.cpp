#include "ir/schema.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/failure.h"

namespace thunder {
namespace {

std::string refusal(const std::string& text) {
  return failure_of([&] { parse_schema(text); });
}

TEST(Schema, keeps_names_kinds_and_defaults) {
  auto s = parse_schema("sum(tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor");
  EXPECT_EQ(s.name, "sum");
  ASSERT_EQ(s.params.size(), 4u);
  EXPECT_EQ(s.params[1].kind, ParamKind::dims);
  EXPECT_TRUE(s.params[1].optional);
  EXPECT_EQ(s.params[1].fallback.kind, ArgKind::none);
  EXPECT_FALSE(s.params[0].has_default);
  EXPECT_TRUE(same(s.params[2].fallback, Arg::boolean(false)));
  EXPECT_EQ(s.find("keepdim"), 2);
  EXPECT_EQ(s.find("keep"), -1);
  EXPECT_EQ(s.results, std::vector<ParamKind>{ParamKind::tensor});
  EXPECT_FALSE(s.variadic());
}

TEST(Schema, reads_every_kind_of_default) {
  auto s = parse_schema(
      "x(int a=-3, float b=1e-05, float c=2, str d='it', int[] e=[1, -2], int[] f=[], tensor|number g=1) -> tensor[]");
  const Dim two[] = {1, -2};
  EXPECT_TRUE(same(s.params[0].fallback, Arg::integer(-3)));
  EXPECT_TRUE(same(s.params[1].fallback, Arg::real(1e-5)));
  EXPECT_TRUE(same(s.params[2].fallback, Arg::real(2))) << "an integer given for a float is one";
  EXPECT_EQ(s.params[3].fallback.text(), "it");
  EXPECT_TRUE(same(s.params[4].fallback, Arg::dims(two)));
  EXPECT_EQ(s.params[5].fallback.count, 0u);
  EXPECT_TRUE(same(s.params[6].fallback, Arg::integer(1)));
  EXPECT_TRUE(s.variadic());
}

TEST(Schema, says_where_a_number_may_stand_for_a_tensor) {
  const Schema s = parse_schema("x(tensor a, tensor|number b, tensor|number? c=None, int d) -> tensor");
  const bool numbers[] = {false, true, true, false};
  for (size_t i = 0; i < 4; i++) EXPECT_EQ(s.params[i].number, numbers[i]) << i;
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(s.params[i].kind, ParamKind::tensor) << i;
  EXPECT_TRUE(s.params[2].optional);
  EXPECT_THROW(parse_schema("x(tensor a=1) -> tensor"), Error) << "a default that the kind refuses";
  EXPECT_THROW(parse_schema("x(int|number a) -> tensor"), Error);
}

TEST(Schema, gives_each_default_list_its_own_kind) {
  auto s = parse_schema("x(float[] a=[1, 0.5], tensor[] b=[]) -> tensor");
  const double two[] = {1, 0.5};
  EXPECT_TRUE(same(s.params[0].fallback, Arg::reals(two)));
  EXPECT_TRUE(same(s.params[1].fallback, Arg::values({})));
  EXPECT_PRED2(contains, refusal("x(tensor[] b=[1]) -> tensor"), "a default list of tensors is empty");
}

TEST(Schema, reads_results_that_only_some_arguments_ask_for) {
  auto s = parse_schema("x(tensor a) -> (tensor, tensor?)");
  EXPECT_EQ(s.results.size(), 2u);
  EXPECT_EQ(s.optional_results, 1u);
  EXPECT_TRUE(s.variadic());
  EXPECT_FALSE(s.lists());
  EXPECT_PRED2(contains, refusal("x(tensor a) -> (tensor?, tensor)"), "results that may be missing stand last");
  EXPECT_PRED2(contains, refusal("x(tensor a) -> (tensor?)"), "the first result is always there");
}

TEST(Schema, names_results) {
  const Schema s = parse_schema("x(tensor a) -> (tensor values, tensor? indices)");
  EXPECT_EQ(s.result_names, (std::vector<std::string>{"values", "indices"}));
  EXPECT_EQ(s.optional_results, 1u);
  EXPECT_TRUE(parse_schema("x(tensor a) -> (tensor, tensor)").result_names.empty());
  EXPECT_PRED2(contains, refusal("x(tensor a) -> (tensor values, tensor)"), "some results have names, others none");
}

TEST(Schema, says_where_a_string_may_stand_for_a_list) {
  const Schema s = parse_schema("x(int[]|str a=[0], int[] b=[1]) -> tensor");
  EXPECT_TRUE(s.params[0].text);
  EXPECT_EQ(s.params[0].kind, ParamKind::dims);
  EXPECT_FALSE(s.params[1].text);
  EXPECT_THROW(parse_schema("x(int|str a) -> tensor"), Error);
}

TEST(Schema, keeps_its_defaults_when_moved) {
  auto s = parse_schema("x(str a='text', int[] b=[7]) -> (tensor, tensor)");
  Schema moved = std::move(s);
  EXPECT_EQ(moved.params[0].fallback.text(), "text");
  EXPECT_EQ(moved.params[1].fallback.dim_list()[0], Dim(7));
  EXPECT_EQ(moved.results.size(), 2u);
}

TEST(Schema, says_where_it_stops_understanding) {
  EXPECT_PRED2(contains, refusal(""), "expected a name at column 1");
  EXPECT_PRED2(contains, refusal("x"), "expected '(' at column 2");
  EXPECT_PRED2(contains, refusal("x(tensor a"), "expected ','");
  EXPECT_PRED2(contains, refusal("x(tensor)"), "expected a name");
  EXPECT_PRED2(contains, refusal("x(tensr a) -> tensor"), "unknown kind 'tensr'");
  EXPECT_PRED2(contains, refusal("x(tensor a tensor b) -> tensor"), "expected ','");
  EXPECT_PRED2(contains, refusal("x(tensor a) tensor"), "expected '->'");
  EXPECT_PRED2(contains, refusal("x(tensor a) -> tensor tensor"), "unexpected text");
  EXPECT_PRED2(contains, refusal("x(tensor a, int a) -> tensor"), "a second parameter 'a'");
  EXPECT_PRED2(contains, refusal("x(str a='b) -> tensor"), "expected a closing quote");
}

TEST(Schema, refuses_defaults_of_another_kind) {
  EXPECT_PRED2(contains, refusal("x(int a=1.5) -> tensor"), "expected an integer");
  EXPECT_PRED2(contains, refusal("x(int[] a=[1.5]) -> tensor"), "expected an integer");
  EXPECT_PRED2(contains, refusal("x(int a=99999999999999999999) -> tensor"), "does not fit in 64 bits");
  EXPECT_PRED2(contains, refusal("x(int a=None) -> tensor"), "expected a default value");
  EXPECT_PRED2(contains, refusal("x(bool a=1) -> tensor"), "expected a default of kind bool");
  EXPECT_PRED2(contains, refusal("x(str? a=3) -> tensor"), "expected a default of kind str or None");
  EXPECT_PRED2(contains, refusal("x(int a=) -> tensor"), "expected a default value");
}

TEST(Schema, survives_every_beginning_of_itself) {
  const std::string text = "x.y(tensor[] a, int[]? b=[1, 2], str c='d', float e=-1e-3) -> (tensor, tensor)";
  for (size_t n = 0; n < text.size(); n++) EXPECT_PRED2(contains, refusal(text.substr(0, n)), " at column ");
}

TEST(Arg, compares_by_content_and_floats_by_bits) {
  const double zeros[] = {0.0}, negative[] = {-0.0};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(same(Arg::real(0.0), Arg::real(-0.0)));
  EXPECT_TRUE(same(Arg::real(nan), Arg::real(nan)));
  EXPECT_FALSE(same(Arg::reals(zeros), Arg::reals(negative)));
  EXPECT_FALSE(same(Arg::integer(1), Arg::real(1)));
  EXPECT_TRUE(same(Arg::string("ab"), Arg::string(std::string("ab"))));
  EXPECT_NE(hash(Arg::string("ab"), 0), hash(Arg::string("ba"), 0));
  EXPECT_EQ(hash(Arg::string("ab"), 5), hash(Arg::string(std::string("ab")), 5));
}

}  // namespace
}  // namespace thunder
