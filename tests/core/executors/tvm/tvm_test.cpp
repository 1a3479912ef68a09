// TVM as an executor. Without TVM most are skipped.
// covers: core/executors/tvm/library.cpp core/executors/tvm/runtime.cpp
#include <cmath>
#include <thread>

#include "executors/engines.h"
#include "executors/tvm/runtime.h"
#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Tvm : CompiledTest {
  void SetUp() override {
    std::string found;
    if (!tvm::Runtime::open(found)) GTEST_SKIP() << found;
  }
  static void negated_product(Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "neg", {any(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}))})));
  }
};

TEST_F(Tvm, runs_a_whole_function_as_one_region) {
  const auto f = compile(negated_product, only("tvm").get()), ours = compile(negated_product);
  const auto a = random({4, 8}, 1), b = random({8, 3}, 2);
  const auto got = result(*f, {a.get(), b.get()}), want = result(*ours, {a.get(), b.get()});
  ASSERT_TRUE(got) << error;
  for (size_t i = 0; i < data(*want).size(); i++) EXPECT_NEAR(data(*got)[i], data(*want)[i], 1e-5);
  EXPECT_EQ(lines_of(*f, "tvm"), 1);
  EXPECT_EQ(f->reports().traces().back().nodes.size(), 1u);
}

TEST_F(Tvm, gives_several_results) {
  const auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)})));
    out.push(Ref<Tensor>(op(s, "gt", {any(in[0].tensor), Any::real(0)})));
  }, only("tvm").get());
  const auto x = tensor({3}, {-1, 0, 2});
  Values in, out;
  in.push(x);
  ASSERT_FALSE(f->call(in, out)) << "failed";
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(data(*out[0].tensor), (Floats{1, 0, -2}));
  const auto* positive = reinterpret_cast<const uint8_t*>(out[1].tensor->data());
  EXPECT_EQ(std::vector<int>(positive, positive + 3), (std::vector<int>{0, 0, 1}));
}

TEST_F(Tvm, follows_inputs_that_move_also_to_badly_aligned_addresses) {
  const auto f = compile(negated_product, only("tvm").get());
  const auto a = tensor({1, 1}, {2}), b = tensor({1, 1}, {3}), c = tensor({1, 1}, {5});
  EXPECT_EQ(data(*result(*f, {a.get(), b.get()})), Floats{-6});
  EXPECT_EQ(data(*result(*f, {a.get(), c.get()})), Floats{-10});
  const auto all = tensor({3}, {7, 11, 13});
  for (int64_t i = 0; i < 3; i++) {
    const auto part = Tensor::view(all->storage(), a->type(), a->strides(), all->offset() + static_cast<size_t>(i) * sizeof(float));
    EXPECT_EQ(data(*result(*f, {part.get(), b.get()})), Floats{data(*all)[static_cast<size_t>(i)] * -3});
  }
}

TEST_F(Tvm, runs_on_several_threads_at_a_time) {
  const auto f = compile(negated_product, only("tvm").get());
  const auto b = tensor({1, 1}, {3});
  result(*f, {b.get(), b.get()});
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; t++)
    threads.emplace_back([&, t] {
      const auto a = tensor({1, 1}, {static_cast<float>(t)});
      for (int i = 0; i < 200; i++) {
        Values in, out;
        in.push(a), in.push(b);
        ASSERT_FALSE(f->call(in, out));
        ASSERT_EQ(data(*out[0].tensor), Floats{static_cast<float>(-3 * t)});
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST_F(Tvm, leaves_the_ops_that_it_lacks_to_others) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "digamma", {any(op(s, "exp", {any(in[0].tensor)}))})));
  };
  const auto f = compile(body, only("tvm").get());
  const auto x = tensor({2}, {0.5f, 1});
  ASSERT_TRUE(result(*f, {x.get()})) << error;
  EXPECT_EQ(executor_of(*f, "prims.digamma"), "host");
  EXPECT_EQ(lines_of(*f, "tvm"), 1);
}

TEST_F(Tvm, leaves_greatest_and_least_of_reals_to_others) {
  const auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "relu", {any(op(s, "neg", {any(in[0].tensor)}))})));
  }, only("tvm").get());
  const auto x = tensor({2}, {NAN, -1});
  const auto y = result(*f, {x.get()});
  ASSERT_TRUE(y) << error;
  EXPECT_TRUE(std::isnan(data(*y)[0]));
  EXPECT_EQ(data(*y)[1], 1);
  EXPECT_GE(lines_of(*f, "tvm"), 1);
}

// An engine that is not there is an error that says where it was looked for.
TEST_F(CompiledTest, an_absent_tvm_is_an_error_with_every_name) {
  std::string found;
  if (find_engine("tvm")->open("", found)) GTEST_SKIP() << found;
  EXPECT_PRED2(contains, found, "THUNDER_TVM_PYTHON");
  const auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); },
                         only("tvm").get());
  const auto x = tensor({1}, {1});
  EXPECT_FALSE(result(*f, {x.get()}));
  EXPECT_PRED2(contains, error, "executors: tvm is not available here: " + found);
}

}  // namespace
}  // namespace thunder::test
