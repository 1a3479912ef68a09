// Ops whose results' shapes depend on values: eager, taped, and refused while they are recorded.
// covers: core/tracer/recorder.cpp
#include <cmath>

#include "support/eager.h"
#include "support/failure.h"
#include "tracer/recorder.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

Tensor* mask(Eager& e, Ints shape, const Doubles& v) { return e.tensor(std::move(shape), v, DType::boolean); }
Any list(std::span<Tensor* const> tensors) {
  Any a;
  a.kind = ArgKind::values, a.count = static_cast<uint32_t>(tensors.size()), a.ts = tensors.data();
  return a;
}
Tensor* total(Eager& e, Tensor* t) { return e.run("prims.sum", {any(t), any(Ints{0})}); }

TEST(MaskedSelect, gives_its_gradient_to_what_it_picked) {
  Eager e(true);
  Tensor *x = e.tensor({2, 2}, {1, 2, 3, 4}), *row = mask(e, {2}, {0, 1});
  Tensor* y = e.run("masked_select", {any(x), any(row)});
  EXPECT_EQ(values(y), (Doubles{2, 4}));
  EXPECT_EQ(values(e.grad(total(e, e.run("mul", {any(y), any(y)})), {x})[0]), (Doubles{0, 4, 0, 8}));
}

TEST(RepeatInterleave, adds_up_the_gradients_of_repeated_elements) {
  Eager e(true);
  Tensor *x = e.tensor({3}, {1, 2, 3}), *times = e.tensor({3}, {2, 0, 3}, DType::i64);
  Tensor* y = e.run("repeat_interleave", {any(x), any(times)});
  EXPECT_EQ(values(y), (Doubles{1, 1, 3, 3, 3}));
  EXPECT_EQ(values(e.grad(total(e, y), {x})[0]), (Doubles{2, 0, 3}));
}

TEST(Index, takes_masks_for_the_places_where_they_hold) {
  Eager e(true);
  Tensor *x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6}), *where = mask(e, {2, 3}, {1, 0, 0, 0, 1, 1});
  Tensor* y = e.run("index", {any(x), list({&where, 1})});
  EXPECT_EQ(values(y), (Doubles{1, 5, 6}));
  EXPECT_EQ(values(e.grad(total(e, y), {x})[0]), (Doubles{1, 0, 0, 0, 1, 1}));
}

TEST(IndexPut, stores_one_value_where_a_mask_holds_without_a_look_at_it) {
  const Registry registry;
  Recorder recorder(registry, std::make_shared<Store>());
  TensorType x, mask;
  x.shape = {4, 3}, x.dtype = DType::f32, mask.shape = {4}, mask.dtype = DType::boolean;
  const Var at = recorder.var(recorder.store().add(x)), flags = recorder.var(recorder.store().add(mask));
  Var put = recorder.call("index_put", {at, ValueList{flags.id}, 2.5, false});
  EXPECT_EQ(put.shape(), x.shape);
}

TEST(Unique, takes_each_nan_for_another) {
  Eager e;
  Tensor* x = e.tensor({5}, {NAN, 2, NAN, 1, 2});
  const Doubles found = values(e.run("unique", {any(x)}));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(found[1], 2);
  EXPECT_TRUE(std::isnan(found[2]) && std::isnan(found[3]));
}

TEST(Bincount, sums_weights_in_f64_unless_they_are_f32) {
  Eager e;
  Tensor* x = e.tensor({3}, {1, 3, 1}, DType::i32);
  EXPECT_EQ(values(e.run("bincount", {any(x)})), (Doubles{0, 2, 0, 1}));
  EXPECT_EQ(e.run("bincount", {any(x), any(e.tensor({3}, {1, 2, 3}))})->type().dtype, DType::f32);
  EXPECT_EQ(e.run("bincount", {any(x), any(e.tensor({3}, {1, 2, 3}, DType::bf16))})->type().dtype, DType::f64);
}

TEST(Recorder, refuses_shapes_that_depend_on_values_and_says_what_to_do) {
  const Registry registry;
  Recorder recorder(registry, std::make_shared<Store>());
  TensorType x;
  x.shape = {4}, x.dtype = DType::f32;
  const Var at = recorder.var(recorder.store().add(x));
  const std::string message = failure_of([&] { recorder.call("nonzero", {at}); });
  EXPECT_PRED2(contains, message, "nonzero: the shape of its result depends on values");
  EXPECT_PRED2(contains, message, "nonzero_static(x, size)");
  EXPECT_EQ(recorder.call("nonzero_static", {at, 3}).shape(), (Shape{3, 1}));
}

}  // namespace
}  // namespace thunder
