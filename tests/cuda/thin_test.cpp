// Products of few rows (thin): rows, dtypes and biases beside the CPU's, several in one launch, and operands that the kernel does not read.
// covers: core/executors/cuda/cublaslt/thin.cpp
#include "cuda/cuda.h"

#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

struct CudaThinProducts : CudaTest {
  // The product of x and a weight [columns, terms], with a bias if there is a third input.
  static Tensor* layer(Scope& s, const Values& in, const char* dtype) {
    const auto as = [&](size_t i) { return op(s, "to", {any(in[i].tensor), Any::string(dtype)}); };
    Tensor* y = op(s, "linear", {any(as(0)), any(as(1)), in.size() > 2 ? any(as(2)) : Any()});
    return op(s, "to", {any(y), Any::string("float32")});
  }
  void agrees(Compiled& f, const std::vector<Ref<Tensor>>& in, double tolerance) {
    std::vector<Tensor*> on_cpu, on_device;
    std::vector<Ref<Tensor>> kept;
    for (const Ref<Tensor>& t : in) on_cpu.push_back(t.get()), on_device.push_back(kept.emplace_back(on_gpu(t)).get());
    const Ref<Tensor> expected = result(f, on_cpu), got = result(f, on_device);
    ASSERT_TRUE(expected && got) << error;
    EXPECT_EQ(battery::difference(battery::numbers_of(*got), battery::numbers_of(*expected), tolerance), "");
  }
  static bool is_thin(const Compiled& f) { return explain(f, "schedule").find("few rows") != std::string::npos; }
};

TEST_F(CudaThinProducts, of_every_dtype_agree_with_the_cpu) {
  for (const char* dtype : {"float32", "bfloat16", "float16"})
    for (const bool bias : {false, true})
      for (const int64_t rows : {1, 2, 3, 4}) {
        auto f = compile([dtype](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(layer(s, in, dtype))); });
        std::vector<Ref<Tensor>> in = {random({1, rows, 520}, 1), random({301, 520}, 2)};
        if (bias) in.push_back(random({301}, 3));
        agrees(*f, in, std::string_view(dtype) == "float32" ? 1e-4 : 2e-2);
        EXPECT_TRUE(is_thin(*f)) << dtype << " of " << rows << " rows\n" << explain(*f, "schedule");
      }
}

TEST_F(CudaThinProducts, leave_many_rows_to_the_library) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(layer(s, in, "float32"))); });
  agrees(*f, {random({64, 512}, 1), random({300, 512}, 2)}, 1e-4);
  EXPECT_FALSE(is_thin(*f));
}

// Columns that are not dense, and terms that are no whole vectors.
TEST_F(CudaThinProducts, leave_other_layouts_to_the_library) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}))); });
  agrees(*f, {random({1, 512}, 1), random({512, 300}, 2)}, 1e-4);
  EXPECT_FALSE(is_thin(*f));
  auto odd = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(layer(s, in, "float32"))); });
  agrees(*odd, {random({1, 515}, 1), random({300, 515}, 2)}, 1e-4);
  EXPECT_FALSE(is_thin(*odd));
}

// A layer's weight at any element of a larger tensor: vectors cannot be read there.
TEST_F(CudaThinProducts, begin_at_any_element) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const std::vector<int64_t> shape = {300, 512};
    Tensor* w = op(s, "reshape", {any(op(s, "narrow", {any(in[1].tensor), Any::integer(0), Any::integer(1), Any::integer(300 * 512)})), Any::dims(shape)});
    out.push(Ref<Tensor>(op(s, "linear", {any(in[0].tensor), any(w)})));
  });
  agrees(*f, {random({1, 512}, 1), random({300 * 512 + 1}, 2)}, 1e-4);
}

TEST_F(CudaThinProducts, of_one_operand_are_one_launch_with_the_same_bits) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor *q = op(s, "linear", {any(x), any(in[1].tensor)}), *k = op(s, "linear", {any(x), any(in[2].tensor)}), *v = op(s, "linear", {any(x), any(in[3].tensor)});
    out.push(Ref<Tensor>(q)), out.push(Ref<Tensor>(k)), out.push(Ref<Tensor>(v));
  };
  auto alone_options = make<CompileOptions>();
  alone_options->set("disable_passes", Any::string("join"));
  auto options = make<CompileOptions>();
  auto joined = compile(body, options.get()), alone = compile(body, alone_options.get());
  const Ref<Tensor> in[] = {on_gpu(random({1, 512}, 1)), on_gpu(random({512, 512}, 2)), on_gpu(random({130, 512}, 3)), on_gpu(random({129, 512}, 4))};
  Tensor* const tensors[] = {in[0].get(), in[1].get(), in[2].get(), in[3].get()};
  std::vector<Floats> numbers[2];
  for (int i = 0; i < 2; i++) {
    Tensor* out[3] = {};
    ASSERT_EQ((i ? alone : joined)->call_tensors(tensors, 4, out, 3), nullptr);
    for (Tensor* t : out) numbers[i].push_back(data(*Ref<Tensor>::adopt(t)));
  }
  EXPECT_EQ(numbers[0], numbers[1]);
  EXPECT_NE(explain(*joined, "join").find("is in the launch of step"), std::string::npos) << explain(*joined, "join");
}

}  // namespace
}  // namespace thunder::test
