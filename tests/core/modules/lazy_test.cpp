// Lazy kinds: what they read off the first input, and what they are from then on.
#include "fixture.h"
#include "modules/text.h"

namespace thunder {
namespace {

struct LazyKinds : Modules {
  static std::string text_of(const Ref<Module>& m) { return module_text(*m); }
};

TEST_F(LazyKinds, become_the_plain_kind_at_the_first_call) {
  auto m = module("LazyLinear", {Any::integer(3)});
  EXPECT_TRUE(m->tensors().empty());
  EXPECT_EQ(text_of(m), "LazyLinear(out_features=3, bias=True)");
  seed(5);
  auto y = eager(m, {wave({2, 4})});
  ASSERT_TRUE(y) << error;
  EXPECT_EQ(text_of(m), "Linear(in_features=4, out_features=3, bias=True)");
  seed(5);
  auto plain = module("Linear", {Any::integer(4), Any::integer(3)});
  EXPECT_EQ(bytes(*m->find_tensor("weight")->tensor), bytes(*plain->find_tensor("weight")->tensor))
      << "drawn as the plain one draws";
  EXPECT_EQ(floats(*y), floats(*eager(plain, {wave({2, 4})})));
  EXPECT_FALSE(eager(m, {wave({2, 5})})) << "from then on the size is fixed";
}

TEST_F(LazyKinds, may_be_called_first_while_a_function_is_traced) {
  auto m = module("LazyLinear", {Any::integer(3)});
  auto f = compile(m);
  auto y = run(*f, {wave({2, 4})});
  ASSERT_TRUE(y) << error;
  EXPECT_EQ(floats(*y), floats(*eager(m, {wave({2, 4})})));
  EXPECT_EQ(floats(*run(*f, {wave({2, 4}, 1)})), floats(*eager(m, {wave({2, 4}, 1)})));
}

TEST_F(LazyKinds, read_the_channels_with_and_without_a_batch) {
  const Any size = Any::integer(2);
  auto m = module("LazyConv2d", {Any::integer(3), size});
  ASSERT_TRUE(eager(m, {wave({1, 5, 4, 4})})) << error;
  EXPECT_EQ(m->integer("in_channels"), 5);
  auto single = module("LazyConv1d", {Any::integer(3), size});
  ASSERT_TRUE(eager(single, {wave({4, 6})})) << error;
  EXPECT_EQ(single->integer("in_channels"), 4);
  auto norm = module("LazyBatchNorm1d");
  ASSERT_TRUE(eager(norm, {wave({5, 4})})) << error;
  EXPECT_EQ(norm->integer("num_features"), 4);
  EXPECT_NE(norm->find_tensor("running_mean"), nullptr);
}

TEST_F(LazyKinds, stay_as_they_are_when_the_first_call_fails) {
  auto m = module("LazyConv2d", {Any::integer(3), Any::integer(2), Any::integer(1), Any::integer(0), Any::integer(1), Any::integer(3)});
  EXPECT_FALSE(eager(m, {wave({1, 5, 4, 4})}));
  EXPECT_NE(error.find("Conv2d"), std::string::npos) << error;
  EXPECT_TRUE(m->tensors().empty());
  EXPECT_EQ(m->kind().name(), "LazyConv2d");
  EXPECT_FALSE(eager(module("LazyLinear", {Any::integer(3)}), {wave({})}));
  EXPECT_NE(error.find("LazyLinear: the input must have at least 1 dim"), std::string::npos) << error;
}

TEST_F(LazyKinds, copies_of_one_that_was_not_called_are_settled_by_themselves) {
  auto m = module("LazyLinear", {Any::integer(3)});
  auto other = m->copy(Allocator());
  ASSERT_TRUE(eager(m, {wave({2, 4})})) << error;
  ASSERT_TRUE(eager(other, {wave({2, 5})})) << error;
  EXPECT_EQ(m->integer("in_features"), 4);
  EXPECT_EQ(other->integer("in_features"), 5);
}

}  // namespace
}  // namespace thunder
