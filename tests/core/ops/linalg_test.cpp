// Factors of matrices: they multiply to what was given, and are orthonormal or triangular; their gradients agree with
// differences.
// covers: core/jit/context/context.cpp core/ops/lapack.cpp
#include <gtest/gtest.h>

#include <cmath>

#include "jit/context/context.h"
#include "ops/kernels.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

using Matrix = std::vector<double>;

struct Linalg : testing::Test {
  Ref<Context> context = make<Context>(ContextHooks{});
  EagerScope scope{context->scope_environment(), true};

  Tensor* tensor(std::initializer_list<int64_t> shape, const Matrix& values) {
    TensorType type;
    type.dtype = DType::f64;
    for (int64_t n : shape) type.shape.push_back(n);
    auto t = Tensor::empty(default_allocator(), type);
    std::copy(values.begin(), values.end(), reinterpret_cast<double*>(t->data()));
    return scope.own(std::move(t));
  }
  Tensor* call(std::string_view op, std::initializer_list<Any> args, size_t result = 0) {
    std::vector<Tensor*> out(result + 1);
    scope.invoke(op, args, nullptr, out.data(), out.size(), nullptr);
    EXPECT_FALSE(scope.status()) << op << ": " << scope.status()->message();
    return out[result];
  }
  static Any any(Tensor* t) { return Any::tensor(t); }
  Tensor* product(Tensor* a, Tensor* b) { return call("matmul", {any(a), any(b)}); }
  Tensor* transposed(Tensor* a) { return call("transpose", {any(a), Any::integer(-2), Any::integer(-1)}); }
  Matrix numbers(Tensor* t) {
    auto dense = Tensor::empty(default_allocator(), t->type());
    copy_strided(t->buffer(), dense->buffer());
    const auto* data = reinterpret_cast<const double*>(dense->data());
    return Matrix(data, data + dense->elements());
  }
  void expect_near(Tensor* a, Tensor* b, double tolerance = 1e-12) {
    const Matrix x = numbers(a), y = numbers(b);
    ASSERT_EQ(x.size(), y.size());
    for (size_t i = 0; i < x.size(); i++) EXPECT_NEAR(x[i], y[i], tolerance) << "element " << i;
  }
  void expect_orthonormal_columns(Tensor* q) {
    Tensor* gram = product(transposed(q), q);
    const auto n = gram->sizes()[gram->type().rank() - 1];
    const Matrix g = numbers(gram);
    for (size_t i = 0; i < g.size(); i++) {
      const auto at = static_cast<int64_t>(i) % (n * n);
      EXPECT_NEAR(g[i], at / n == at % n ? 1 : 0, 1e-12);
    }
  }
  Matrix drawn(size_t n) {
    Matrix out;
    for (size_t i = 0; i < n; i++) out.push_back(std::sin(1 + 1.7 * static_cast<double>(i * i)));
    return out;
  }

  // d(sum(weights * f(x)))/dx against central differences.
  template <class F>
  void expect_gradient(std::initializer_list<int64_t> shape, Matrix at, F&& f) {
    const auto loss = [&](Tensor* x) {
      Tensor* y = f(x);
      Tensor* weights = call("cos", {any(call("arange", {Any::integer(0), Any::integer(y->elements())}))});
      weights = call("reshape", {any(call("to", {any(weights), dtype(DType::f64)})), Any::dims({y->sizes(), y->type().rank()})});
      return call("sum", {any(call("mul", {any(y), any(weights)}))});
    };
    Tensor* x = tensor(shape, at);
    Values wrt;
    wrt.push(Ref<Tensor>(x));
    const Matrix got = numbers((*scope.grad(loss(x), wrt))[0].tensor.get());
    ASSERT_FALSE(scope.status()) << scope.status()->message();
    for (size_t i = 0; i < at.size(); i++) {
      const double step = 1e-6, kept = at[i];
      at[i] = kept + step;
      const double above = numbers(loss(tensor(shape, at)))[0];
      at[i] = kept - step;
      const double below = numbers(loss(tensor(shape, at)))[0];
      at[i] = kept;
      EXPECT_NEAR(got[i], (above - below) / (2 * step), 1e-5 * (1 + std::fabs(got[i]))) << "element " << i;
    }
  }
  static Any dtype(DType d) {
    Any a;
    a.kind = ArgKind::dtype, a.i = 0, a.dtype = d;
    return a;
  }
  Tensor* symmetric(Tensor* x) { return call("add", {any(x), any(transposed(x))}); }
  Tensor* positive(Tensor* x) { return call("add", {any(product(x, transposed(x))), any(call("mul", {any(call("eye", {Any::integer(3), Any(), dtype(DType::f64)})), Any::real(2)}))}); }
};

// The threads of a batch, as often as calls that share anything would need to meet.
TEST_F(Linalg, gives_the_same_bits_of_a_batch_on_any_number_of_threads) {
  constexpr int64_t kBatch = 200, kSize = 40;
  Tensor* x = tensor({kBatch, kSize, kSize}, Matrix(static_cast<size_t>(kBatch * kSize * kSize)));
  auto* data = reinterpret_cast<double*>(x->data());
  for (int64_t i = 0; i < kBatch * kSize * kSize; i++)
    data[i] = std::sin(static_cast<double>(i * i % 7919)) + (i % (kSize * kSize) % (kSize + 1) == 0 ? kSize : 0);
  for (const char* op : {"linalg_cholesky", "linalg_inv", "linalg_svdvals", "linalg_qr", "matrix_exp"}) {
    context->use_threads(1);
    const Matrix alone = numbers(call(op, {any(x)}));
    context->use_threads(4);
    for (int repeat = 0; repeat < 3; repeat++) EXPECT_EQ(numbers(call(op, {any(x)})), alone) << op;
  }
}

TEST_F(Linalg, cholesky_multiplies_to_its_input) {
  Tensor* a = positive(tensor({2, 3, 3}, drawn(18)));
  Tensor* l = call("linalg_cholesky", {any(a)});
  expect_near(product(l, transposed(l)), a);
  EXPECT_EQ(numbers(l)[1], 0);
  Tensor* u = call("linalg_cholesky", {any(a), Any::boolean(true)});
  expect_near(product(transposed(u), u), a);
}

TEST_F(Linalg, cholesky_refuses_what_is_not_positive_definite) {
  const Any a = any(tensor({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 1}));
  scope.invoke("linalg_cholesky", {&a, 1}, nullptr, nullptr, 0, nullptr);
  ASSERT_TRUE(scope.status());
  EXPECT_NE(scope.status()->message().find("its leading minor of order 2 is not (matrix 1 of the batch)"), std::string::npos) << scope.status()->message();
}

TEST_F(Linalg, qr_has_orthonormal_columns_and_a_triangle) {
  for (auto shape : {std::pair(4, 2), std::pair(2, 4), std::pair(3, 3)}) {
    Tensor* a = tensor({2, shape.first, shape.second}, drawn(static_cast<size_t>(2 * shape.first * shape.second)));
    for (const char* mode : {"reduced", "complete"}) {
      Tensor *q = call("linalg_qr", {any(a), Any::string(mode)}), *r = call("linalg_qr", {any(a), Any::string(mode)}, 1);
      expect_near(product(q, r), a);
      expect_orthonormal_columns(q);
      expect_near(call("triu", {any(r)}), r);
    }
  }
}

TEST_F(Linalg, svd_multiplies_to_its_input) {
  for (auto shape : {std::pair(4, 2), std::pair(2, 4), std::pair(3, 3)}) {
    Tensor* a = tensor({2, shape.first, shape.second}, drawn(static_cast<size_t>(2 * shape.first * shape.second)));
    Tensor *u = call("linalg_svd", {any(a), Any::boolean(false)}), *s = call("linalg_svd", {any(a), Any::boolean(false)}, 1),
           *vh = call("linalg_svd", {any(a), Any::boolean(false)}, 2);
    expect_near(product(call("mul", {any(u), any(call("unsqueeze", {any(s), Any::integer(-2)}))}), vh), a);
    expect_orthonormal_columns(u), expect_orthonormal_columns(transposed(vh));
    Tensor* full = call("linalg_svd", {any(a), Any::boolean(true)});
    EXPECT_EQ(full->sizes()[2], shape.first);
    expect_orthonormal_columns(full);
  }
}

TEST_F(Linalg, eigh_diagonalises) {
  Tensor* a = symmetric(tensor({2, 3, 3}, drawn(18)));
  Tensor *w = call("linalg_eigh", {any(a)}), *v = call("linalg_eigh", {any(a)}, 1);
  expect_near(product(call("mul", {any(v), any(call("unsqueeze", {any(w), Any::integer(-2)}))}), transposed(v)), a);
  expect_orthonormal_columns(v);
  expect_near(call("linalg_eigvalsh", {any(a), Any::string("U")}), w);
}

TEST_F(Linalg, the_logarithm_of_a_determinant_that_is_zero_is_infinite_and_so_is_its_gradient) {
  Tensor* a = tensor({2, 2}, {1, 2, 2, 4});
  Values wrt;
  wrt.push(Ref<Tensor>(a));
  Tensor* log = call("logdet", {any(a)});
  EXPECT_EQ(numbers(log)[0], -HUGE_VAL);
  const Matrix slopes = numbers((*scope.grad(log, wrt))[0].tensor.get());
  EXPECT_FALSE(scope.status());
  for (double slope : slopes) EXPECT_FALSE(std::isfinite(slope)) << slope;
  // Where it is not, the gradient is the inverse's transpose.
  for (const char* op : {"logdet", "linalg_slogdet"})
    expect_gradient({3, 3}, {2, 1, 0.5, 0.25, 3, -1, 0.5, 0.75, 4}, [&](Tensor* x) { return call(op, {any(x)}, op[0] == 'l' && op[1] == 'i' ? 1 : 0); });
}

TEST_F(Linalg, gradients_of_factors_agree_with_differences) {
  expect_gradient({3, 3}, drawn(9), [&](Tensor* x) { return call("linalg_cholesky", {any(positive(x))}); });
  for (size_t i : {0, 1}) {
    expect_gradient({4, 2}, drawn(8), [&](Tensor* x) { return call("linalg_qr", {any(x)}, i); });
    expect_gradient({2, 4}, drawn(8), [&](Tensor* x) { return call("linalg_qr", {any(x)}, i); });
    expect_gradient({3, 3}, drawn(9), [&](Tensor* x) { return call("linalg_eigh", {any(symmetric(x))}, i); });
  }
  for (size_t i : {0, 1, 2}) {
    expect_gradient({4, 2}, drawn(8), [&](Tensor* x) { return call("linalg_svd", {any(x), Any::boolean(false)}, i); });
    expect_gradient({2, 4}, drawn(8), [&](Tensor* x) { return call("linalg_svd", {any(x), Any::boolean(false)}, i); });
  }
  expect_gradient({3, 3}, drawn(9), [&](Tensor* x) { return call("linalg_eigvalsh", {any(symmetric(x))}); });
}

TEST_F(Linalg, singular_matrices_are_refused_by_name) {
  const Any args[] = {any(tensor({2, 2}, {1, 2, 2, 4})), any(tensor({2}, {1, 1}))};
  scope.invoke("linalg_solve", args, nullptr, nullptr, 0, nullptr);
  ASSERT_TRUE(scope.status());
  EXPECT_NE(scope.status()->message().find("singular"), std::string::npos) << scope.status()->message();
}

}  // namespace
}  // namespace thunder
