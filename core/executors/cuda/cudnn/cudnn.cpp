#include "executors/cuda/cudnn/cudnn.h"

#include "base/text.h"
#include "executors/cuda/attention/one_query.h"
#include "executors/cuda/cudnn/attention.h"
#include "executors/cuda/cudnn/convolution.h"
#include "ir/prim.h"
#include "tracer/compile_settings.h"

namespace thunder {
namespace {

using namespace cudnn;

using CudnnSessions = nvidia::Sessions<Session>;

// The executor `cuda` has kernels of its own for one query.
bool runs_without_library(const NodeView& view) {
  return view.node.op->name() == "scaled_dot_product_attention_forward" && cuda_kernels::is_one_query(view) &&
         cuda_kernels::is_faster_than_library(view);
}

bool claim(const NodeView& view, void*) {
  const TensorType& t = view.store.type(view.node.results[0]);
  std::string why;
  if (kind(t.device) != kCudaKind || !Library::open(why)) return false;
  if (!is_convolution(view.node.op->id)) return !runs_without_library(view) && AttentionSizes::of(view);
  return is_real(t.dtype);
}

KernelPtr prepare(const NodeView& view, void* user) {
  Session& session = CudnnSessions::session_of(view, user);
  const CompileSettings& settings = view.settings;
  // A plan of its own may give other bits in the last place than the one that a length had before.
  const bool any_varies = settings.automatic_dynamic_shapes || !settings.dynamic_shapes.empty();
  const bool length_varies = !settings.deterministic && settings.dynamic.value_or(any_varies);
  KernelPtr made = is_convolution(view.node.op->id) ? prepare_convolution(session, view)
                                        : prepare_attention(session, *AttentionSizes::of(view), length_varies);
  if (!made) fail(Code::declined, "cuDNN has no engine for this");
  return made;
}

}  // namespace

ExecutorDesc cudnn_executor(Devices& devices) {
  std::vector<std::string> ops = names({Prim::conv2d, Prim::conv2d_input_grad, Prim::conv2d_weight_grad});
  ops.insert(ops.end(), {"scaled_dot_product_attention_forward", "scaled_dot_product_attention_backward"});
  return CudnnSessions::executor(devices, "cuDNN",
                                 {.name = "cudnn",
                                  .ops = std::move(ops),
                                  .flags = kStrided,
                                  .claim = claim,
                                  .prepare = prepare});
}

}  // namespace thunder
