// ctc_loss: a block goes through the steps of a sequence, its threads through the states that alignments may be in.
#include "base/text.h"
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

// As ops/ctc_sequences.h has it: alpha(t, s) is the logarithm of what the alignments up to step t that end in s add up
// to.
constexpr char kLoss[] = R"(
struct Sequences { i64 time, batch, classes, length, blank, wide[3]; };
__device__ inline i64 integer(const void* at, i64 i, i64 wide) {
  return wide ? ((const i64*)at)[i] : (i64)((const int*)at)[i];
}
__device__ inline double log_sum(double a, double b, double c, double never) {
  double t;
  if (a < b) t = a, a = b, b = t;
  if (a < c) t = a, a = c, c = t;
  if (a == never) return a;
  return a + log1p((b == never ? 0 : exp(b - a)) + (c == never ? 0 : exp(c - a)));
}
extern "C" __global__ void kernel(T* loss, double* alphas, const T* log_probs, const void* targets, const void* times,
                                  const void* lengths, const Sequences q, DeviceAssertion* assertion) {
  const double never = -__longlong_as_double(0x7ff0000000000000LL);
  const i64 all = 2 * q.length + 1;
  for (i64 n = blockIdx.x; n < q.batch; n += gridDim.x) {
    const i64 time = checked(integer(times, n, q.wide[1]), q.time + 1, 1, assertion);
    const i64 states = 2 * checked(integer(lengths, n, q.wide[2]), q.length + 1, 2, assertion) + 1;
    const auto label = [&](i64 s) {
      return s % 2 ? checked(integer(targets, n * q.length + s / 2, q.wide[0]), q.classes, 0, assertion) : q.blank;
    };
    for (i64 t = 0; t < q.time; t++) {
      double* const now = alphas + (t * q.batch + n) * all;
      const double* const then = now - q.batch * all;
      for (i64 s = threadIdx.x; s < all; s += blockDim.x) {
        double before = never;
        if (t < time && s < states) {
          const i64 own = label(s);
          if (t == 0) before = s < 2 ? 0 : never;
          else
            before = log_sum(then[s], s > 0 ? then[s - 1] : never,
                             s % 2 && s > 1 && own != label(s - 2) ? then[s - 2] : never, never);
          if (before != never) before += (double)get(log_probs[(t * q.batch + n) * q.classes + own]);
        }
        now[s] = before;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      double likelihood = states == 1 ? 0 : never;
      if (time) {
        const double* const last = alphas + ((time - 1) * q.batch + n) * all;
        likelihood = log_sum(last[states - 1], states == 1 ? never : last[states - 2], never, never);
      }
      loss[n] = put((C)-likelihood);
    }
  }
}
)";
struct Sequences {
  int64_t time, batch, classes, length, blank, wide[3];
};

std::vector<std::string> describe_lengths(const NodeView& view) {
  const auto size = [&](size_t arg, size_t dim) { return view.store.type(view.node.args[arg].v).shape[dim].value(); };
  return {cat("labels of ", size(0, 2), " classes"), cat("input lengths of at most ", size(0, 0)),
          cat("target lengths of at most ", size(1, 1))};
}

// ctc_loss(log_probs, targets, input_lengths, target_lengths, blank)
Status* run_ctc_loss(const CompiledNode& kernel, const Launch& l) {
  const Buffer &x = l.inputs[0], &labels = l.inputs[1];
  Sequences q{x.shape[0], x.shape[1], x.shape[2], labels.shape[1], kernel.node.args[4].i, {}};
  for (size_t i = 0; i < 3; i++) q.wide[i] = l.inputs[i + 1].dtype == DType::i64;
  void *loss = l.outputs[0].data, *alphas = l.outputs[1].data, *log_probs = x.data, *targets = labels.data,
       *times = l.inputs[2].data, *lengths = l.inputs[3].data;
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* parameters[] = {&loss, &alphas, &log_probs, &targets, &times, &lengths, &q, &assertion};
  return kernel.launch(q.batch, true, parameters);
}

constexpr Rule kRules[] = {
    {.op = name(Prim::ctc_loss),
     .text = kLoss,
     .element = first_input_dtype,
     .checked = describe_lengths,
     .run = run_ctc_loss},
};

}  // namespace

extern const Rules alignments_rules = kRules;

}  // namespace thunder::cuda_kernels
