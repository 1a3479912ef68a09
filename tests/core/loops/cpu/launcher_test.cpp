// Fused programs run: what the host computes, over every kind of shape, dtype, stride and reduction.
#include "loops/cpu/launcher.h"

#include <thread>

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

struct FusedKernel : FusedTest {};
using In = std::span<Tensor* const>;

// exp(a) * b + a, with a reduction-free tail.
std::vector<Tensor*> pointwise(Scope& s, In in) {
  Tensor* y = call(s, "add", {arg(call(s, "mul", {arg(call(s, "sin", {arg(in[0])})), arg(in[1])})), arg(in[0])});
  return {y, call(s, "lt", {arg(y), arg(in[1])})};
}

TEST_F(FusedKernel, computes_elementwise_nodes_of_any_length) {
  for (int64_t n : {1, 2, 7, 8, 15, 16, 17, 31, 63, 64, 65, 255, 4095, 4096, 4097, 1000003}) {
    SCOPED_TRACE(n);
    EXPECT_EQ(agree(pointwise, {numbers({n}), numbers({n})}, 2).kernels, 1u);
  }
}

TEST_F(FusedKernel, computes_elementwise_nodes_of_every_real_dtype) {
  for (auto [dtype, tolerance] : {std::pair(DType::f64, 1e-12), std::pair(DType::bf16, 0.02)})
    for (int64_t n : {1, 17, 1000}) {
      SCOPED_TRACE(name(dtype));
      agree([](Scope& s, In in) { return std::vector{pointwise(s, in)[0]}; }, {numbers({n}, dtype), numbers({n}, dtype)}, 1, tolerance);
    }
}

TEST_F(FusedKernel, computes_elementwise_nodes_of_every_integer_dtype) {
  for (DType dtype : {DType::i64, DType::i32, DType::u8, DType::boolean})
    for (int64_t n : {1, 17, 1000}) {
      SCOPED_TRACE(name(dtype));
      const double low = dtype == DType::u8 || dtype == DType::boolean ? 0 : -100, high = dtype == DType::boolean ? 2 : 200;
      agree([](Scope& s, In in) {
        Tensor *y = call(s, "mul", {arg(in[0]), arg(in[1])}), *z = call(s, "maximum", {arg(y), arg(in[0])});
        return std::vector{y, z, call(s, "eq", {arg(z), arg(in[1])}), call(s, "where", {arg(call(s, "gt", {arg(y), arg(in[1])})), arg(y), arg(z)})};
      }, {numbers({n}, dtype, low, high), numbers({n}, dtype, low, high)}, 4, 0);
    }
}

// Larger than second-level caches are: while a row is read again the next one is fetched, past the last one too.
TEST_F(FusedKernel, reduces_rows_of_large_inputs) {
  const auto softmax = [](Scope& s, In in) {
    Tensor* y = call(s, "log_softmax", {arg(in[0]), arg(int64_t{1})});
    return std::vector{call(s, "mul", {arg(y), arg(in[1])})};
  };
  for (int64_t columns : {1000, 1021, 20001}) {
    SCOPED_TRACE(columns);
    const int64_t rows = (int64_t{5} << 20) / columns;
    EXPECT_EQ(agree(softmax, {numbers({rows, columns}), numbers({rows, columns})}, 1).kernels, 1u);
  }
}

TEST_F(FusedKernel, reads_broadcast_operands) {
  for (int64_t n : {1, 5, 16, 65}) {
    agree(pointwise, {numbers({3, n}), numbers({n})}, 2);
    agree(pointwise, {numbers({3, n}), numbers({3, 1})}, 2);
    agree(pointwise, {numbers({2, 3, n}), numbers({3, 1})}, 2);
    agree(pointwise, {numbers({3, n}), numbers({})}, 2);
  }
}

TEST_F(FusedKernel, reads_strided_and_transposed_inputs) {
  for (int64_t n : {3, 16, 65})
    agree([](Scope& s, In in) {
      Tensor* turned = call(s, "transpose", {arg(in[0]), arg(int64_t{0}), arg(int64_t{1})});
      Tensor* second = call(s, "slice", {arg(in[1]), arg(int64_t{1}), arg(int64_t{1}), arg(int64_t{1} << 40), arg(int64_t{2})});
      std::vector<Tensor*> out = pointwise(s, std::vector{turned, second});
      // The result is read transposed again.
      out.push_back(call(s, "transpose", {arg(call(s, "exp", {arg(out[0])})), arg(int64_t{0}), arg(int64_t{1})}));
      return out;
    }, {numbers({n, 33}), numbers({33, 2 * n + 1})}, 3);
}

TEST_F(FusedKernel, handles_special_values) {
  const float inf = INFINITY, nan = NAN;
  auto x = tensor({9}, {inf, -inf, nan, 0, -0.0f, 1, -1, 3e38f, 1e-42f}), y = tensor({9}, {nan, inf, 1, 0, 0, -inf, 2, 3e38f, 1e-42f});
  agree([](Scope& s, In in) {
    std::vector<Tensor*> out;
    for (const char* op : {"add", "mul", "div", "maximum", "minimum", "lt", "eq", "ne"}) out.push_back(call(s, op, {arg(in[0]), arg(in[1])}));
    for (const char* op : {"exp", "tanh", "relu", "sqrt", "sigmoid"}) out.push_back(call(s, op, {arg(in[0])}));
    out.push_back(call(s, "amax", {arg(in[0])}));
    out.push_back(call(s, "sum", {arg(in[0])}));
    return out;
  }, {x, y}, 15);
}

std::vector<Tensor*> row_statistics(Scope& s, In in) {
  Tensor* y = call(s, "sin", {arg(in[0])});
  const std::vector<int64_t> last = {-1};
  const Any rows = arg(last);
  return {call(s, "sum", {arg(y), rows}), call(s, "amax", {arg(y), rows}), call(s, "amin", {arg(y), rows})};
}

TEST_F(FusedKernel, reduces_rows_of_any_length) {
  for (int64_t n = 1; n <= 130; n++) {
    SCOPED_TRACE(n);
    agree(row_statistics, {numbers({3, n})}, 3);
  }
  agree(row_statistics, {numbers({3, 50257})}, 3, 1e-5);
}

TEST_F(FusedKernel, divides_rows_by_values_whose_reciprocal_overflows) {
  const auto share = [](Scope& s, In in) {
    return std::vector{call(s, "div", {arg(in[0]), arg(call(s, "sum", {arg(in[0]), arg(std::vector<int64_t>{1}), Any::boolean(true)}))})};
  };
  agree(share, {numbers({4, 30}, DType::f32, 1e-42, 1e-40)}, 1, 1e-3);
  agree(share, {numbers({4, 30}, DType::f64, 1e-320, 1e-310)}, 1, 1e-3);
  agree(share, {numbers({4, 30}, DType::f32, 1e30, 1e36)}, 1, 1e-6);
}

TEST_F(FusedKernel, sums_columns) {
  for (int64_t rows : {2, 16, 33, 1000})
    for (int64_t columns : {1, 15, 64, 100})
      agree([](Scope& s, In in) {
        Tensor* y = call(s, "sin", {arg(in[0])});
        return std::vector{call(s, "sum", {arg(y), arg(std::vector<int64_t>{0})}), call(s, "amax", {arg(y), arg(std::vector<int64_t>{0})})};
      }, {numbers({rows, columns})}, 2, 1e-5);
}

TEST_F(FusedKernel, sums_columns_beside_rows_and_totals) {
  for (DType dtype : {DType::f32, DType::f64})
    agree([](Scope& s, In in) {
      Tensor *y = call(s, "softmax", {arg(in[0]), arg(int64_t{1})}), *z = call(s, "mul", {arg(y), arg(in[1])});
      return std::vector{y, call(s, "sum", {arg(z), arg(std::vector<int64_t>{0})}), call(s, "sum", {arg(z)}), call(s, "mean", {arg(y), arg(std::vector<int64_t>{1})})};
    }, {numbers({129, 70}, dtype), numbers({129, 70}, dtype)}, 4, 1e-5);
}

// The rows join after the total: what each row has once must not be summed once for each column.
TEST_F(FusedKernel, sums_all_rows_beside_longer_rows) {
  agree([](Scope& s, In in) {
    Tensor* r = call(s, "exp", {arg(in[0])});
    Tensor* total = call(s, "sum", {arg(r)});
    Tensor* rows = call(s, "sum", {arg(call(s, "sin", {arg(in[1])})), arg(std::vector<int64_t>{1})});
    return std::vector{total, call(s, "add", {arg(r), arg(rows)})};
  }, {numbers({6}), numbers({6, 40})}, 2);
}

// Neither may be read along its diagonal.
TEST_F(FusedKernel, broadcasts_one_vector_to_rows_and_columns) {
  agree([](Scope& s, In in) {
    Tensor* v = call(s, "exp", {arg(in[0])});
    Tensor* top = call(s, "amax", {arg(v)});
    Tensor* rows = call(s, "sum", {arg(in[1]), arg(std::vector<int64_t>{1})});
    return std::vector{call(s, "mul", {arg(call(s, "add", {arg(v), arg(rows)})), arg(top)}),
                       call(s, "add", {arg(in[1]), arg(call(s, "transpose", {arg(call(s, "exp", {arg(in[1])})), arg(int64_t{0}), arg(int64_t{1})}))})};
  }, {numbers({5}), numbers({5, 5})}, 2);
}

TEST_F(FusedKernel, accepts_many_inputs) {
  Tensors in;
  for (int i = 0; i < 90; i++) in.push_back(numbers({20}));
  EXPECT_EQ(agree([](Scope& s, In t) {
    Tensor* sum = t[0];
    for (Tensor* x : t.subspan(1)) sum = call(s, "add", {arg(sum), arg(x)});
    return std::vector{sum};
  }, in, 1).kernels, 1u);
}

TEST_F(FusedKernel, computes_norms_and_softmaxes_with_gradients) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{4, 7}, {33, 64}, {3, 700}}) {
    const Tensors in = {numbers({rows, columns}), numbers({columns}), numbers({columns}), numbers({rows, columns})};
    const std::vector<int64_t> last = {columns};
    agree([&](Scope& s, In t) { return with_gradients(s, call(s, "layer_norm", {arg(t[0]), arg(last), arg(t[1]), arg(t[2])}), t, 3); }, in, 4, 2e-5);
    agree([&](Scope& s, In t) { return with_gradients(s, call(s, "rms_norm", {arg(t[0]), arg(last), arg(t[1])}), t, 2); }, in, 3, 2e-5);
    for (int64_t dim : {0, 1})
      for (const char* op : {"softmax", "log_softmax"})
        agree([&](Scope& s, In t) { return with_gradients(s, call(s, op, {arg(t[0]), arg(dim)}), t, 1); }, in, 2, 2e-5);
  }
}

TEST_F(FusedKernel, computes_batch_norm_with_gradients) {
  const Tensors in = {numbers({4, 3, 5, 6}), numbers({3}), numbers({3}), numbers({3}), numbers({3}, DType::f32, 0.5, 2), numbers({4, 3, 5, 6})};
  for (bool training : {true, false})
    agree([&](Scope& s, In t) {
      return with_gradients(s, call(s, "batch_norm", {arg(t[0]), arg(t[3]), arg(t[4]), arg(t[1]), arg(t[2]), Any::boolean(training)}), t, 3);
    }, in, 4, 5e-5);
}

TEST_F(FusedKernel, computes_cross_entropy_with_its_gradient) {
  for (auto [rows, classes] : {std::pair<int64_t, int64_t>{1, 2}, {5, 7}, {64, 1000}, {3, 50257}}) {
    auto x = numbers({rows, classes}), w = numbers({classes}, DType::f32, 0.5, 2);
    auto y = numbers({rows}, DType::i64, 0, static_cast<double>(classes));
    reinterpret_cast<int64_t*>(y->data())[0] = 1;  // ignored below
    for (const char* reduction : {"mean", "sum", "none"})
      for (double smoothing : {0.0, 0.1})
        for (bool weighted : {false, true})
          agree([&](Scope& s, In t) {
            Tensor* loss = call(s, "cross_entropy", {arg(t[0]), arg(t[1]), weighted ? arg(t[2]) : Any(), arg(int64_t{1}), Any::string(reduction), arg(smoothing)});
            thunder::Values wrt;
            wrt.push(Ref<Tensor>(t[0]));
            Tensor* scalar = loss->type().rank() ? call(s, "sum", {arg(loss)}) : loss;
            return std::vector{loss, (*s.grad(scalar, wrt))[0].tensor.get()};
          }, {x, y, w}, 2, 1e-4);
  }
}

TEST_F(FusedKernel, draws_the_bits_of_the_reference_in_dropout) {
  for (int64_t n : {1, 3, 17, 1000})
    for (DType dtype : {DType::f32, DType::f64})
      agree([](Scope& s, In in) {
        Tensor* y = call(s, "dropout", {arg(call(s, "neg", {arg(in[0])})), arg(0.3)});
        return std::vector{y, call(s, "transpose", {arg(call(s, "dropout", {arg(y), arg(0.5)})), arg(int64_t{0}), arg(int64_t{1})})};
      }, {numbers({2, n}, dtype)}, 2, 0);
}

TEST_F(FusedKernel, reports_an_index_out_of_range_by_op) {
  for (int64_t wrong : {5, -1}) {
    auto index = integers({3, 1}, {0, wrong, 4});
    const auto body = [](Scope& s, In in) {
      return std::vector{call(s, "sum", {arg(call(s, "exp", {arg(call(s, "gather", {arg(call(s, "exp", {arg(in[0])})), arg(int64_t{1}), arg(in[1])}))}))})};
    };
    const auto failed = outcome(body, {numbers({3, 5}), index}, 1, "fusion");
    EXPECT_NE(failed.error.find("gather: index " + std::to_string(wrong) + " is out of range for dim 1 of size 5"), std::string::npos) << failed.error;
  }
}

// A vector reaches over the last row; what it computes there is no index of anybody's.
TEST_F(FusedKernel, gathers_at_computed_indices) {
  for (int64_t n : {1, 5, 17, 70})
    agree([](Scope& s, In in) {
      Tensor* index = call(s, "sub", {arg(in[1]), arg(int64_t{1})});
      return std::vector{call(s, "exp", {arg(call(s, "gather", {arg(in[0]), arg(int64_t{1}), arg(index)}))})};
    }, {numbers({n, 9}), numbers({n, 1}, DType::i64, 1, 10)}, 1);
}

// Nothing is written by a call that fails.
TEST_F(FusedKernel, writes_nothing_after_an_index_out_of_range) {
  auto w = numbers({3, 5}), index = integers({3, 1}, {0, 7, 1});
  const auto before = values(*w);
  const auto failed = outcome([](Scope& s, In in) {
    Tensor* y = call(s, "exp", {arg(in[0])});
    Tensor* picked = call(s, "gather", {arg(y), arg(int64_t{1}), arg(in[1])});
    call(s, "copy_", {arg(in[0]), arg(y)});
    return std::vector{picked};
  }, {w, index}, 1, "fusion");
  EXPECT_NE(failed.error, "");
  EXPECT_EQ(values(*w), before);
}

// The step of AdamW, with its outputs in its inputs' memory.
TEST_F(FusedKernel, updates_inputs_in_place) {
  for (int64_t n : {1, 17, 5000}) {
    const auto made = agree([](Scope& s, In t) {
      const auto set = [&](const char* op, Tensor* to, std::vector<Any> rest) {
        rest.insert(rest.begin(), arg(to));
        call(s, op, std::move(rest));
      };
      set("mul_", t[0], {arg(0.99)});
      set("mul_", t[2], {arg(0.9)});
      set("add_", t[2], {arg(call(s, "mul", {arg(t[1]), arg(0.1)}))});
      set("mul_", t[3], {arg(0.999)});
      set("add_", t[3], {arg(call(s, "mul", {arg(call(s, "mul", {arg(t[1]), arg(t[1])})), arg(0.001)}))});
      Tensor* scale = call(s, "add", {arg(call(s, "sqrt", {arg(t[3])})), arg(1e-8)});
      set("sub_", t[0], {arg(call(s, "div", {arg(t[2]), arg(scale)}))});
      return std::vector<Tensor*>();
    }, {numbers({n}), numbers({n}), numbers({n}), numbers({n}, DType::f32, 0.1, 1)}, 0, 2e-5);
    EXPECT_EQ(made.kernels, 1u);
  }
}

TEST_F(FusedKernel, handles_in_place_writes_of_operands_read_transposed) {
  agree([](Scope& s, In in) {
    Tensor* turned = call(s, "transpose", {arg(in[0]), arg(int64_t{0}), arg(int64_t{1})});
    Tensor* y = call(s, "add", {arg(call(s, "exp", {arg(in[0])})), arg(turned)});
    call(s, "copy_", {arg(in[0]), arg(y)});
    return std::vector<Tensor*>();
  }, {numbers({40, 40})}, 0);
}

TEST_F(FusedKernel, results_have_the_same_bits_for_any_number_of_threads) {
  const Body body = [](Scope& s, In in) {
    Tensor *y = call(s, "softmax", {arg(in[0]), arg(int64_t{1})}), *z = call(s, "mul", {arg(y), arg(in[1])});
    return std::vector{z, call(s, "sum", {arg(z), arg(std::vector<int64_t>{0})}), call(s, "sum", {arg(z)}), call(s, "sum", {arg(call(s, "sin", {arg(in[1])}))})};
  };
  const Tensors in = {numbers({1000, 130}), numbers({1000, 130})};
  context->use_threads(1);
  const auto one = outcome(body, in, 4, "fusion");
  for (size_t threads : {2, 5}) {
    context->use_threads(threads);
    EXPECT_EQ(outcome(body, in, 4, "fusion").results, one.results) << threads;
  }
}

TEST_F(FusedKernel, runs_on_many_threads_at_once) {
  auto f = compile([](Scope& s, const thunder::Values& in, thunder::Values& out) {
    Tensor* y = call(s, "softmax", {arg(in[0].tensor.get()), arg(int64_t{0})});
    out.push(Ref<Tensor>(call(s, "mul", {arg(y), arg(2.0)})));
  }, only("fusion").get());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 16; k++)
    threads.emplace_back([&, k] {
      for (int64_t n = 1 + k % 4; n < 40; n += 3) {
        Tensor *in = nullptr, *out = nullptr;
        auto x = tensor({n}, test::Floats(static_cast<size_t>(n), static_cast<float>(k)));
        in = x.get();
        if (f->call_tensors(&in, 1, &out, 1)) return void(wrong++);
        for (float v : data(*out)) wrong += std::fabs(v - 2.0f / static_cast<float>(n)) > 1e-6f;
        out->release();
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace thunder::fusion
