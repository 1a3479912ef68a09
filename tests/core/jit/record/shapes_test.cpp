// What the option dynamic_shapes says of sizes.
#include "jit/record/shapes.h"

#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct NamedSizes : CompiledTest {
  Ref<Compiled> of(Lambda::Body body, const char* shapes) {
    auto options = by_line();
    options->set("dynamic_shapes", Any::string(shapes));
    options->set("automatic_dynamic_shapes", Any::boolean(false));
    return compile(
        [this, body = std::move(body)](Scope& s, const Values& in, Values& out) {
          traced += s.tracing();
          body(s, in, out);
        },
        options.get());
  }
  int traced = 0;
};

TEST_F(NamedSizes, vary_without_a_trace_more) {
  auto f = of([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); },
              "0:s0,*");
  for (int64_t n : {3, 5, 7}) {
    const Ref<Tensor> x = random({n, 2}, 1);
    EXPECT_EQ(run(*f, {x.get()}).size(), static_cast<size_t>(2 * n)) << error;
  }
  EXPECT_EQ(traced, 1);
}

TEST_F(NamedSizes, of_other_names_may_differ_where_they_were_equal) {
  auto f = of(
      [](Scope& s, const Values& in, Values& out) {
        out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)})));
        out.push(Ref<Tensor>(op(s, "neg", {any(in[1].tensor)})));
      },
      "0:s0;1:s1");
  const Ref<Tensor> a = random({4}, 1), b = random({4}, 2), c = random({6}, 3);
  run(*f, {a.get(), b.get()});
  EXPECT_EQ(run(*f, {a.get(), c.get()}).size(), 4u) << error;
  EXPECT_EQ(traced, 1);
}

TEST_F(NamedSizes, that_are_not_what_is_said_of_them_are_an_error) {
  auto body = [](Scope&, const Values& in, Values& out) { out.push(in[0].tensor); };
  const Ref<Tensor> x = random({4, 3}, 1);
  const auto why = [&](const char* shapes) {
    error.clear();
    run(*of(body, shapes), {x.get()});
    return error;
  };
  EXPECT_PRED2(contains, why("0:s0,(s0*2)"), "says that a size is (s0*2) = 8, it is 3");
  EXPECT_PRED2(contains, why("0:s0"), "says 1 sizes, which the argument has not");
  EXPECT_PRED2(contains, why("4:s0,s1"), "is about no tensor or integer");
  EXPECT_PRED2(contains, why("0:s0,(s0+"), "is no formula of sizes");
}

}  // namespace
}  // namespace thunder::test
