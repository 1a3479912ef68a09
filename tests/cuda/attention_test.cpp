// Attention through cuDNN (attention, attention_call, attention_graph, attention_mask, attention_padded, attention_parts, graph, plan, plans): sizes, layouts and gradients against the CPU.
// covers: core/executors/cuda/cudnn/graph.cpp core/executors/cuda/cudnn/plan.cpp core/executors/cuda/cudnn/plans.cpp
// covers: core/executors/cuda/cudnn/attention*.cpp
#include <dlfcn.h>

#include "cuda/cuda.h"
#include "jit/reports/explain.h"
#include "support/fake_cuda/control.h"

namespace thunder::test {
namespace {

const std::vector<int64_t> kHeads = {2, 8, 3, 16}, kTokens = {2, 8, 48};

struct Case {
  std::vector<int64_t> query, key, value;
  bool causal = false, grouped = false;
  bool heads_inside = false;  // lengths lie before heads, as a projection of tokens gives them
  double dropped = 0;
};

const Case kCases[] = {
    {{2, 3, 8, 16}, {2, 3, 8, 16}, {2, 3, 8, 16}},
    {{2, 3, 8, 16}, {2, 3, 8, 16}, {2, 3, 8, 16}, true},
    {{1, 2, 12, 8}, {1, 2, 20, 8}, {1, 2, 20, 8}},
    {{2, 6, 8, 16}, {2, 2, 8, 16}, {2, 2, 8, 16}, true, true},
    {{2, 8, 3, 16}, {2, 8, 3, 16}, {2, 8, 3, 16}, true, false, true},
    {{4, 8, 64}, {4, 8, 64}, {4, 8, 64}, true},
    {{1, 2, 8, 256}, {1, 2, 8, 256}, {1, 2, 8, 256}, true},
};

// Of the stand-in for cuDNN; null: the library is not it.
template <class F>
F of_stand_in(const char* name) {
  const char* const path = ::getenv("THUNDER_CUDNN");
  void* const library = path ? ::dlopen(path, RTLD_NOW) : nullptr;
  return library ? reinterpret_cast<F>(::dlsym(library, name)) : nullptr;
}

struct CudaAttention : CudaTest {
  // The result and the gradients of all three.
  Ref<Compiled> all_of(const Case& c, const char* dtype = "bfloat16", const CompileOptions* options = nullptr) {
    return compile([&c, dtype](Scope& s, const Values& in, Values& out) {
      Tensor* half[3];
      for (size_t i = 0; i < 3; i++) {
        half[i] = op(s, "to", {any(in[i].tensor), Any::string(dtype)});
        if (c.heads_inside) half[i] = op(s, "transpose", {any(half[i]), Any::integer(1), Any::integer(2)});
      }
      Tensor* y = op(s, "scaled_dot_product_attention", {any(half[0]), any(half[1]), any(half[2]), Any(), Any::real(c.dropped), Any::boolean(c.causal), Any(), Any::boolean(c.grouped)});
      y = op(s, "to", {any(y), Any::string("float32")});
      Values wrt;
      for (size_t i = 0; i < 3; i++) wrt.push(in[i].tensor);
      const Values* grads = s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt);
      out.push(Ref<Tensor>(y));
      for (size_t i = 0; i < 3; i++) out.push((*grads)[i].tensor);
    }, options);
  }
  std::vector<Ref<Tensor>> inputs(const Case& c) {
    return {random(c.query, 1, -2, 2), random(c.key, 2, -2, 2), random(c.value, 3)};
  }
  static Case causal(int64_t length) { return {{2, 4, length, 16}, {2, 2, length, 16}, {2, 2, length, 16}, true, true}; }
  // How many plans a call on the GPU makes, whose results are those of the CPU. Requires: the stand-in for cuDNN.
  int64_t plans_made_by(Compiled& f, const Case& c) {
    const auto plans = of_stand_in<decltype(&fake_cudnn_plans)>("fake_cudnn_plans");
    const auto in = inputs(c);
    const auto expected = call(f, in);
    const int64_t before = plans();
    expect_close(call(f, on_gpu(in)), expected);
    return plans() - before;
  }
  // The result and the gradients with a mask, which `how` makes of the fourth input.
  using Masking = std::function<Tensor*(Scope&, Tensor*)>;
  Ref<Compiled> masked(const char* dtype, const Masking& how, bool grouped = false) {
    return compile([dtype, how, grouped](Scope& s, const Values& in, Values& out) {
      Tensor* half[3];
      for (size_t i = 0; i < 3; i++) half[i] = op(s, "to", {any(in[i].tensor), Any::string(dtype)});
      Tensor* y = op(s, "scaled_dot_product_attention", {any(half[0]), any(half[1]), any(half[2]), any(how(s, in[3].tensor.get())), Any::real(0), Any::boolean(false), Any(), Any::boolean(grouped)});
      y = op(s, "to", {any(y), Any::string("float32")});
      Values wrt;
      for (size_t i = 0; i < 3; i++) wrt.push(in[i].tensor);
      const Values* grads = s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt);
      out.push(Ref<Tensor>(y));
      for (size_t i = 0; i < 3; i++) out.push((*grads)[i].tensor);
    });
  }
  // Agrees with the CPU, and is run by this executor ("none": line by line).
  void agrees(const Case& c, const std::vector<int64_t>& mask, const char* dtype, const Masking& how, const char* executor = "cudnn") {
    auto f = masked(dtype, how, c.grouped);
    auto in = inputs(c);
    in.push_back(random(mask, 4));
    const auto expected = call(*f, in);
    expect_close(call(*f, on_gpu(in)), expected);
    for (const char* name : {"scaled_dot_product_attention_forward", "scaled_dot_product_attention_backward"}) EXPECT_EQ(executor_of(*f, name), executor);
  }
  static Tensor* positive(Scope& s, Tensor* mask) { return op(s, "gt", {any(mask), Any::real(0)}); }
  static Masking in(const char* dtype) {
    return [dtype](Scope& s, Tensor* mask) { return op(s, "to", {any(mask), Any::string(dtype)}); };
  }
  static std::vector<Ref<Tensor>> call(Compiled& f, const std::vector<Ref<Tensor>>& in, size_t n_out = 4) {
    std::vector<Tensor*> given;
    for (const Ref<Tensor>& t : in) given.push_back(t.get());
    Tensor* out[4] = {};
    if (const Ref<Status> failed = Ref<Status>::adopt(f.call_tensors(given.data(), given.size(), out, n_out))) {
      ADD_FAILURE() << failed->message();
      return {};
    }
    std::vector<Ref<Tensor>> results;
    for (size_t i = 0; i < n_out; i++) results.push_back(Ref<Tensor>::adopt(out[i]));
    return results;
  }
  std::vector<Ref<Tensor>> on_gpu(const std::vector<Ref<Tensor>>& in) {
    std::vector<Ref<Tensor>> out;
    for (const Ref<Tensor>& t : in) out.push_back(CudaTest::on_gpu(t));
    return out;
  }
  static void expect_close(const std::vector<Ref<Tensor>>& got, const std::vector<Ref<Tensor>>& expected, double tolerance = 0.03) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); i++)
      EXPECT_EQ(battery::difference(battery::numbers_of(*got[i]), battery::numbers_of(*expected[i]), tolerance), "") << "result " << i;
  }
};

TEST_F(CudaAttention, agrees_with_the_cpu) {
  for (const char* dtype : {"bfloat16", "float16"})
    for (const Case& c : kCases) {
      SCOPED_TRACE(cat("case ", &c - kCases, " of ", dtype));
      auto f = all_of(c, dtype);
      const auto in = inputs(c);
      const auto expected = call(*f, in);
      expect_close(call(*f, on_gpu(in)), expected);
      for (const char* name : {"scaled_dot_product_attention_forward", "scaled_dot_product_attention_backward"})
        EXPECT_EQ(executor_of(*f, name), "cudnn");
    }
}

// Rows of 13 keys are copied into rows of whole 16 bytes. A stand-in has engines for whatever is asked, cuDNN for some devices.
TEST_F(CudaAttention, with_dropout_drops_what_the_cpu_drops) {
  const Case cases[] = {{{2, 3, 8, 16}, {2, 3, 16, 16}, {2, 3, 16, 16}, false, false, false, 0.25},
                        {{2, 3, 8, 16}, {2, 3, 13, 16}, {2, 3, 13, 16}, false, false, false, 0.5},
                        {{2, 6, 8, 16}, {2, 2, 8, 16}, {2, 2, 8, 16}, true, true, false, 0.1},
                        {{4, 8, 16}, {4, 8, 16}, {4, 8, 16}, true, false, false, 0.25}};
  for (const char* dtype : {"bfloat16", "float16"})
    for (const Case& c : cases) {
      SCOPED_TRACE(cat("case ", &c - cases, " of ", dtype));
      auto f = all_of(c, dtype);
      const auto in = inputs(c);
      battery::reset_random(*context);
      const auto expected = call(*f, in);
      battery::reset_random(*context);
      expect_close(call(*f, on_gpu(in)), expected, std::string_view(dtype) == "float16" ? 0.03 : 0.1);
      if (!::getenv("THUNDER_CUDNN")) continue;
      for (const char* name : {"scaled_dot_product_attention_forward", "scaled_dot_product_attention_backward"})
        EXPECT_EQ(executor_of(*f, name), "cudnn");
    }
}

// As a network has it: tokens, then heads. What comes out and the gradients lie as the permutations around it read them.
TEST_F(CudaAttention, of_heads_inside_of_tokens_needs_no_copies) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* parts[3];
    for (size_t i = 0; i < 3; i++) {
      Tensor* const tokens = op(s, "to", {any(in[i].tensor), Any::string("bfloat16")});
      parts[i] = op(s, "transpose", {any(op(s, "reshape", {any(tokens), Any::dims(kHeads)})), Any::integer(1), Any::integer(2)});
    }
    Tensor* y = op(s, "scaled_dot_product_attention", {any(parts[0]), any(parts[1]), any(parts[2]), Any(), Any::real(0), Any::boolean(true)});
    y = op(s, "reshape", {any(op(s, "transpose", {any(y), Any::integer(1), Any::integer(2)})), Any::dims(kTokens)});
    y = op(s, "mul", {any(op(s, "to", {any(y), Any::string("float32")})), any(in[3].tensor)});
    Values wrt;
    for (size_t i = 0; i < 3; i++) wrt.push(in[i].tensor);
    const Values* grads = s.grad(op(s, "sum", {any(y)}), wrt);
    out.push(Ref<Tensor>(op(s, "add", {any(y), any(op(s, "add", {any((*grads)[0].tensor), any(op(s, "sub", {any((*grads)[1].tensor), any((*grads)[2].tensor)}))}))})));
  });
  std::vector<Ref<Tensor>> here;
  for (uint32_t i = 0; i < 4; i++) here.push_back(random({2, 8, 48}, i));
  const std::vector<Ref<Tensor>> there = on_gpu(here);
  std::vector<Tensor*> in, moved;
  for (uint32_t i = 0; i < 4; i++) in.push_back(here[i].get()), moved.push_back(there[i].get());
  const Floats expected = CompiledTest::run(*f, in), got = run(*f, moved);
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 5e-2F) << "at " << i;
  const std::string steps = explain(*f, "lower");
  EXPECT_EQ(steps.find("to a dense tensor"), std::string::npos) << steps;
}

TEST_F(CudaAttention, gives_the_same_bits_in_each_call) {
  auto f = all_of(kCases[1]);
  const auto in = on_gpu(inputs(kCases[1]));
  const auto first = call(*f, in);
  for (int again = 0; again < 3; again++) {
    const auto next = call(*f, in);
    for (size_t i = 0; i < first.size(); i++) EXPECT_EQ(data(*next[i]), data(*first[i]));
  }
}

TEST_F(CudaAttention, with_a_mask_of_booleans_agrees_with_the_cpu) {
  const Case c{{2, 3, 8, 16}, {2, 3, 12, 16}, {2, 3, 12, 16}};
  for (const char* dtype : {"bfloat16", "float16"})
    for (const std::vector<int64_t>& mask : {std::vector<int64_t>{8, 12}, {2, 1, 8, 12}, {2, 1, 1, 12}, {3, 8, 12}, {2, 3, 8, 12}, {12}}) {
      SCOPED_TRACE(cat(dtype, " ", join(mask, "x", [](int64_t n) { return n; })));
      agrees(c, mask, dtype, positive);
    }
  agrees({{2, 6, 8, 16}, {2, 2, 8, 16}, {2, 2, 8, 16}, false, true}, {2, 1, 1, 8}, "bfloat16", positive);
  agrees({{4, 8, 16}, {4, 8, 16}, {4, 8, 16}}, {8, 8}, "bfloat16", positive);
}

// Some lie as the library reads them, others are copied: their rows are odd, repeated or turned.
TEST_F(CudaAttention, with_a_mask_that_is_added_agrees_with_the_cpu) {
  const Case c{{2, 3, 8, 16}, {2, 3, 16, 16}, {2, 3, 16, 16}}, odd{{2, 3, 8, 16}, {2, 3, 13, 16}, {2, 3, 13, 16}};
  for (const char* dtype : {"bfloat16", "float16"}) {
    agrees(c, {2, 3, 8, 16}, dtype, in(dtype));
    agrees(c, {8, 16}, dtype, in(dtype));
    agrees(odd, {1, 3, 8, 13}, dtype, in(dtype));
    agrees(c, {2, 1, 1, 16}, dtype, in(dtype));
    agrees(c, {16, 8}, dtype, [dtype](Scope& s, Tensor* mask) {
      return op(s, "transpose", {any(op(s, "to", {any(mask), Any::string(dtype)})), Any::integer(0), Any::integer(1)});
    });
    agrees(c, {2, 3, 1, 16}, dtype, [dtype](Scope& s, Tensor* mask) {
      const std::vector<int64_t> all = {2, 3, 8, 16};
      return op(s, "prims.expand", {any(op(s, "to", {any(mask), Any::string(dtype)})), Any::dims(all)});
    });
  }
}

TEST_F(CudaAttention, reads_a_mask_that_begins_anywhere) {
  const Case c{{1, 2, 8, 16}, {1, 2, 16, 16}, {1, 2, 16, 16}};
  agrees(c, {129}, "bfloat16", [](Scope& s, Tensor* mask) {
    const std::vector<int64_t> shape = {8, 16};
    Tensor* half = op(s, "to", {any(mask), Any::string("bfloat16")});
    return op(s, "reshape", {any(op(s, "narrow", {any(half), Any::integer(0), Any::integer(1), Any::integer(128)})), Any::dims(shape)});
  });
}

// A query that sees no key has a result of zeros, and gives no gradient.
TEST_F(CudaAttention, of_queries_that_see_nothing_is_zero) {
  const Case c{{2, 2, 8, 16}, {2, 2, 8, 16}, {2, 2, 8, 16}};
  agrees(c, {2, 1, 8, 8}, "bfloat16", [](Scope& s, Tensor* mask) {
    const std::vector<int64_t> low = {0, 0, 2, 0}, high = {2, 1, 5, 8}, step = {1, 1, 1, 1};
    Tensor* some = op(s, "prims.slice", {any(mask), Any::dims(low), Any::dims(high), Any::dims(step)});
    const std::vector<int64_t> around = {0, 0, 2, 3, 0, 0, 0, 0};  // the last dim first
    return positive(s, op(s, "pad", {any(some), Any::dims(around)}));
  });
}

// cuDNN would round it.
TEST_F(CudaAttention, with_a_mask_of_more_precision_goes_line_by_line) {
  const Case c{{2, 3, 8, 16}, {2, 3, 8, 16}, {2, 3, 8, 16}};
  agrees(c, {8, 8}, "bfloat16", [](Scope&, Tensor* mask) { return mask; }, "none");
}

// The time that plans took is told once, by the program that has them made.
TEST_F(CudaAttention, tells_what_making_its_plans_took) {
  const Case c{{1, 2, 16, 24}, {1, 2, 16, 24}, {1, 2, 16, 24}};
  auto f = all_of(c), again = all_of(c);
  const auto in = on_gpu(inputs(c));
  const auto first = call(*f, in), second = call(*again, in);
  EXPECT_GT(f->reports().statistics().plan_ns, 0u);
  EXPECT_EQ(again->reports().statistics().plan_ns, 0u);
  for (size_t i = 0; i < first.size(); i++) EXPECT_EQ(data(*first[i]), data(*second[i]));
}

// A stand-in has no engine for this, cuDNN may have one.
TEST_F(CudaAttention, of_one_query_agrees_with_the_cpu) {
  const Case c{{1, 2, 1, 16}, {1, 2, 9, 16}, {1, 2, 9, 16}};
  auto f = all_of(c);
  const auto in = inputs(c);
  const auto expected = call(*f, in);
  expect_close(call(*f, on_gpu(in)), expected);
}

TEST_F(CudaAttention, packs_operands_that_begin_anywhere) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const std::vector<int64_t> shape = {1, 2, 6, 8}, turned_shape = {1, 2, 8, 6};
    Tensor* all = op(s, "to", {any(in[0].tensor), Any::string("bfloat16")});
    Tensor* part = op(s, "reshape", {any(op(s, "narrow", {any(all), Any::integer(0), Any::integer(1), Any::integer(96)})), Any::dims(shape)});
    Tensor* wide = op(s, "reshape", {any(op(s, "narrow", {any(all), Any::integer(0), Any::integer(0), Any::integer(96)})), Any::dims(turned_shape)});
    Tensor* turned = op(s, "transpose", {any(wide), Any::integer(-1), Any::integer(-2)});
    Tensor* y = op(s, "scaled_dot_product_attention", {any(part), any(turned), any(part), Any(), Any::real(0), Any::boolean(false), Any(), Any::boolean(false)});
    out.push(Ref<Tensor>(op(s, "to", {any(y), Any::string("float32")})));
  });
  const Ref<Tensor> x = random({97}, 1), gx = CudaTest::on_gpu(x);
  const Floats expected = CompiledTest::run(*f, {x.get()}), got = run(*f, {gx.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 0.02);
  EXPECT_EQ(executor_of(*f, "scaled_dot_product_attention_forward"), "cudnn");
}

// Sizes that an engine refuses go in parts: some batches at a time, or some heads of one; where it refuses even one head, line by line. So
// does what one of the parts would not align. On hardware all of them are small.
TEST_F(CudaAttention, that_is_too_large_for_an_engine_goes_in_parts) {
  const auto most = of_stand_in<decltype(&fake_cudnn_most_elements)>("fake_cudnn_most_elements");
  const auto runs = of_stand_in<decltype(&fake_cudnn_runs)>("fake_cudnn_runs");
  if (!most || !runs) GTEST_SKIP() << "needs the stand-in for cuDNN";
  struct Row {
    Case sizes;
    int64_t most, forward, backward;  // elements of a product, how often plans run
    const char* executor;
  };
  const Row rows[] = {
      {{{5, 3, 8, 16}, {5, 3, 8, 16}, {5, 3, 8, 16}, true}, 2 * 3 * 8 * 16, 3, 3, "cudnn"},
      {{{2, 6, 8, 24}, {2, 6, 8, 24}, {2, 6, 8, 24}}, 2 * 8 * 24, 6, 6, "cudnn"},
      {{{2, 6, 8, 32}, {2, 3, 8, 32}, {2, 3, 8, 32}, true, true}, 4 * 8 * 32, 4, 4, "cudnn"},
      {{{6, 8, 40}, {6, 8, 40}, {6, 8, 40}, true}, 2 * 8 * 40, 3, 3, "cudnn"},
      {{{2, 2, 8, 48}, {2, 2, 8, 48}, {2, 2, 8, 48}}, 8 * 48 - 1, 0, 0, "none"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(&row - rows);
    auto f = all_of(row.sizes);
    const auto in = inputs(row.sizes), there = on_gpu(in);
    const auto expected = call(*f, in);
    most(row.most);
    const auto first = call(*f, there);
    expect_close(first, expected);
    const int64_t before = runs();
    const auto again = call(*f, there);
    most(0);
    for (size_t i = 0; i < first.size(); i++) EXPECT_EQ(data(*again[i]), data(*first[i]));
    EXPECT_EQ(runs() - before, row.forward + row.backward);
    for (const char* name : {"scaled_dot_product_attention_forward", "scaled_dot_product_attention_backward"}) EXPECT_EQ(executor_of(*f, name), row.executor);
  }
}

// On hardware: the matrix of scores that the gradient keeps would take 4 GiB. Each half of the heads gives the bits that it has in the whole.
TEST_F(CudaAttention, whose_scores_take_too_many_bytes_goes_in_parts) {
  if (::getenv("THUNDER_CUDA_DRIVER")) GTEST_SKIP() << "too large for the stand-ins";
  const std::vector<int64_t> all = {1, 32, 8192, 64}, some = {1, 16, 8192, 64};
  const Case whole{all, all, all, true}, half{some, some, some, true};
  auto f = all_of(whole), of_half = all_of(half);
  const auto in = on_gpu(inputs(whole));
  const auto results = call(*f, in);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(executor_of(*f, "scaled_dot_product_attention_backward"), "cudnn");
  for (const size_t which : {0, 1}) {
    const auto part = [&](const Ref<Tensor>& t) {
      TensorType type = t->type();
      type.shape = {1, 16, 8192, 64};
      return Tensor::view(t->storage(), type, t->strides(), t->offset() + which * t->bytes() / 2);
    };
    const auto expected = call(*of_half, {part(in[0]), part(in[1]), part(in[2])});
    ASSERT_EQ(expected.size(), 4u);
    for (size_t i = 0; i < 4; i++) EXPECT_TRUE(data(*expected[i]) == data(*part(results[i]))) << "result " << i << ", half " << which;
  }
}

TEST_F(CudaAttention, in_parts_reads_of_a_mask_and_of_dropout_what_is_theirs) {
  const auto most = of_stand_in<decltype(&fake_cudnn_most_elements)>("fake_cudnn_most_elements");
  if (!most) GTEST_SKIP() << "needs the stand-in for cuDNN";
  const Case drops{{4, 2, 8, 16}, {4, 2, 16, 16}, {4, 2, 16, 16}, false, false, false, 0.25};
  auto dropping = all_of(drops);
  const auto in_whole = inputs(drops);
  battery::reset_random(*context);
  const auto expected = call(*dropping, in_whole);
  most(2 * 2 * 16 * 16);
  battery::reset_random(*context);
  expect_close(call(*dropping, on_gpu(in_whole)), expected);
  EXPECT_EQ(executor_of(*dropping, "scaled_dot_product_attention_backward"), "cudnn");
  const Case batches{{4, 2, 8, 16}, {4, 2, 16, 16}, {4, 2, 16, 16}}, heads{{2, 4, 8, 24}, {2, 4, 16, 24}, {2, 4, 16, 24}};
  most(2 * 2 * 16 * 16);
  for (const std::vector<int64_t>& mask : {std::vector<int64_t>{4, 2, 8, 16}, {4, 1, 1, 16}, {8, 16}, {2, 8, 16}}) {
    agrees(batches, mask, "bfloat16", positive);
    agrees(batches, mask, "bfloat16", in("bfloat16"));
  }
  most(2 * 16 * 24);
  for (const std::vector<int64_t>& mask : {std::vector<int64_t>{2, 4, 8, 16}, {1, 4, 1, 16}, {4, 8, 16}}) {
    agrees(heads, mask, "float16", positive);
    agrees(heads, mask, "float16", in("float16"));
  }
  most(0);
}

TEST_F(CudaAttention, lengths_after_the_first_share_plans_until_one_comes_often) {
  const auto plans = of_stand_in<decltype(&fake_cudnn_plans)>("fake_cudnn_plans");
  if (!plans) GTEST_SKIP() << "needs the stand-in for cuDNN";
  const Case first = causal(40);
  auto f = all_of(first);
  const auto made_by = [&](int64_t length) { return plans_made_by(*f, causal(length)); };
  EXPECT_EQ(made_by(40), 2) << "the first length has its own: forward and backward";
  EXPECT_EQ(made_by(33), 2) << "those of the padded length";
  for (const int64_t length : {50, 63, 2, 37}) EXPECT_EQ(made_by(length), 0) << length;
  EXPECT_EQ(made_by(65), 2) << "a longer one";
  const auto in = inputs(causal(63));
  const auto expected = call(*f, in);
  const int64_t before = plans();
  for (int i = 0; i < 1000 && plans() < before + 2; i++) expect_close(call(*f, on_gpu(in)), expected);
  EXPECT_EQ(plans(), before + 2) << "a length that comes again has its own at last";
  for (int i = 0; i < 3; i++) expect_close(call(*f, on_gpu(in)), expected);
}

TEST_F(CudaAttention, lengths_that_the_caller_says_vary_share_plans) {
  const auto plans = of_stand_in<decltype(&fake_cudnn_plans)>("fake_cudnn_plans");
  if (!plans) GTEST_SKIP() << "needs the stand-in for cuDNN";
  CompileOptions options;  // as torch.compile gives them, whose symbols they are
  options.set("automatic_dynamic_shapes", Any::boolean(false));
  options.set("dynamic_shapes", Any::string("0:2,4,s0,16;1:2,2,s0,16;2:2,2,s0,16"));
  const Case first = causal(40);
  auto f = all_of(first, "bfloat16", &options);
  const auto made_by = [&](int64_t length) { return plans_made_by(*f, causal(length)); };
  made_by(40), made_by(33);
  for (const int64_t length : {50, 63, 37}) EXPECT_EQ(made_by(length), 0) << length;
}

TEST_F(CudaAttention, without_a_causal_mask_padding_is_masked) {
  const auto plans = of_stand_in<decltype(&fake_cudnn_plans)>("fake_cudnn_plans");
  if (!plans) GTEST_SKIP() << "needs the stand-in for cuDNN";
  const auto with_lengths = [](int64_t q, int64_t k) { return Case{{3, q, 16}, {3, k, 16}, {3, k, 16}}; };
  const Case first = with_lengths(40, 20);
  auto f = all_of(first);
  EXPECT_EQ(plans_made_by(*f, with_lengths(40, 20)), 2);
  EXPECT_GE(plans_made_by(*f, with_lengths(33, 41)), 2);
  for (const auto& [q, k] : {std::pair{50, 7}, {2, 63}, {64, 3}}) EXPECT_EQ(plans_made_by(*f, with_lengths(q, k)), 0) << q << " " << k;
  EXPECT_GE(plans_made_by(*f, with_lengths(50, 64)), 2) << "without padded keys no mask is needed";
}

// What the statistics are is not fixed, only what they say together: the gradient reads both.
TEST_F(CudaAttention, backward_reads_both_statistics) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    std::vector<Any> args;
    for (size_t i = 0; i < 5; i++) args.push_back(any(op(s, "to", {any(in[i].tensor), Any::string("bfloat16")})));
    args.push_back(any(in[5].tensor)), args.push_back(any(in[6].tensor));
    for (const Any& a : {Any(), Any::boolean(true), Any(), Any::boolean(false)}) args.push_back(a);
    const Values& d = *s.invoke_all("scaled_dot_product_attention_backward", args, nullptr, "here:1");
    for (size_t i = 0; i < 3; i++) out.push(Ref<Tensor>(op(s, "to", {any(d[i].tensor), Any::string("float32")})));
  });
  const std::vector<int64_t> shape = {1, 2, 8, 16}, rows = {1, 2, 8, 1};
  std::vector<Ref<Tensor>> in;
  for (uint32_t i = 0; i < 5; i++) in.push_back(random(shape, i + 1));
  in.push_back(random(rows, 6, 2, 3)), in.push_back(random(rows, 7, 1, 4));
  const auto expected = call(*f, in, 3);
  expect_close(call(*f, on_gpu(in), 3), expected);
}

}  // namespace
}  // namespace thunder::test
