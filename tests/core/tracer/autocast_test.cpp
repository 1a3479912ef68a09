// What the rows of ops say of autocast, and what it makes of their arguments.

#include "support/eager.h"

namespace thunder {
namespace {

DType dtype(const Tensor* t) { return t->type().dtype; }

TEST(Autocast, is_said_by_every_composite_and_by_another_name_as_by_its_op) {
  Eager e;
  for (const OpDef* op : e.registry().all()) {
    EXPECT_EQ(op->autocast == CastPolicy::unsaid, op->decompose == nullptr) << op->name();
    if (op->doc != "Another name.") continue;
    EXPECT_EQ(op->autocast, e.registry().get(op->alias_of).autocast) << op->name();
  }
  EXPECT_EQ(e.registry().get("linear").autocast, CastPolicy::lower_precision_fp);
  EXPECT_EQ(e.registry().get("softmax").autocast, CastPolicy::fp32);
  EXPECT_EQ(e.registry().get("dot").autocast, CastPolicy::promote);
  EXPECT_EQ(e.registry().get("add").autocast, CastPolicy::none);
}

TEST(Autocast, computes_products_in_its_dtype_and_norms_in_f32) {
  Eager e;
  Tensor *a = e.tensor({2, 2}, {1, 2, 3, 4}), *wide = e.tensor({2, 2}, {1, 2, 3, 4}, DType::f64);
  for (DType narrow : {DType::bf16, DType::f16}) {
    e.scope().autocast = narrow;
    Tensor* product = e.run("matmul", {Any::tensor(a), Any::tensor(a)});
    EXPECT_EQ(dtype(product), narrow);
    EXPECT_EQ(dtype(e.run("softmax", {Any::tensor(product), Any::integer(1)})), DType::f32);
    EXPECT_EQ(dtype(e.run("relu", {Any::tensor(product)})), narrow) << "what has no row computes in what it gets";
    EXPECT_EQ(dtype(e.run("add", {Any::tensor(product), Any::tensor(a)})), DType::f32);
    EXPECT_EQ(dtype(e.run("matmul", {Any::tensor(wide), Any::tensor(wide)})), DType::f64) << "f64 is left alone";
  }
  e.scope().autocast = DType::none;
  EXPECT_EQ(dtype(e.run("matmul", {Any::tensor(a), Any::tensor(a)})), DType::f32);
}

TEST(Autocast, promotes_operands_to_the_widest_dtype) {
  Eager e;
  Tensor *a = e.tensor({2}, {1, 2}), *b = e.tensor({2}, {3, 4}, DType::bf16);
  EXPECT_NE(e.refused("dot", {Any::tensor(a), Any::tensor(b)}), "");
  e.scope().autocast = DType::bf16;
  EXPECT_EQ(dtype(e.run("dot", {Any::tensor(a), Any::tensor(b)})), DType::f32);
  EXPECT_EQ(dtype(e.run("dot", {Any::tensor(b), Any::tensor(b)})), DType::bf16);
}

TEST(Autocast, gradients_have_the_dtype_of_their_tensor) {
  Eager e(true);
  Tensor *x = e.tensor({2, 2}, {1, 2, 3, 4}), *w = e.tensor({2, 2}, {1, 0.5, 0.25, 2});
  e.scope().autocast = DType::bf16;
  Tensor* loss = e.run("sum", {Any::tensor(e.run("linear", {Any::tensor(x), Any::tensor(w)}))});
  EXPECT_EQ(dtype(loss), DType::f32);
  const std::vector<Tensor*> gradients = e.grad(loss, {w});
  ASSERT_EQ(e.scope().status(), nullptr);
  EXPECT_EQ(dtype(gradients[0]), DType::f32);
  EXPECT_EQ(reinterpret_cast<const float*>(gradients[0]->data())[0], 4);
}

}  // namespace
}  // namespace thunder
