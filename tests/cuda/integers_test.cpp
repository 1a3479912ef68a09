// What fusion does not compute of integers, and other ops that went by way of the CPU (integers, draws, searches, concat, products, scans, alignments):
// the CPU's bits, on the device.
// covers: core/executors/cuda/rules/alignments.cpp core/executors/cuda/rules/concat.cpp core/executors/cuda/rules/draws.cpp
// covers: core/executors/cuda/rules/incomplete_gamma.cpp
// covers: core/executors/cuda/rules/integers.cpp core/executors/cuda/rules/products.cpp core/executors/cuda/rules/searches.cpp
#include "cuda/cuda.h"

namespace thunder::test {
namespace {

struct CudaIntegers : CudaTest {
  Ref<CompileOptions> all = make<CompileOptions>();

  using Ways = std::vector<std::pair<std::string_view, std::string_view>>;  // by op: its executor
  void agrees(const Lambda::Body& body, const std::vector<Ref<Tensor>>& in, const Ways& ways, float within = 0) {
    auto f = compile(body, all.get());
    std::vector<Tensor*> here, there;
    std::vector<Ref<Tensor>> moved;
    for (const Ref<Tensor>& t : in) moved.push_back(on_gpu(t)), here.push_back(t.get()), there.push_back(moved.back().get());
    const Floats expected = CompiledTest::run(*f, here), got = run(*f, there);
    ASSERT_FALSE(expected.empty()) << error;
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], within * (1 + std::abs(expected[i]))) << "at " << i;
    for (const auto& [name, executor] : ways) EXPECT_EQ(executor_of(*f, name), executor) << name;
  }
  Ref<Tensor> mixed(const std::vector<int64_t>& shape, int64_t least, int64_t most) {
    std::vector<int64_t> all;
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    for (int64_t i = 0; i < n; i++) all.push_back(least + (i * 7919 + i / 3) % (most - least));
    return integers(shape, all);
  }
  static Tensor* real(Scope& s, Tensor* x) { return op(s, "to", {any(x), as(DType::f32)}); }
};

TEST_F(CudaIntegers, are_divided_and_shifted) {
  for (const DType dtype : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u8})
    for (const char* name : {"remainder", "floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}) {
      SCOPED_TRACE(cat(name, " of ", thunder::name(dtype)));
      agrees([=](Scope& s, const Values& in, Values& out) {
        Tensor *x = op(s, "to", {any(in[0].tensor), as(dtype)}), *y = op(s, "to", {any(in[1].tensor), as(dtype)});
        out.push(Ref<Tensor>(real(s, op(s, name, {any(op(s, "transpose", {any(x), Any::integer(0), Any::integer(1)})), any(y)}))));
      }, {mixed({30, 40}, dtype == DType::u8 ? 0 : -100, 100), mixed({30}, 1, 50)}, {});
    }
}

TEST_F(CudaIntegers, are_divided_in_the_kernels_of_the_lines_around) {
  for (const auto& [name, prim] : {std::pair{"floor_divide", "prims.div"}, {"remainder", "prims.fmod"}})
    for (const DType dtype : {DType::i64, DType::i32, DType::i8})
      agrees([=, name = name](Scope& s, const Values& in, Values& out) {
        Tensor *x = op(s, "to", {any(in[0].tensor), as(dtype)}), *y = op(s, "to", {any(in[1].tensor), as(dtype)});
        Tensor* divided = op(s, "add", {any(op(s, name, {any(x), any(y)})), any(op(s, name, {any(x), Any::integer(-7)}))});
        out.push(Ref<Tensor>(real(s, op(s, "sum", {any(divided), Any::integer(1)}))));
      }, {mixed({30, 400}, -128, 127), integers({1}, {-1})}, {{prim, "none"}});  // no line of its own
}

TEST_F(CudaIntegers, divided_by_zero_are_refused) {
  for (const char* name : {"floor_divide", "remainder"}) {
    auto f = compile([name](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "sum", {any(op(s, name, {any(in[0].tensor), any(in[1].tensor)}))})));
    }, all.get());
    const Ref<Tensor> x = on_gpu(mixed({5}, 0, 9)), y = on_gpu(integers({5}, {1, 2, 0, 3, 4}));
    const Ref<Tensor> out = result(*f, {x.get(), y.get()});
    ASSERT_TRUE(out) << error;
    try {
      data(*out);
      FAIL() << name << " by zero was taken";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("divided by zero"), std::string::npos) << e.what();
    }
  }
}

TEST_F(CudaIntegers, as_incomplete_gamma_functions_on_the_cpu) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16})
    for (const char* name : {"igamma", "igammac"})
      agrees([=](Scope& s, const Values& in, Values& out) {
        Tensor *a = op(s, "to", {any(in[0].tensor), as(dtype)}), *x = op(s, "to", {any(in[1].tensor), as(dtype)});
        out.push(Ref<Tensor>(real(s, op(s, name, {any(a), any(x)}))));
      }, {random({40, 1}, 1, 0.1, 30), random({33}, 2, 0.1, 40)}, {{"prims.igamma", "cuda"}}, 1e-6F);
}

// Repeated labels, empty targets, sequences that end early, and one that no alignment fits.
TEST_F(CudaIntegers, label_sequences_as_on_the_cpu) {
  for (const DType dtype : {DType::f32, DType::f64})
    agrees([=](Scope& s, const Values& in, Values& out) {
      Tensor* x = op(s, "to", {any(op(s, "log_softmax", {any(in[0].tensor), Any::integer(-1)})), as(dtype)});
      out.push(Ref<Tensor>(real(s, op(s, "ctc_loss", {any(x), any(in[1].tensor), any(in[2].tensor), any(in[3].tensor), Any::integer(0), Any::string("none"), Any::boolean(true)}))));
    }, {random({12, 4, 5}, 1, -2, 2), integers({4, 6}, {1, 1, 2, 3, 3, 4, 2, 2, 2, 1, 1, 1, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1}), integers({4}, {12, 9, 12, 5}), integers({4}, {6, 3, 0, 6})},
    {{"prims.ctc_loss", "cuda"}}, 1e-6F);
}

TEST_F(CudaIntegers, as_labels_out_of_range_are_refused) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "ctc_loss", {any(in[0].tensor), any(in[1].tensor), any(in[2].tensor), any(in[3].tensor)})));
  }, all.get());
  const Ref<Tensor> out = result(*f, {on_gpu(random({4, 1, 3}, 1, -2, -1)).get(), on_gpu(integers({1, 2}, {1, 3})).get(), on_gpu(integers({1}, {4})).get(), on_gpu(integers({1}, {2})).get()});
  std::string said = error;  // of the call, if a step waited, or of the first read
  try {
    if (out) data(*out);
  } catch (const Error& e) {
    said = e.what();
  }
  EXPECT_NE(said.find("index 3 is out of range for labels of 3 classes"), std::string::npos) << said;
}

// As few bits as hold them are stored of each element's bin.
TEST_F(CudaIntegers, of_bins_are_of_32_bits) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "histc", {any(in[0].tensor), Any::integer(10), Any::real(-0.5), Any::real(0.75)})));
  }, all.get());
  const Ref<Tensor> x = random({3000}, 1);
  const Floats expected = CompiledTest::run(*f, {x.get()});
  EXPECT_EQ(run(*f, {on_gpu(x).get()}), expected) << error;
  const std::vector<Trace> traces = f->reports().traces();
  for (const Node* n : traces.back().nodes)
    if (n->op->name() == "prims.scatter_add") EXPECT_EQ(traces.back().type(n->results[0]).dtype, DType::i32);
  EXPECT_EQ(executor_of(*f, "prims.scatter_add"), "cuda");
}

TEST_F(CudaIntegers, are_multiplied_as_matrices) {
  agrees([](Scope& s, const Values& in, Values& out) {
    Tensor* turned = op(s, "transpose", {any(in[1].tensor), Any::integer(0), Any::integer(1)});
    out.push(Ref<Tensor>(real(s, op(s, "matmul", {any(in[0].tensor), any(turned)}))));
  }, {mixed({45, 70}, -50, 50), mixed({33, 70}, -50, 50)}, {{"prims.matmul", "cuda"}});
  for (const DType dtype : {DType::i64, DType::i32, DType::i8, DType::u8})
    agrees([=](Scope& s, const Values& in, Values& out) {
      Tensor *x = op(s, "to", {any(in[0].tensor), as(dtype)}), *y = op(s, "to", {any(in[1].tensor), as(dtype)});
      out.push(Ref<Tensor>(real(s, op(s, "matmul", {any(x), any(y)}))));
    }, {mixed({130, 35}, 0, 90), mixed({35, 70}, 0, 90)}, {{"prims.matmul", "cuda"}});
}

TEST_F(CudaIntegers, and_booleans_have_extrema) {
  for (const char* name : {"any", "all"})
    agrees([=](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(real(s, op(s, name, {any(op(s, "gt", {any(in[0].tensor), Any::integer(97)})), Any::integer(1)}))));
    }, {mixed({300, 40}, 0, 100)}, {});
}

// Rows that are cut in parts, from either end.
TEST_F(CudaIntegers, are_scanned_in_parts) {
  for (const char* name : {"cumsum", "cumprod"})
    agrees([=](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(real(s, op(s, name, {any(in[0].tensor), Any::integer(1)}))));
    }, {mixed({2, 9000}, 1, 2)}, {{name == std::string_view("cumsum") ? "prims.cumsum" : "prims.cumprod", "cuda"}});
  agrees([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "cumsum", {any(in[0].tensor), Any::integer(0)})));
  }, {random({20000}, 1)}, {{"prims.cumsum", "cuda"}}, 1e-4F);
  agrees([](Scope& s, const Values& in, Values& out) {
    Tensor* near = op(s, "add", {any(op(s, "mul", {any(in[0].tensor), Any::real(1e-3)})), Any::real(1)});
    out.push(Ref<Tensor>(op(s, "prod", {any(near), Any::integer(0)})));
  }, {random({20000}, 1)}, {{"prims.prod", "cuda"}}, 1e-4F);
  for (const bool reverse : {false, true})
    agrees([reverse](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "prims.logcumsumexp", {any(in[0].tensor), Any::integer(1), Any::boolean(reverse)})));
    }, {random({3, 700}, 1, -60, 60)}, {{"prims.logcumsumexp", "cuda"}}, 1e-5F);
}

TEST_F(CudaIntegers, are_searched_for) {
  for (const bool right : {false, true})
    agrees([=](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(real(s, op(s, "prims.searchsorted", {any(in[0].tensor), any(in[1].tensor), Any::boolean(right)}))));
    }, {integers({6}, {1, 3, 3, 3, 8, 9}), mixed({40}, 0, 11)}, {{"prims.searchsorted", "cuda"}});
}

TEST_F(CudaIntegers, and_normal_numbers_are_drawn_as_on_the_cpu) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16})
    agrees([=](Scope& s, const Values& in, Values& out) {
      const int64_t shape[] = {4000};
      out.push(Ref<Tensor>(real(s, op(s, "prims.philox_normal", {any(in[0].tensor), Any::integer(2), Any::dims(shape), as(dtype)}))));
    }, {integers({2}, {7, 3})}, {{"prims.philox_normal", "cuda"}}, 1e-6F);
  agrees([](Scope& s, const Values& in, Values& out) {
    const int64_t shape[] = {4000};
    out.push(Ref<Tensor>(real(s, op(s, "prims.philox_randint", {any(in[0].tensor), Any::integer(1), Any::integer(-5), Any::integer(1000), Any::dims(shape)}))));
  }, {integers({2}, {7, 3})}, {{"prims.philox_randint", "cuda"}});
}

TEST_F(CudaIntegers, are_concatenated_however_many_there_are) {
  agrees([](Scope& s, const Values& in, Values& out) {
    std::vector<Tensor*> parts(11, in[0].tensor.get());
    parts[4] = op(s, "neg", {any(in[0].tensor)});
    Any list;
    list.kind = ArgKind::values, list.count = parts.size(), list.ts = parts.data();
    out.push(Ref<Tensor>(real(s, op(s, "cat", {list, Any::integer(1)}))));
  }, {mixed({3, 4}, -9, 9)}, {{"prims.cat", "cuda"}});
}

}  // namespace
}  // namespace thunder::test
