// Linear algebra by cuSOLVER and cuBLAS: what factors come to together, as their signs are the library's choice.
// covers: core/executors/cuda/cusolver/matrix_kernels.cpp core/executors/cuda/cusolver/systems.cpp
// covers: core/executors/cuda/cusolver/*.cpp
#include "cuda/cuda.h"

namespace thunder::test {
namespace {

struct CudaLinalg : CudaTest {
  Ref<CompileOptions> all = make<CompileOptions>();

  using Body = std::function<void(Scope&, const Values&, Values&)>;
  // The same on the device, by cuSOLVER, as on the CPU; `prim` is the one that it takes.
  void agrees(const Body& body, const std::vector<Ref<Tensor>>& in, std::string_view prim, double tolerance = 2e-4) {
    auto f = compile([=](Scope& s, const Values& given, Values& out) { body(s, given, out); }, all.get());
    std::vector<Tensor*> here, there;
    std::vector<Ref<Tensor>> kept;
    for (const Ref<Tensor>& x : in) {
      here.push_back(x.get());
      kept.push_back(on_gpu(x)), there.push_back(kept.back().get());
    }
    const Floats expected = CompiledTest::run(*f, here);
    ASSERT_FALSE(expected.empty()) << error;
    const Floats got = run(*f, there);
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], tolerance) << "element " << i;
    EXPECT_EQ(executor_of(*f, prim), "cusolver");
  }
  static std::vector<Tensor*> ops(Scope& s, std::string_view name, const std::vector<Any>& args, size_t n) {
    std::vector<Tensor*> out(n);
    s.invoke(name, args, nullptr, out.data(), n, "here:1");
    return out;
  }
  static Tensor* product(Scope& s, Tensor* a, Tensor* b) { return op(s, "matmul", {any(a), any(b)}); }
  static Tensor* transposed(Scope& s, Tensor* x) { return op(s, "transpose", {any(x), Any::integer(-2), Any::integer(-1)}); }
  // x, and n more on its diagonal: far from singular, and not symmetric.
  static Tensor* dominant(Scope& s, Tensor* x) {
    const Shape& shape = x->type().shape;
    const int64_t n = shape[shape.size() - 1].value();
    Any device;
    device.kind = ArgKind::device, device.device = x->type().device;
    Tensor* eye = op(s, "eye", {Any::integer(n), Any(), as(DType::f32), device});
    return op(s, "add", {any(x), any(op(s, "mul", {any(eye), Any::integer(n)}))});
  }
  static Tensor* positive(Scope& s, Tensor* x) { return dominant(s, product(s, x, transposed(s, x))); }
};

// One matrix, a batch that the library takes at once, and one whose matrices it takes one by one.
const std::vector<std::vector<int64_t>> kSquares = {{5, 5}, {2, 3, 6, 6}, {2, 260, 260}};

TEST_F(CudaLinalg, cholesky_factors_are_the_cpus) {
  for (const auto& shape : kSquares)
    agrees([](Scope& s, const Values& in, Values& out) {
      Tensor* l = op(s, "linalg_cholesky", {any(positive(s, in[0].tensor.get()))});
      out.push(Ref<Tensor>(l));
    }, {random(shape, 1)}, "prims.cholesky", 1e-3);
}

TEST_F(CudaLinalg, systems_have_solutions_with_one_side_and_with_more) {
  for (const int64_t sides : {1, 4})
    for (const auto& shape : kSquares) {
      std::vector<int64_t> of_sides = shape;
      of_sides.back() = sides;
      agrees([](Scope& s, const Values& in, Values& out) {
        out.push(Ref<Tensor>(op(s, "linalg_solve", {any(dominant(s, in[0].tensor.get())), any(in[1].tensor)})));
      }, {random(shape, 1), random(of_sides, 2)}, "prims.solve");
    }
}

TEST_F(CudaLinalg, inverses_and_determinants_are_the_cpus) {
  agrees([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "linalg_inv", {any(dominant(s, in[0].tensor.get()))})));
  }, {random({3, 7, 7}, 1)}, "prims.solve");
  agrees([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "linalg_det", {any(in[0].tensor)})));
  }, {random({3, 4, 4}, 1)}, "prims.det");
}

TEST_F(CudaLinalg, triangles_are_solved_from_each_side) {
  for (const bool upper : {false, true})
    for (const bool left : {false, true})
      agrees([=](Scope& s, const Values& in, Values& out) {
        Tensor* triangle = op(s, upper ? "triu" : "tril", {any(dominant(s, in[0].tensor.get()))});
        out.push(Ref<Tensor>(op(s, "linalg_solve_triangular",
                                {any(triangle), any(in[1].tensor), Any::boolean(upper), Any::boolean(left)})));
      }, {random({2, 5, 5}, 1), random({2, 5, 5}, 2)}, "prims.triangular_solve");
}

TEST_F(CudaLinalg, q_by_r_is_the_matrix) {
  for (const auto& shape : std::vector<std::vector<int64_t>>{{6, 4}, {2, 4, 6}, {5, 5}})
    for (const char* mode : {"reduced", "complete"})
      agrees([=](Scope& s, const Values& in, Values& out) {
        const std::vector<Tensor*> qr = ops(s, "linalg_qr", {any(in[0].tensor), Any::string(mode)}, 2);
        out.push(Ref<Tensor>(product(s, qr[0], qr[1])));
      }, {random(shape, 1)}, "prims.qr");
}

TEST_F(CudaLinalg, singular_and_eigenvectors_rebuild_the_matrix) {
  for (const auto& shape : std::vector<std::vector<int64_t>>{{6, 4}, {2, 4, 6}})
    agrees([](Scope& s, const Values& in, Values& out) {
      const std::vector<Tensor*> usv = ops(s, "linalg_svd", {any(in[0].tensor), Any::boolean(false)}, 3);
      Tensor* scaled = op(s, "mul", {any(usv[0]), any(op(s, "unsqueeze", {any(usv[1]), Any::integer(-2)}))});
      out.push(Ref<Tensor>(product(s, scaled, usv[2])));
    }, {random(shape, 1)}, "prims.svd");
  for (const char* half : {"L", "U"})
    agrees([=](Scope& s, const Values& in, Values& out) {
      const std::vector<Tensor*> wv = ops(s, "linalg_eigh", {any(in[0].tensor), Any::string(half)}, 2);
      Tensor* scaled = op(s, "mul", {any(wv[1]), any(op(s, "unsqueeze", {any(wv[0]), Any::integer(-2)}))});
      out.push(Ref<Tensor>(product(s, scaled, transposed(s, wv[1]))));
    }, {random({2, 5, 5}, 1)}, "prims.eigh");
}

TEST_F(CudaLinalg, a_singular_matrix_is_refused_with_its_number) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "linalg_inv", {any(in[0].tensor)})));
  }, all.get());
  const Ref<Tensor> x = random({2, 3, 3}, 1);
  for (int64_t i = 9; i < 18; i++) reinterpret_cast<float*>(x->data())[i] = 0;
  const Ref<Tensor> there = on_gpu(x);
  try {
    run(*f, {there.get()});
    FAIL() << "nothing was refused";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the matrix is singular (matrix 1 of the batch)"), std::string::npos) << e.what();
  }
}

TEST_F(CudaLinalg, many_small_factors_stay_with_the_cpu) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "linalg_svdvals", {any(in[0].tensor)})));
  }, all.get());
  EXPECT_FALSE(run(*f, {on_gpu(random({100, 3, 3}, 1)).get()}).empty()) << error;
  EXPECT_EQ(executor_of(*f, "prims.svd"), "through_host");
}

}  // namespace
}  // namespace thunder::test
