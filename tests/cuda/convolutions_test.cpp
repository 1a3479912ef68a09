// Convolutions through cuDNN (cudnn, convolution, plan, session, library): windows, groups, layouts and dtypes against the CPU's
// kernels. Constants of its header are compared where that is installed.
// covers: core/executors/cuda/cudnn/convolution.cpp core/executors/cuda/cudnn/cudnn.cpp
// covers: core/executors/cuda/cudnn/library.cpp core/executors/cuda/cudnn/plan.cpp
// covers: core/executors/cuda/cudnn/session.cpp
#include "cuda/cuda.h"

#if __has_include(<cudnn_graph.h>)
#include <cudnn_graph.h>
#endif
#include "executors/cuda/cudnn/library.h"

namespace thunder::test {
namespace {

// Sizes of the input and the weight, and the window's options.
struct Case {
  std::vector<int64_t> x, w, stride, padding, dilation;
  int64_t groups;
};
const Case kCases[] = {
    {{2, 3, 9, 8}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1}, {{2, 4, 13, 11}, {6, 2, 3, 2}, {2, 3}, {1, 2}, {2, 1}, 2},
    {{1, 4, 20, 30}, {4, 1, 5, 5}, {1, 1}, {4, 4}, {1, 1}, 4}, {{2, 40, 6, 7}, {30, 40, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},
    {{1, 9, 5, 4}, {3, 9, 2, 2}, {3, 3}, {5, 6}, {3, 2}, 1}, {{1, 1, 30, 70}, {2, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{3, 2, 7, 7}, {20, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1}, {{1, 3, 4, 5}, {2, 3, 4, 5}, {1, 1}, {0, 0}, {1, 1}, 1},
    {{1, 2, 3, 3}, {2, 2, 3, 3}, {4, 5}, {2, 2}, {1, 1}, 1}, {{0, 2, 5, 5}, {3, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
};

// How the operands of the convolution lie in memory.
enum class Lies { channels_first, channels_last, neither };

struct CudaConvolutions : CudaTest {
  // A tensor of that shape, made of one that the caller gives so that it is what lies so.
  static std::vector<int64_t> given(const std::vector<int64_t>& shape, Lies lies) {
    if (lies == Lies::channels_last) return {shape[0], shape[2], shape[3], shape[1]};
    if (lies == Lies::neither) return {shape[3], shape[1], shape[2], shape[0]};
    return shape;
  }
  static Tensor* taken(Scope& s, Tensor* t, Lies lies) {
    if (lies == Lies::channels_first) return t;
    const std::vector<int64_t> last = {0, 3, 1, 2}, ends = {3, 1, 2, 0};
    return op(s, "prims.permute", {any(t), Any::dims(lies == Lies::channels_last ? last : ends)});
  }

  // The result and both gradients.
  Ref<Compiled> all_of(const Case& w, Lies lies) {
    return compile([&w, lies](Scope& s, const Values& in, Values& out) {
      Tensor *x = taken(s, in[0].tensor.get(), lies), *weight = taken(s, in[1].tensor.get(), lies);
      Tensor* y = op(s, "conv2d", {any(x), any(weight), Any(), Any::dims(w.stride), Any::dims(w.padding), Any::dims(w.dilation), Any::integer(w.groups)});
      Values wrt;
      wrt.push(in[0].tensor), wrt.push(in[1].tensor);
      const Values* grads = s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt);
      out.push(Ref<Tensor>(y)), out.push((*grads)[0].tensor), out.push((*grads)[1].tensor);
    });
  }

  void agrees(const Case& w, Lies lies) {
    auto f = all_of(w, lies);
    const Ref<Tensor> x = random(given(w.x, lies), 1), weight = random(given(w.w, lies), 2), gx = on_gpu(x), gw = on_gpu(weight);
    Tensor *cpu[3] = {}, *gpu[3] = {}, *in[] = {x.get(), weight.get()}, *gin[] = {gx.get(), gw.get()};
    ASSERT_EQ(f->call_tensors(in, 2, cpu, 3), nullptr);
    ASSERT_EQ(f->call_tensors(gin, 2, gpu, 3), nullptr);
    for (int i = 0; i < 3; i++) {
      const Ref<Tensor> a = Ref<Tensor>::adopt(cpu[i]), b = Ref<Tensor>::adopt(gpu[i]);
      EXPECT_EQ(battery::difference(battery::numbers_of(*b), battery::numbers_of(*a), 1e-4), "") << "case " << &w - kCases << ", result " << i;
    }
    for (const char* name : {"prims.conv2d", "prims.conv2d_input_grad", "prims.conv2d_weight_grad"}) EXPECT_EQ(executor_of(*f, name), "cudnn");
  }
};

TEST_F(CudaConvolutions, of_every_window_agree_with_the_cpu) {
  for (const Case& w : kCases) agrees(w, Lies::channels_first);
}

TEST_F(CudaConvolutions, read_channels_that_lie_last) {
  for (size_t i : {0, 1}) agrees(kCases[i], Lies::channels_last);
}

TEST_F(CudaConvolutions, pack_operands_that_lie_otherwise) {
  for (size_t i : {0, 1}) agrees(kCases[i], Lies::neither);
}

TEST_F(CudaConvolutions, begin_at_any_element) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const std::vector<int64_t> shape = {1, 2, 5, 5};
    Tensor* x = op(s, "reshape", {any(op(s, "narrow", {any(in[0].tensor), Any::integer(0), Any::integer(1), Any::integer(50)})), Any::dims(shape)});
    out.push(Ref<Tensor>(op(s, "conv2d", {any(x), any(in[1].tensor)})));
  });
  const Ref<Tensor> x = random({51}, 1), w = random({3, 2, 3, 3}, 2), gx = on_gpu(x), gw = on_gpu(w);
  const Floats expected = CompiledTest::run(*f, {x.get(), w.get()}), got = run(*f, {gx.get(), gw.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
}

TEST_F(CudaConvolutions, give_the_same_bits_in_each_call) {
  auto f = all_of(kCases[6], Lies::channels_first);
  const Ref<Tensor> x = on_gpu(random(kCases[6].x, 1)), w = on_gpu(random(kCases[6].w, 2));
  Tensor* in[] = {x.get(), w.get()};
  std::vector<Floats> first;
  for (int call = 0; call < 4; call++) {
    Tensor* out[3] = {};
    ASSERT_EQ(f->call_tensors(in, 2, out, 3), nullptr);
    for (size_t i = 0; i < 3; i++) {
      const Ref<Tensor> t = Ref<Tensor>::adopt(out[i]);
      if (!call) first.push_back(data(*t));
      else EXPECT_EQ(data(*t), first[i]);
    }
  }
}

// Of 1 + 2^-12, which TF32 does not hold. On a GPU cuDNN may find another engine faster at this size.
TEST_F(CudaConvolutions, round_to_tf32_where_that_is_allowed) {
  const Ref<Tensor> x = on_gpu(tensor({8, 16, 8, 8}, Floats(8 * 16 * 64, 1 + 1.0F / 4096))), w = on_gpu(tensor({16, 16, 1, 1}, Floats(256, 1)));
  for (const bool allowed : {false, true}) {
    auto options = make<CompileOptions>();
    options->set("cudnn_allow_tf32", Any::boolean(allowed));
    auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "conv2d", {any(in[0].tensor), any(in[1].tensor)}))); }, options.get());
    const Floats got = run(*f, {x.get(), w.get()});
    ASSERT_FALSE(got.empty()) << error;
    if (!allowed) EXPECT_EQ(got[0], 16 + 16 / 4096.0F);
    else if (::getenv("THUNDER_CUDA_DRIVER")) EXPECT_EQ(got[0], 16) << "by the stand-in";
    else EXPECT_NEAR(got[0], 16, 16 / 4096.0F);
    EXPECT_EQ(executor_of(*f, "prims.conv2d"), "cudnn");
  }
}

#if __has_include(<cudnn_graph.h>)
TEST(Cudnn, constants_are_those_of_its_header) {
  using namespace cudnn;
  EXPECT_EQ(kConvolution, static_cast<int>(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
  EXPECT_EQ(kEngine, static_cast<int>(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  EXPECT_EQ(kEngineConfig, static_cast<int>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  EXPECT_EQ(kHeuristics, static_cast<int>(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  EXPECT_EQ(kPlan, static_cast<int>(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  EXPECT_EQ(kForward, static_cast<int>(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR));
  EXPECT_EQ(kBackwardFilter, static_cast<int>(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR));
  EXPECT_EQ(kBackwardData, static_cast<int>(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR));
  EXPECT_EQ(kGraph, static_cast<int>(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  EXPECT_EQ(kVariantPack, static_cast<int>(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  EXPECT_EQ(kTensor, static_cast<int>(CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  EXPECT_EQ(kTypePointer, static_cast<int>(CUDNN_TYPE_VOID_PTR));
  EXPECT_EQ(kTypeConvolutionMode, static_cast<int>(CUDNN_TYPE_CONVOLUTION_MODE));
  EXPECT_EQ(kTypeHeuristicsMode, static_cast<int>(CUDNN_TYPE_HEUR_MODE));
  EXPECT_EQ(kTypeNumericalNote, static_cast<int>(CUDNN_TYPE_NUMERICAL_NOTE));
  EXPECT_EQ(kTypeDescriptor, static_cast<int>(CUDNN_TYPE_BACKEND_DESCRIPTOR));
  EXPECT_EQ(kPointwise, static_cast<int>(CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
  EXPECT_EQ(kDoPointwise, static_cast<int>(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR));
  EXPECT_EQ(cudnn::kMatmul, static_cast<int>(CUDNN_BACKEND_MATMUL_DESCRIPTOR));
  EXPECT_EQ(kDoMatmul, static_cast<int>(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR));
  EXPECT_EQ(cudnn::kReduction, static_cast<int>(CUDNN_BACKEND_REDUCTION_DESCRIPTOR));
  EXPECT_EQ(kDoReduction, static_cast<int>(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR));
  EXPECT_EQ(kDoReshape, static_cast<int>(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR));
  EXPECT_EQ(kTypePointwiseMode, static_cast<int>(CUDNN_TYPE_POINTWISE_MODE));
  EXPECT_EQ(kTypeReductionOperator, static_cast<int>(CUDNN_TYPE_REDUCTION_OPERATOR_TYPE));
  EXPECT_EQ(kPointwiseMode, static_cast<int>(CUDNN_ATTR_POINTWISE_MODE));
  EXPECT_EQ(kPointwiseCompute, static_cast<int>(CUDNN_ATTR_POINTWISE_MATH_PREC));
  EXPECT_EQ(kPointwiseAxis, static_cast<int>(CUDNN_ATTR_POINTWISE_AXIS));
  EXPECT_EQ(kDoPointwiseHow, static_cast<int>(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR));
  EXPECT_EQ(kDoPointwiseX, static_cast<int>(CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
  EXPECT_EQ(kDoPointwiseB, static_cast<int>(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
  EXPECT_EQ(kDoPointwiseY, static_cast<int>(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  EXPECT_EQ(kDoPointwiseT, static_cast<int>(CUDNN_ATTR_OPERATION_POINTWISE_TDESC));
  EXPECT_EQ(kTensorVirtual, static_cast<int>(CUDNN_ATTR_TENSOR_IS_VIRTUAL));
  EXPECT_EQ(kTensorByValue, static_cast<int>(CUDNN_ATTR_TENSOR_IS_BY_VALUE));
  EXPECT_EQ(kMatmulCompute, static_cast<int>(CUDNN_ATTR_MATMUL_COMP_TYPE));
  EXPECT_EQ(kDoMatmulA, static_cast<int>(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
  EXPECT_EQ(kDoMatmulHow, static_cast<int>(CUDNN_ATTR_OPERATION_MATMUL_DESC));
  EXPECT_EQ(kReductionOperator, static_cast<int>(CUDNN_ATTR_REDUCTION_OPERATOR));
  EXPECT_EQ(kReductionCompute, static_cast<int>(CUDNN_ATTR_REDUCTION_COMP_TYPE));
  EXPECT_EQ(kDoReductionX, static_cast<int>(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
  EXPECT_EQ(kDoReductionHow, static_cast<int>(CUDNN_ATTR_OPERATION_REDUCTION_DESC));
  EXPECT_EQ(kDoReshapeX, static_cast<int>(CUDNN_ATTR_OPERATION_RESHAPE_XDESC));
  EXPECT_EQ(kDoReshapeY, static_cast<int>(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
  EXPECT_EQ(kI32, static_cast<int>(CUDNN_DATA_INT32));
  EXPECT_EQ(kBool, static_cast<int>(CUDNN_DATA_BOOLEAN));
  EXPECT_EQ(kDiv, static_cast<int>(CUDNN_POINTWISE_DIV));
  EXPECT_EQ(kSub, static_cast<int>(CUDNN_POINTWISE_SUB));
  EXPECT_EQ(kExp, static_cast<int>(CUDNN_POINTWISE_EXP));
  EXPECT_EQ(kLog, static_cast<int>(CUDNN_POINTWISE_LOG));
  EXPECT_EQ(kGreaterEqual, static_cast<int>(CUDNN_POINTWISE_CMP_GE));
  EXPECT_EQ(kIndex, static_cast<int>(CUDNN_POINTWISE_GEN_INDEX));
  EXPECT_EQ(kSelect, static_cast<int>(CUDNN_POINTWISE_BINARY_SELECT));
  EXPECT_EQ(kMax, static_cast<int>(CUDNN_REDUCE_TENSOR_MAX));
  EXPECT_EQ(kConvolutionCompute, static_cast<int>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE));
  EXPECT_EQ(kConvolutionDilations, static_cast<int>(CUDNN_ATTR_CONVOLUTION_DILATIONS));
  EXPECT_EQ(kConvolutionStrides, static_cast<int>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES));
  EXPECT_EQ(kConvolutionPaddingAfter, static_cast<int>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS));
  EXPECT_EQ(kConvolutionDims, static_cast<int>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  EXPECT_EQ(kHeuristicsResults, static_cast<int>(CUDNN_ATTR_ENGINEHEUR_RESULTS));
  EXPECT_EQ(kConfigEngine, static_cast<int>(CUDNN_ATTR_ENGINECFG_ENGINE));
  EXPECT_EQ(kPlanWorkspace, static_cast<int>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  EXPECT_EQ(kForwardAlpha + 5, static_cast<int>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y));
  EXPECT_EQ(kBackwardDataAlpha + 5, static_cast<int>(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY));
  EXPECT_EQ(kBackwardFilterAlpha + 5, static_cast<int>(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY));
  EXPECT_EQ(kGraphOperations, static_cast<int>(CUDNN_ATTR_OPERATIONGRAPH_OPS));
  EXPECT_EQ(kTensorId, static_cast<int>(CUDNN_ATTR_TENSOR_UNIQUE_ID));
  EXPECT_EQ(kPackWorkspace, static_cast<int>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
  EXPECT_EQ(kEngineNotes, static_cast<int>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE));
  EXPECT_EQ(kBF16, static_cast<int>(CUDNN_DATA_BFLOAT16));
  EXPECT_EQ(kF16, static_cast<int>(CUDNN_DATA_HALF));
  EXPECT_EQ(kCrossCorrelation, static_cast<int>(CUDNN_CROSS_CORRELATION));
  EXPECT_EQ(kModeA, static_cast<int>(CUDNN_HEUR_MODE_A));
  EXPECT_EQ(kNondeterministic, static_cast<int>(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
}
#endif

}  // namespace
}  // namespace thunder::test
