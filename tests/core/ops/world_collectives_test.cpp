// Collectives as ops: the axes of a context, and what they refuse.
#include "ops/world_collectives.h"

#include <gtest/gtest.h>

#include "support/echo_ranks.h"
#include "support/eager.h"

namespace thunder {
namespace {

TEST(Collectives, a_context_without_a_mesh_is_a_world_of_one) {
  Eager e;
  EXPECT_EQ(values(e.run("all_reduce", {any(e.tensor({2}, {1, 2}))})), (std::vector<double>{1, 2}));
  EXPECT_EQ(e.refused("all_reduce", {any(e.tensor({2}, {1, 2})), any("data")}),
            "all_reduce: there is no axis 'data': a mesh names axes, and this context has none yet");
}

TEST(Collectives, a_mean_is_a_sum_by_the_number_of_ranks) {
  Eager e;
  const auto ranks = test::set_echo_ranks(e.registry(), "data", 4);
  EXPECT_EQ(values(e.run("all_reduce", {any(e.tensor({2}, {1, 2})), any("data")})), (std::vector<double>{4, 8}));
  EXPECT_EQ(values(e.run("all_reduce", {any(e.tensor({2}, {1, 2})), any("data"), any("mean")})),
            (std::vector<double>{1, 2}));
  EXPECT_EQ(values(e.run("all_reduce", {any(e.tensor({2}, {1, 2})), any("data"), any("max")})),
            (std::vector<double>{1, 2}));
  EXPECT_EQ(ranks->calls.size(), 3u);
  EXPECT_EQ(values(e.run("axis_index", {any("data")})), std::vector<double>{3});
}

TEST(Collectives, narrow_floats_are_added_as_f32) {
  Eager e;
  const auto ranks = test::set_echo_ranks(e.registry(), "data", 3);
  Tensor* sum = e.run("all_reduce", {any(e.tensor({1}, {2}, DType::bf16)), any("data")});
  EXPECT_EQ(type(sum), "bf16[1]");
  EXPECT_EQ(values(sum), std::vector<double>{6});
  EXPECT_EQ(ranks->calls.at(0).in.dtype, DType::f32);
}

TEST(Collectives, gradients_have_no_factor_of_the_ranks_but_that_of_a_common_value) {
  Eager e(true);
  test::set_echo_ranks(e.registry(), "data", 4);
  const auto gradient = [&](std::string_view op) {
    Tensor* x = e.tensor({2}, {1, 2});
    return values(e.grad(e.run("sum", {any(e.run(op, {any(x), any("data")}))}), {x})[0]);
  };
  EXPECT_EQ(gradient("all_reduce"), (std::vector<double>{1, 1}));
  EXPECT_EQ(gradient("pvary"), (std::vector<double>{4, 4}));
}

TEST(Collectives, a_dim_that_cannot_be_divided_among_the_ranks_is_refused) {
  Eager e;
  test::set_echo_ranks(e.registry(), "data", 4);
  EXPECT_EQ(e.refused("reduce_scatter", {any(e.tensor({2, 3}, {1, 2, 3, 4, 5, 6})), any("data"), any("sum"), any(1)}),
            "reduce_scatter: dim 1 of input, f32[2, 3], cannot be divided among the 4 ranks of axis 'data'; pad it");
}

TEST(Collectives, what_was_recorded_for_other_ranks_is_not_run) {
  Registry registry;
  const auto ranks = test::set_echo_ranks(registry, "data", 4);
  const OpDef& op = registry.get("prims.all_reduce");
  float data[] = {1, 2};
  const int64_t shape = 2, stride = 1;
  const Buffer b{data, &shape, &stride, 1, DType::f32};
  const Arg args[] = {Arg::none(), Arg::string("data"), Arg::integer(2), Arg::string("sum")};
  const Ref<Status> refused = Ref<Status>::adopt(op.reference({{&b, 1}, {&b, 1}, args, &op}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message(), "prims.all_reduce: axis 'data' had 2 ranks when this was recorded, and has 4 here: "
                                "record it again");
  EXPECT_TRUE(ranks->calls.empty());
}

}  // namespace
}  // namespace thunder
