// The whole way of a call: trace, passes, program, cache, run.
#include "support/functions.h"

namespace thunder::test {
namespace {

using Call = CompiledTest;

TEST_F(Call, computes_and_caches_by_shape) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "add", {any(in[0].tensor.get()), any(in[1].tensor.get())}))); });
  auto a = tensor({2}, {1, 2}), b = tensor({2}, {10, 20}), c = tensor({3}, {1, 2, 3});
  EXPECT_EQ(run(*f, {a.get(), b.get()}), (Floats{11, 22}));
  EXPECT_EQ(run(*f, {b.get(), b.get()}), (Floats{20, 40}));
  EXPECT_EQ(f->reports().statistics().misses, 1u);
  EXPECT_EQ(run(*f, {c.get(), c.get()}), (Floats{2, 4, 6}));
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_EQ(f->reports().last_miss(), "input '0': shape is [3], was [2]");
}

TEST_F(Call, takes_gradients_inside) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "mul", {any(op(s, "mul", {any(x), any(x)})), any(x)});
    Tensor* loss = op(s, "prims.sum", {any(y), Any::dims({})});
    Values wrt;
    wrt.push(Ref<Tensor>(x));
    Values* g = s.grad(loss, wrt);
    Tensor* second = op(s, "prims.sum", {any((*g)[0].tensor.get()), Any::dims({})});
    out.push((*s.grad(second, wrt))[0].tensor);
  });
  auto x = tensor({3}, {1, 2, 3});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{6, 12, 18})) << error;
}

TEST_F(Call, writes_captured_tensors_in_place) {
  auto w = tensor({2}, {1, 1});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "mul", {any(w.get()), any(in[0].tensor.get())});
    op(s, "add_", {any(w.get()), any(in[0].tensor.get())});
    out.push(Ref<Tensor>(y));
  });
  auto x = tensor({2}, {2, 3});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{2, 3})) << error;
  EXPECT_EQ(run(*f, {x.get()}), (Floats{6, 12})) << error;
  EXPECT_EQ(reinterpret_cast<float*>(w->data())[1], 7);
  EXPECT_EQ(f->reports().statistics().misses, 1u);
}

TEST_F(Call, keeps_float_arguments_live) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor.get()), any(in[1].tensor.get())}))); });
  auto x = tensor({2}, {1, 2});
  for (double k : {2.0, 3.0}) {
    Values in, out;
    in.push(x);
    in.push(Any::real(k));
    ASSERT_EQ(f->call(in, out), nullptr);
    EXPECT_EQ(reinterpret_cast<float*>(out[0].tensor->data())[1], 2 * k);
    EXPECT_EQ(out[0].tensor->type().dtype, DType::f32);
  }
  EXPECT_EQ(f->reports().statistics().misses, 1u);
}

// As wrapped numbers do in PyTorch: what is made of numbers alone has the default dtype of their kind.
TEST_F(Call, makes_tensors_of_live_numbers_by_their_default_dtype) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor *a = in[0].tensor.get(), *b = in[1].tensor.get();
    out.push(Ref<Tensor>(op(s, "add", {any(a), any(b)})));
    out.push(Ref<Tensor>(op(s, "add", {Any::integer(2), any(b)})));
    out.push(Ref<Tensor>(op(s, "neg", {any(a)})));
    Tensor* both[] = {a, b};
    Any list;
    list.kind = ArgKind::values, list.count = 2, list.ts = both;
    out.push(Ref<Tensor>(op(s, "stack", {list})));
    out.push(in[0].tensor);
    out.push(Ref<Tensor>(op(s, "mul", {any(in[2].tensor.get()), any(a)})));
  });
  TensorType type;
  type.dtype = DType::f64;
  auto x = Tensor::empty(context->allocator(), type);
  *reinterpret_cast<double*>(x->data()) = 1;
  Values in, out;
  in.push(Any::real(0.1));
  in.push(Any::real(3.5));
  in.push(x);
  Ref<Status> failed = Ref<Status>::adopt(f->call(in, out));
  ASSERT_FALSE(failed) << failed->message();
  for (size_t i = 0; i < 5; i++) EXPECT_EQ(name(out[i].tensor->type().dtype), "f32") << "result " << i;
  EXPECT_EQ(*reinterpret_cast<float*>(out[1].tensor->data()), 5.5f);
  EXPECT_EQ(*reinterpret_cast<double*>(out[5].tensor->data()), 0.1) << "a tensor of f64 sees the number unrounded";
}

TEST_F(Call, computes_with_live_numbers_in_all_their_bits) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor *x = in[0].tensor.get(), *k = in[1].tensor.get();
    for (Tensor* number : {op(s, "neg", {any(k)}), op(s, "sub", {Any::integer(1), any(k)}), op(s, "div", {any(k), Any::real(3)})})
      out.push(Ref<Tensor>(op(s, "mul", {any(x), any(number)})));
    out.push(Ref<Tensor>(op(s, "full", {Any::dims(std::vector<int64_t>{2}), any(k)})));
  });
  TensorType type;
  type.dtype = DType::f64;
  auto x = Tensor::empty(context->allocator(), type);
  *reinterpret_cast<double*>(x->data()) = 1;
  Values in, out;
  in.push(x);
  in.push(Any::real(0.1));
  Ref<Status> failed = Ref<Status>::adopt(f->call(in, out));
  ASSERT_FALSE(failed) << failed->message();
  const double expected[] = {-0.1, 1 - 0.1, 0.1 / 3};
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(*reinterpret_cast<double*>(out[i].tensor->data()), expected[i]) << i;
  EXPECT_EQ(name(out[3].tensor->type().dtype), "f32") << "as op by op";
}

TEST_F(Call, refuses_overlapping_inputs_of_which_one_is_written) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    op(s, "add_", {any(in[0].tensor.get()), any(in[1].tensor.get())});
    out.push(in[0].tensor);
  });
  auto x = tensor({2}, {1, 2}), y = tensor({2}, {5, 5});
  EXPECT_EQ(run(*f, {x.get(), y.get()}), (Floats{6, 7})) << error;
  EXPECT_TRUE(run(*f, {x.get(), x.get()}).empty());
  EXPECT_NE(error.find("overlap"), std::string::npos) << error;
  EXPECT_EQ(reinterpret_cast<float*>(x->data())[0], 6);
}

TEST_F(Call, reports_the_first_error_with_the_callers_line) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "add", {any(in[0].tensor.get()), any(in[1].tensor.get())});
    out.push(Ref<Tensor>(op(s, "nonsense", {any(y)})));
  });
  auto x = tensor({2}, {1, 2}), y = tensor({3}, {1, 2, 3});
  EXPECT_TRUE(run(*f, {x.get(), y.get()}).empty());
  EXPECT_EQ(error, "add: shapes [2] and [3] do not broadcast: dim 0 is 2 and 3; input is f32[2], other is f32[3] [at here:1]");
}

}  // namespace
}  // namespace thunder::test
