// ONNX Runtime as an executor. Without ONNX Runtime most are skipped.
// covers: core/executors/engines.cpp core/executors/onnxrt/runtime.cpp core/executors/onnxrt/session.cpp
// covers: core/executors/region_model.cpp
#include "executors/engines.h"
#include "executors/onnxrt/runtime.h"
#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Onnxrt : CompiledTest {
  void SetUp() override {
    std::string found;
    if (!onnxrt::Runtime::open(found)) GTEST_SKIP() << found;
  }
  static void relu_of_product(Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "relu", {any(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}))})));
  }
};

TEST_F(Onnxrt, runs_a_whole_function_as_one_region) {
  const auto f = compile(relu_of_product, only("onnxrt").get()), ours = compile(relu_of_product);
  const auto a = random({4, 8}, 1), b = random({8, 3}, 2);
  const auto got = result(*f, {a.get(), b.get()}), want = result(*ours, {a.get(), b.get()});
  ASSERT_TRUE(got) << error;
  for (size_t i = 0; i < data(*want).size(); i++) EXPECT_NEAR(data(*got)[i], data(*want)[i], 1e-5);
  EXPECT_EQ(lines_of(*f, "onnxrt"), 1);
  EXPECT_EQ(f->reports().traces().back().nodes.size(), 1u);
}

TEST_F(Onnxrt, follows_inputs_that_move) {
  const auto f = compile(relu_of_product, only("onnxrt").get());
  const auto a = tensor({1, 1}, {2}), b = tensor({1, 1}, {3}), c = tensor({1, 1}, {5});
  EXPECT_EQ(data(*result(*f, {a.get(), b.get()})), Floats{6});
  EXPECT_EQ(data(*result(*f, {a.get(), c.get()})), Floats{10});
  EXPECT_EQ(data(*result(*f, {c.get(), c.get()})), Floats{25});
}

TEST_F(Onnxrt, leaves_the_ops_that_onnx_lacks_to_others) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "digamma", {any(op(s, "exp", {any(in[0].tensor)}))})));
  };
  const auto f = compile(body, only("onnxrt").get());
  const auto x = tensor({2}, {0.5f, 1});
  ASSERT_TRUE(result(*f, {x.get()})) << error;
  EXPECT_EQ(executor_of(*f, "prims.digamma"), "host");
  EXPECT_EQ(lines_of(*f, "onnxrt"), 1);
}

TEST_F(Onnxrt, follows_frozen_weights_that_are_written) {
  const auto w = tensor({2}, {1, 2});
  auto options = only("onnxrt");
  options->set("freezing", Any::boolean(true));
  const auto f = compile([w](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), any(w)})));
  }, options.get());
  const auto x = tensor({2}, {1, 1});
  EXPECT_EQ(data(*result(*f, {x.get()})), (Floats{1, 2}));
  reinterpret_cast<float*>(w->data())[0] = 7;
  w->bump();
  EXPECT_EQ(data(*result(*f, {x.get()})), (Floats{7, 2}));
}

// An engine that is not there is an error that says where it was looked for.
TEST_F(CompiledTest, an_absent_onnx_runtime_is_an_error_with_every_name) {
  std::string found;
  if (find_engine("onnxrt")->open("", found)) GTEST_SKIP() << found;
  EXPECT_PRED2(contains, found, "libonnxruntime.so.1");
  EXPECT_PRED2(contains, found, "THUNDER_ONNXRUNTIME");
  const auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); },
                         only("onnxrt").get());
  const auto x = tensor({1}, {1});
  EXPECT_FALSE(result(*f, {x.get()}));
  EXPECT_PRED2(contains, error, "executors: onnxrt is not available here: " + found);
}

}  // namespace
}  // namespace thunder::test
