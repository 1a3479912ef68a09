// Rows that several passes of a kernel read (cuda_schedule's `keep`): in registers, in shared memory, and read again. Long rows, short
// ones that a warp takes, and rows that are no whole packs give what the CPU gives.
#include "cuda/cuda.h"
#include "ir/print.h"

namespace thunder::test {
namespace {

struct CudaRows : CudaTest {
  Ref<CompileOptions> all = make<CompileOptions>();

  void agrees(const Lambda::Body& body, const std::vector<Ref<Tensor>>& in, float within) {
    auto f = compile(body, all.get());
    std::vector<Tensor*> here, there;
    std::vector<Ref<Tensor>> moved;
    for (const Ref<Tensor>& t : in) moved.push_back(on_gpu(t)), here.push_back(t.get()), there.push_back(moved.back().get());
    const Floats expected = CompiledTest::run(*f, here), got = run(*f, there);
    ASSERT_FALSE(expected.empty()) << error;
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], within) << "at " << i;
    EXPECT_EQ(run(*f, there), got) << "the same bits again";
  }
  static Tensor* of(Scope& s, Tensor* x, DType dtype) { return op(s, "to", {any(x), as(dtype)}); }
};

// f32: 4096 in registers, 1024 a warp, 20000 in shared memory of a larger block, 60000 too long, 4095 element by element.
TEST_F(CudaRows, of_softmax_in_each_length) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const int64_t n : {4096, 1024, 20000, 60000, 4095, 36}) {
      SCOPED_TRACE(cat(name(dtype), " ", n));
      agrees([=](Scope& s, const Values& in, Values& out) {
        Tensor* y = op(s, "softmax", {any(of(s, in[0].tensor.get(), dtype)), Any::integer(1)});
        out.push(Ref<Tensor>(of(s, op(s, "mul", {any(y), Any::real(100)}), DType::f32)));
      }, {random({5, n}, 1)}, dtype == DType::bf16 ? 2e-2F : 1e-5F);
    }
}

// Two inputs that differ from row to row, and one that all rows share.
TEST_F(CudaRows, of_the_gradient_of_layer_norm) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int64_t n : {4096, 1024, 8192, 100}) {
      SCOPED_TRACE(cat(name(dtype), " ", n));
      const std::vector<int64_t> dims = {n};
      agrees([=](Scope& s, const Values& in, Values& out) {
        Tensor *x = of(s, in[0].tensor.get(), dtype), *dy = of(s, in[1].tensor.get(), dtype), *w = of(s, in[2].tensor.get(), dtype);
        Tensor* y = op(s, "layer_norm", {any(x), Any::dims(dims), any(w)});
        Tensor* loss = op(s, "sum", {any(op(s, "mul", {any(y), any(dy)}))});
        Values wrt;
        wrt.push(Ref<Tensor>(x));
        const auto made = s.grad(loss, wrt);
        ASSERT_TRUE(made);
        out.push(Ref<Tensor>(of(s, (*made)[0].tensor.get(), DType::f32)));
      }, {random({5, n}, 1), random({5, n}, 2), random({n}, 3)}, dtype == DType::bf16 ? 3e-2F : 2e-5F);
    }
}

// Their kernel is one function, whose launches have as much shared memory as their own rows take.
TEST_F(CudaRows, of_several_lengths_share_a_kernel) {
  std::vector<Ref<Compiled>> made;
  std::vector<Ref<Tensor>> x;
  for (const int64_t n : {24000, 16000}) {
    made.push_back(compile([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "softmax", {any(in[0].tensor), Any::integer(1)})));
    }, all.get()));
    x.push_back(on_gpu(random({2, n}, 1)));
    ASSERT_FALSE(run(*made.back(), {x.back().get()}).empty()) << error;
  }
  EXPECT_FALSE(run(*made[0], {x[0].get()}).empty()) << error;
}

// The gradient alone is one kernel over the logits: no target is stored for each class.
TEST_F(CudaRows, of_the_gradient_of_cross_entropy_are_one_kernel) {
  const int64_t rows = 40, classes = 5000;
  const Ref<Tensor> logits = random({rows, classes}, 1), one = tensor({}, {1});
  std::vector<int64_t> hits;
  for (int64_t r = 0; r < rows; r++) hits.push_back(r == 7 ? -100 : r * 97 % classes);
  const Ref<Tensor> target = integers({rows}, hits);
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) {
    Tensor* gradient = op(s, "cross_entropy_backward", {any(in[2].tensor), any(in[0].tensor), any(in[1].tensor), Any(), Any::integer(-100),
                                                        Any::string("mean"), Any::real(0)});
    out.push(Ref<Tensor>(gradient));
  };
  agrees(body, {logits, target, one}, 1e-7F);
  auto f = compile(body, all.get());
  ASSERT_TRUE(result(*f, {on_gpu(logits).get(), on_gpu(target).get(), on_gpu(one).get()})) << error;
  int large = 0;
  const std::vector<Trace> traces = f->reports().traces();
  for (const Node* n : traces.back().nodes)
    for (ValueId r : n->results) large += !n->body.empty() && elements(traces.back().type(r).shape) == Dim(rows * classes);
  EXPECT_EQ(large, 1) << thunder::print(traces.back());
}

}  // namespace
}  // namespace thunder::test
