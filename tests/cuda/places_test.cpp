// nonzero and what selects by masks on a device (places): the CPU's places, in its order.
// covers: core/executors/cuda/rules/places.cpp
#include "cuda/cuda.h"
#include "tracer/eager.h"

namespace thunder::test {
namespace {

struct CudaPlaces : CudaTest {
  Ref<CompileOptions> all = make<CompileOptions>();

  // Ones where the number is at least `from`, of numbers in [-1, 1].
  void agrees(std::vector<int64_t> shape, double from, int64_t rows) {
    auto f = compile([=](Scope& s, const Values& in, Values& out) {
      Tensor* mask = op(s, "ge", {any(in[0].tensor), Any::real(from)});
      Tensor* places = op(s, "nonzero_static", {any(mask), Any::integer(rows), Any::integer(-7)});
      out.push(Ref<Tensor>(op(s, "mul", {any(places), Any::real(1)})));
    }, all.get());
    const Ref<Tensor> x = random(shape, 1), there = on_gpu(x);
    const Floats expected = CompiledTest::run(*f, {x.get()});
    ASSERT_FALSE(expected.empty()) << error;
    EXPECT_EQ(run(*f, {there.get()}), expected) << error;
    EXPECT_EQ(executor_of(*f, "prims.nonzero"), "cuda");
  }
};

TEST_F(CudaPlaces, are_in_the_order_of_rows) {
  agrees({5, 7}, 0, 20);
  agrees({3, 4, 50, 11}, 0.5, 2000);
}

TEST_F(CudaPlaces, of_many_elements_are_counted_by_part) {
  agrees({30000}, 0.9, 30000);
  agrees({30000}, -2, 30000);
}

TEST_F(CudaPlaces, that_are_too_few_are_filled_and_too_many_are_cut) {
  agrees({100}, 2, 3);
  agrees({9000}, 0, 10);
}

TEST_F(CudaPlaces, of_a_mask_select_elements) {
  const auto selected = [&](const Ref<Tensor>& x) {
    EagerScope scope(context->scope_environment(), false);
    Tensor* out = op(scope, "masked_select", {any(x), any(op(scope, "ge", {any(x), Any::real(0.25)}))});
    EXPECT_EQ(scope.status(), nullptr);
    return data(*out);
  };
  const Ref<Tensor> x = random({90, 70}, 1);
  EXPECT_EQ(selected(on_gpu(x)), selected(x));
}

}  // namespace
}  // namespace thunder::test
