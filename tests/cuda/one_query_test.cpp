// Attention of one query (attention/one_query): sizes, masks, layouts and dtypes against the CPU, and what is left to cuDNN.
// covers: core/executors/cuda/attention/one_query.cpp
#include <dlfcn.h>

#include "cuda/cuda.h"
#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

struct Case {
  std::vector<int64_t> query, key, value;
  bool causal = false, grouped = false, heads_inside = false;
};

struct CudaOneQuery : CudaTest {
  using Masking = std::function<Tensor*(Scope&, Tensor*)>;
  static Ref<Compiled> attention(CudaTest& test, const Case& c, const char* dtype, const Masking& mask = nullptr, const CompileOptions* options = nullptr) {
    return test.compile([&c, dtype, mask](Scope& s, const Values& in, Values& out) {
      Tensor* half[3];
      for (size_t i = 0; i < 3; i++) {
        half[i] = op(s, "to", {any(in[i].tensor), Any::string(dtype)});
        if (c.heads_inside) half[i] = op(s, "transpose", {any(half[i]), Any::integer(1), Any::integer(2)});
      }
      Tensor* y = op(s, "scaled_dot_product_attention", {any(half[0]), any(half[1]), any(half[2]), mask ? any(mask(s, in[3].tensor.get())) : Any(), Any::real(0), Any::boolean(c.causal), Any(), Any::boolean(c.grouped)});
      out.push(Ref<Tensor>(op(s, "to", {any(y), Any::string("float32")})));
    }, options);
  }
  void agrees(const Case& c, const char* dtype, const std::vector<int64_t>& mask_sizes = {}, const Masking& mask = nullptr) {
    auto without_library = make<CompileOptions>();
    without_library->set("executors", Any::string("cuda, fusion, attention, products, transfer, host"));
    auto f = attention(*this, c, dtype, mask, without_library.get());
    std::vector<Ref<Tensor>> in = {random(c.query, 1, -2, 2), random(c.key, 2, -2, 2), random(c.value, 3)};
    if (mask) in.push_back(random(mask_sizes, 4));
    std::vector<Tensor*> on_cpu, on_device;
    std::vector<Ref<Tensor>> kept;
    for (const Ref<Tensor>& t : in) on_cpu.push_back(t.get()), on_device.push_back(kept.emplace_back(on_gpu(t)).get());
    const Ref<Tensor> expected = result(*f, on_cpu), got = result(*f, on_device);
    ASSERT_TRUE(expected && got) << error;
    EXPECT_EQ(battery::difference(battery::numbers_of(*got), battery::numbers_of(*expected), std::string_view(dtype) == "float32" ? 1e-5 : 0.02), "") << dtype;
    EXPECT_EQ(executor_of(*f, "scaled_dot_product_attention_forward"), "cuda");
  }
  static Tensor* positive(Scope& s, Tensor* mask) { return op(s, "gt", {any(mask), Any::real(0)}); }
  static Masking in(const char* dtype) {
    return [dtype](Scope& s, Tensor* mask) { return op(s, "to", {any(mask), Any::string(dtype)}); };
  }
};

const Case kCache = {{2, 8, 1, 64}, {2, 2, 70, 64}, {2, 2, 70, 64}, false, true};

TEST_F(CudaOneQuery, of_every_dtype_and_width_agrees_with_the_cpu) {
  for (const char* dtype : {"float32", "bfloat16", "float16"})
    for (const int64_t width : {8, 64, 80, 128}) agrees({{1, 4, 1, width}, {1, 4, 37, width}, {1, 4, 37, 64}}, dtype);
  agrees({{1, 2, 1, 256}, {1, 2, 9, 256}, {1, 2, 9, 256}}, "bfloat16");
}

TEST_F(CudaOneQuery, shares_keys_among_heads) {
  agrees(kCache, "bfloat16");
  agrees({{6, 1, 32}, {2, 33, 32}, {2, 33, 32}, false, true}, "float32");
}

TEST_F(CudaOneQuery, of_many_keys_is_joined_from_parts) {
  agrees({{1, 8, 1, 32}, {1, 2, 1500, 32}, {1, 2, 1500, 32}, false, true}, "bfloat16");
  agrees({{2, 3, 1, 16}, {2, 3, 1111, 16}, {2, 3, 1111, 16}}, "float32");
  agrees({{1, 8, 1, 32}, {1, 2, 1500, 32}, {1, 2, 1500, 32}, false, true}, "bfloat16", {1, 1500}, positive);
}

TEST_F(CudaOneQuery, reads_masks_of_every_kind) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 70}, {70}, {2, 1, 1, 70}, {8, 1, 70}, {2, 8, 1, 1}}) {
    agrees(kCache, "bfloat16", sizes, positive);
    agrees(kCache, "bfloat16", sizes, in("bfloat16"));
    agrees(kCache, "bfloat16", sizes, in("float32"));
  }
}

// The keys of a cache that a text has not reached hold anything.
TEST_F(CudaOneQuery, reads_nothing_that_is_masked) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "scaled_dot_product_attention", {any(in[0].tensor), any(in[1].tensor), any(in[2].tensor), any(op(s, "gt", {any(in[3].tensor), Any::real(0)}))})));
  });
  const int64_t keys = 40, width = 8;
  Floats numbers(static_cast<size_t>(keys * width), 1.0f), mask(static_cast<size_t>(keys), 1.0f);
  for (size_t i = 20; i < 40; i++) mask[i] = 0;
  for (size_t i = 20 * 8; i < numbers.size(); i++) numbers[i] = std::numeric_limits<float>::quiet_NaN();
  const Ref<Tensor> in[] = {on_gpu(random({1, 1, 1, width}, 1)), on_gpu(tensor({1, 1, keys, width}, numbers)), on_gpu(tensor({1, 1, keys, width}, numbers)), on_gpu(tensor({1, keys}, mask))};
  const Ref<Tensor> got = result(*f, {in[0].get(), in[1].get(), in[2].get(), in[3].get()});
  ASSERT_TRUE(got) << error;
  EXPECT_EQ(data(*got), Floats(static_cast<size_t>(width), 1.0f));
}

TEST_F(CudaOneQuery, without_any_key_is_zeros) {
  const Masking none = [](Scope& s, Tensor* mask) { return op(s, "gt", {any(mask), Any::real(2)}); };
  agrees(kCache, "bfloat16", {1, 70}, none);
  agrees({{1, 8, 1, 32}, {1, 2, 1500, 32}, {1, 2, 1500, 32}, false, true}, "bfloat16", {1, 1500}, none);
}

TEST_F(CudaOneQuery, that_is_causal_sees_the_first_key) { agrees({{2, 3, 1, 16}, {2, 3, 9, 16}, {2, 3, 9, 16}, true}, "bfloat16"); }

TEST_F(CudaOneQuery, takes_heads_that_lie_inside) { agrees({{2, 1, 4, 16}, {2, 21, 4, 16}, {2, 21, 4, 16}, false, false, true}, "bfloat16"); }

TEST_F(CudaOneQuery, begins_at_any_element) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const std::vector<int64_t> shape = {1, 2, 16, 16};
    Tensor* key = op(s, "reshape", {any(op(s, "narrow", {any(in[1].tensor), Any::integer(0), Any::integer(1), Any::integer(512)})), Any::dims(shape)});
    out.push(Ref<Tensor>(op(s, "scaled_dot_product_attention", {any(in[0].tensor), any(key), any(key)})));
  });
  const Ref<Tensor> q = random({1, 2, 1, 16}, 1), k = random({513}, 2), on_q = on_gpu(q), on_k = on_gpu(k);
  const Ref<Tensor> expected = result(*f, {q.get(), k.get()}), got = result(*f, {on_q.get(), on_k.get()});
  ASSERT_TRUE(expected && got) << error;
  EXPECT_EQ(battery::difference(battery::numbers_of(*got), battery::numbers_of(*expected), 1e-5), "");
}

// The stand-in for cuDNN declines a single row, as some versions do: then it is not left without a kernel.
const char* library() {
  const char* const path = ::getenv("THUNDER_CUDNN");
  void* const opened = path ? ::dlopen(path, RTLD_NOW) : nullptr;
  return opened && ::dlsym(opened, "fake_cudnn_plans") ? "cuda" : "cudnn";
}

// The library takes no f32; a boolean mask it is given as a bias.
TEST_F(CudaOneQuery, is_left_to_the_library_where_that_is_faster) {
  const auto executor = [&](const Case& c, const char* dtype, const Masking& mask = nullptr) {
    auto f = attention(*this, c, dtype, mask);
    const Ref<Tensor> in[] = {on_gpu(random(c.query, 1)), on_gpu(random(c.key, 2)), on_gpu(random(c.value, 3)), on_gpu(random({1, c.key[2]}, 4))};
    std::vector<Tensor*> given = {in[0].get(), in[1].get(), in[2].get()};
    if (mask) given.push_back(in[3].get());
    EXPECT_TRUE(result(*f, given)) << error;
    return executor_of(*f, "scaled_dot_product_attention_forward");
  };
  const Case few = {{1, 8, 1, 64}, {1, 8, 256, 64}, {1, 8, 256, 64}}, many = {{1, 8, 1, 64}, {1, 8, 1024, 64}, {1, 8, 1024, 64}};
  const Case two = {{1, 8, 2, 64}, {1, 8, 256, 64}, {1, 8, 256, 64}};
  EXPECT_EQ(executor(few, "bfloat16", positive), "cuda");
  EXPECT_EQ(executor(few, "bfloat16"), library());
  EXPECT_EQ(executor(many, "bfloat16", positive), library());
  EXPECT_EQ(executor(two, "bfloat16", positive), "cudnn");
  EXPECT_EQ(executor(many, "float32"), "cuda");
}

}  // namespace
}  // namespace thunder::test
