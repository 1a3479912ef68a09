// Pointwise lines that run on each part of a product as soon as the part is there.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "executors/cpu/products/batched_product.h"
#include "loops/kernels.h"
#include "support/function_kernel.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

// Multiplies in small tiles, and counts the steps that had a epilogue.
struct Leader {
  std::atomic<int> runs{0}, followed{0};

  static bool multiply(const Product& p) {
    for (int64_t i = 0; i < p.m; i++)
      for (int64_t j = 0; j < p.n; j++) {
        float sum = p.add ? p.c[i * p.c_row + j] : 0;
        for (int64_t l = 0; l < p.k; l++) sum += p.a.data[i * p.a.row + l * p.a.column] * p.b.data[l * p.b.row + j * p.b.column];
        p.c[i * p.c_row + j] = sum;
      }
    return true;
  }
  static Status* run(const Launch* launch, void* state) {
    auto& leader = *static_cast<Leader*>(state);
    leader.runs++, leader.followed += launch->epilogue != nullptr;
    BatchedProduct<float> products = launch->n_inputs == 2 ? matmul_of<float>(launch) : linear_of<float>(launch);
    products.simplify();
    return TiledProducts(products, {3, 64}, multiply).run(launch);
  }
  Ref<Executor> executor() {
    ExecutorDesc d;
    d.name = "leader";
    d.ops = {"prims.matmul", "linear"};
    d.flags = kStrided | kRunsEpilogue;
    d.user = this;
    d.prepare = runs_on_user<run>;
    return make<Executor>(d);
  }
};

struct Epilogues : CompiledTest {
  void SetUp() override {
    if (!loops::can_compile()) GTEST_SKIP() << "no module that compiles";
  }
  // What the lines give, which is near to what they give line by line.
  Floats expect_right(const Lambda::Body& body, std::vector<Tensor*> in) {
    const Floats expected = run(*compile(body, only("host").get()), in);
    auto options = only("fusion");
    options->add_executor(leader.executor());
    compiled = compile(body, options.get());
    const Floats got = run(*compiled, in);
    EXPECT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++)
      if (std::fabs(got[i] - expected[i]) > 1e-5f * (1 + std::fabs(expected[i]))) return ADD_FAILURE() << "at " << i << ": " << got[i] << " for " << expected[i], got;
    return got;
  }
  Leader leader;
  Ref<Compiled> compiled;
};

Tensor* product(Scope& s, const Values& in) { return op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}); }

Tensor* squared(Scope& s, Tensor* y) { return op(s, "mul", {any(y), any(y)}); }

TEST_F(Epilogues, run_behind_products_of_all_shapes) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "gelu", {any(op(s, "add", {any(product(s, in)), any(in[2].tensor)}))});
    out.push(Ref<Tensor>(op(s, "mul", {any(y), any(in[3].tensor)})));
  };
  for (const auto& s : std::vector<std::vector<int64_t>>{{1, 4, 2}, {7, 4, 11}, {16, 8, 64}, {2, 3, 128}, {33, 5, 17}, {4, 2, 150}}) {
    auto a = random({s[0], s[1]}, 1), b = random({s[1], s[2]}, 2), bias = random({s[2]}, 3), each = random({s[0], s[2]}, 4), row = random({s[0], 1}, 5);
    expect_right(body, {a.get(), b.get(), bias.get(), each.get()});
    expect_right(body, {a.get(), b.get(), each.get(), row.get()});
  }
  auto a = random({2, 3, 7, 4}, 1), b = random({2, 3, 4, 9}, 2), bias = random({9}, 3), each = random({2, 3, 7, 9}, 4);
  expect_right(body, {a.get(), b.get(), bias.get(), each.get()});
  EXPECT_EQ(leader.followed, 13);
}

TEST_F(Epilogues, run_behind_linear_of_a_matrix_and_of_a_vector) {
  const auto body = [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "tanh", {any(op(s, "linear", {any(in[0].tensor), any(in[1].tensor), any(in[2].tensor)}))}))); };
  auto x = random({3, 70, 5}, 1), w = random({130, 5}, 2), bias = random({130}, 3), column = random({5}, 4), one = random({}, 5);
  expect_right(body, {x.get(), w.get(), bias.get()});
  expect_right(body, {x.get(), column.get(), one.get()});
  EXPECT_EQ(leader.followed, 2);
}

TEST_F(Epilogues, leave_one_column_alone) {
  auto a = random({40, 4}, 1), b = random({4, 1}, 2);
  expect_right([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "tanh", {any(product(s, in))}))); }, {a.get(), b.get()});
  EXPECT_EQ(leader.followed, 0);
}

TEST_F(Epilogues, replace_a_product_in_its_own_memory) {
  auto a = random({64, 32}, 1), b = random({32, 128}, 2);
  expect_right([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(squared(s, product(s, in)))); }, {a.get(), b.get()});
  EXPECT_EQ(leader.followed, 1);
  EXPECT_EQ(compiled->reports().statistics().peak_bytes, 0u);
  // In the arena.
  expect_right([](Scope& s, const Values& in, Values& out) {
    Tensor* y = squared(s, product(s, in));
    out.push(Ref<Tensor>(op(s, "prims.sum", {any(op(s, "matmul", {any(y), any(op(s, "transpose", {any(in[1].tensor), Any::integer(0), Any::integer(1)}))})), Any::dims({})})));
  }, {a.get(), b.get()});
  EXPECT_EQ(leader.followed, 2);
  EXPECT_EQ(compiled->reports().statistics().peak_bytes, 64 * (128 + 32) * sizeof(float) + 64);  // and the sum
}

TEST_F(Epilogues, leave_a_product_that_others_read) {
  auto a = random({17, 8}, 1), b = random({8, 33}, 2);
  const auto both = [](int result) {
    return [result](Scope& s, const Values& in, Values& out) {
      Tensor* y = product(s, in);
      Tensor* z = op(s, "relu", {any(y)});
      for (Tensor* t : {result ? z : y, result ? y : z}) out.push(Ref<Tensor>(t));
    };
  };
  expect_right(both(0), {a.get(), b.get()});
  expect_right(both(1), {a.get(), b.get()});
  EXPECT_EQ(leader.followed, 2);
}

TEST_F(Epilogues, wait_for_the_whole_where_elements_depend_on_others) {
  auto a = random({9, 8}, 1), b = random({8, 9}, 2);
  for (const char* name : {"softmax", "cumsum"})
    expect_right([name](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, name, {any(product(s, in)), Any::integer(1)}))); }, {a.get(), b.get()});
  expect_right([](Scope& s, const Values& in, Values& out) {
    Tensor* y = product(s, in);
    out.push(Ref<Tensor>(op(s, "add", {any(y), any(op(s, "transpose", {any(y), Any::integer(0), Any::integer(1)}))})));
  }, {a.get(), b.get()});
  expect_right([](Scope& s, const Values& in, Values& out) {
    Tensor* y = product(s, in);
    out.push(Ref<Tensor>(op(s, "add", {any(y), any(op(s, "prims.sum", {any(y), Any::dims({})}))})));
  }, {a.get(), b.get()});
  EXPECT_EQ(leader.followed, 0);
  EXPECT_EQ(leader.runs, 4);
}

TEST_F(Epilogues, never_write_what_their_leader_reads) {
  auto x = random({6, 6}, 1);
  const Floats before = data(*x);
  const auto step = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "matmul", {any(in[0].tensor), any(in[0].tensor)});
    out.push(Ref<Tensor>(op(s, "mul_", {any(in[0].tensor), any(y)})));
  };
  auto other = tensor({6, 6}, before);
  const Floats expected = run(*compile(step, only("host").get()), {other.get()});
  auto options = only("fusion");
  options->add_executor(leader.executor());
  const Floats got = run(*compile(step, options.get()), {x.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5f);
  EXPECT_EQ(data(*x), got);
}

TEST_F(Epilogues, take_strided_operands_where_they_can) {
  auto a = random({12, 8}, 1), b = random({8, 40}, 2), wide = random({40, 12}, 3);
  expect_right([](Scope& s, const Values& in, Values& out) {
    Tensor* turned = op(s, "transpose", {any(in[2].tensor), Any::integer(0), Any::integer(1)});
    out.push(Ref<Tensor>(op(s, "add", {any(product(s, in)), any(turned)})));
  }, {a.get(), b.get(), wide.get()});
}

constexpr size_t kScratch = 256;

// Fills its scratch, and counts how much of it is left once the epilogue has filled its own; or is the epilogue.
class Filling : public Kernel {
 public:
  Filling() : Kernel(this) { add_flags(kRunsTiles); }
  void adapt_to_layouts(const NodeView& view) override { is_epilogue_ = view.epilogue_input >= 0; }
  size_t scratch() const override { return kScratch; }
  bool runs_tiles() const override { return is_epilogue_; }
  void run_tile(const Launch* l, const Tile&) const override { std::fill_n(static_cast<char*>(l->scratch), kScratch, char{2}); }
  Status* run(const Launch* l) const {
    const Buffer& out = l->outputs[0];
    auto* const own = static_cast<char*>(l->scratch);
    std::fill_n(own, kScratch, char{1});
    if (l->epilogue) l->epilogue->run({0, out.shape[0], 0, out.shape[1]});
    std::fill_n(out.as<float>(), out.elements(), static_cast<float>(std::count(own, own + kScratch, char{1})));
    return nullptr;
  }

 private:
  bool is_epilogue_ = false;
};

// Each fills its own, the second one while the first one runs.
TEST_F(Epilogues, have_their_scratch_behind_their_leaders) {
  ExecutorDesc d;
  d.name = "leader";
  d.ops = {"prims.matmul", "prims.neg"};
  d.flags = kStrided | kRunsEpilogue | kInPlace;
  d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<Filling>(); };
  auto options = only("host");
  options->add_executor(make<Executor>(d));
  const auto body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(product(s, in)));
    out.push(Ref<Tensor>(op(s, "neg", {any(out[0].tensor)})));
  };
  auto f = compile(body, options.get());
  auto x = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run(*f, {x.get(), x.get()}), Floats(4, kScratch)) << error;
  EXPECT_GE(f->reports().statistics().peak_bytes, 2 * kScratch);
}

}  // namespace
}  // namespace thunder::test
