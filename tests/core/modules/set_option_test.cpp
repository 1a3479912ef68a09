// Options of layers that are set after they were made.
#include "modules/set_option.h"

#include "fixture.h"

namespace thunder {
namespace {

struct SetOption : Modules {
  Ref<Module> of(std::string_view kind, std::initializer_list<Any> args) {
    return make_module(context->module_environment(), kind, {args.begin(), args.size()});
  }
  void set(const Ref<Module>& m, std::string_view name, const Any& value) {
    set_option(context->module_environment(), *m, name, value);
  }
};

TEST_F(SetOption, is_live_where_tensors_stay_what_they_are) {
  const auto norm = of("BatchNorm1d", {Any::integer(3)});
  const uint64_t before = norm->generation()->load();
  set(norm, "momentum", Any::real(0.5));
  EXPECT_EQ(norm->real("momentum"), 0.5);
  EXPECT_GT(norm->generation()->load(), before);
  set(norm, "momentum", Any());
  EXPECT_EQ(norm->option("momentum").kind, ArgKind::none);
}

TEST_F(SetOption, counts_no_change_where_the_value_is_the_same) {
  const auto dropout = of("Dropout", {Any::real(0.5)});
  const uint64_t before = dropout->generation()->load();
  set(dropout, "p", Any::real(0.5));
  EXPECT_EQ(dropout->generation()->load(), before);
}

TEST_F(SetOption, is_refused_where_it_decides_what_the_layer_is_made_of) {
  const auto linear = of("Linear", {Any::integer(2), Any::integer(3)});
  const std::string why = thrown([&] { set(linear, "in_features", Any::integer(4)); });
  EXPECT_NE(why.find("in_features is 2"), std::string::npos) << why;
  EXPECT_NE(why.find("Linear(in_features=4, ...)"), std::string::npos) << why;
  EXPECT_EQ(linear->integer("in_features"), 2);
}

TEST_F(SetOption, is_checked_as_when_a_layer_is_made) {
  const auto dropout = of("Dropout", {Any::real(0.5)});
  EXPECT_NE(thrown([&] { set(dropout, "p", Any::real(2)); }).find("p must lie in [0, 1]"), std::string::npos);
  EXPECT_NE(thrown([&] { set(dropout, "q", Any::real(0)); }).find("no option 'q'"), std::string::npos);
  EXPECT_EQ(dropout->real("p"), 0.5);
}

TEST_F(SetOption, draws_no_random_numbers) {
  const auto convolution = of("Conv2d", {Any::integer(1), Any::integer(2), Any::integer(3)});
  const auto* state = reinterpret_cast<const int64_t*>(context->random()->data());
  const int64_t draws = state[1];
  set(convolution, "stride", Any::integer(2));
  EXPECT_EQ(state[1], draws);
  EXPECT_EQ(convolution->option("stride").ints, (std::vector<int64_t>{2, 2}));
}

TEST_F(SetOption, a_tensor_that_is_taken_away_is_none) {
  const auto linear = of("Linear", {Any::integer(2), Any::integer(3)});
  linear->remove_tensor("bias");
  EXPECT_EQ(linear->find_tensor("bias"), nullptr);
  EXPECT_FALSE(linear->flag("bias"));
  linear->remove_tensor("bias");  // which is no longer there
}

}  // namespace
}  // namespace thunder
