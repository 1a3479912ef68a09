// Arguments by name.
#include "support/eager.h"

namespace thunder {
namespace {

struct ArgumentNames : testing::Test {
  Eager e;
  Tensor* named(std::string_view op, std::vector<Any> args, std::vector<const char*> names) {
    return e.scope().invoke(op, args, names.data(), nullptr, 0, nullptr);
  }
  std::string error() { return e.scope().status() ? e.scope().status()->message() : ""; }
};

TEST_F(ArgumentNames, of_numpy_stand_for_dim_and_keepdim) {
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor* sums = named("sum", {any(x), Any::integer(1), Any::boolean(true)}, {nullptr, "axis", "keepdims"});
  EXPECT_EQ(values(sums), (Doubles{6, 15}));
  EXPECT_EQ(sums->type().rank(), 2u);
  EXPECT_EQ(values(named("softmax", {any(e.tensor({2}, {0, 0})), Any::integer(0)}, {nullptr, "axis"})),
            (Doubles{0.5, 0.5}));
}

TEST_F(ArgumentNames, are_given_once_under_either_name) {
  Tensor* x = e.tensor({2}, {1, 2});
  named("sum", {any(x), Any::integer(0), Any::integer(0)}, {nullptr, "dim", "axis"});
  EXPECT_EQ(error(), "sum: argument 'dim' is given twice");
}

TEST_F(ArgumentNames, of_numpy_mean_nothing_where_there_is_no_dim) {
  named("where", {any(e.tensor({2}, {1, 2})), Any::integer(0)}, {nullptr, "axis"});
  EXPECT_EQ(error().find("where: unknown argument 'axis'"), 0u) << error();
}

}  // namespace
}  // namespace thunder
