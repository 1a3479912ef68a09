#include "executors/cuda/cudnn/cudnn.h"

#include "base/text.h"
#include "device/cuda/opened.h"
#include "executors/cuda/cudnn/attention.h"
#include "executors/cuda/cudnn/convolution.h"

namespace thunder {
namespace {

using namespace cudnn;

using User = nvidia::Sessions<Session>;

constexpr std::string_view kConvolutions[] = {"prims.conv2d", "prims.conv2d_input_grad", "prims.conv2d_weight_grad"};
constexpr std::string_view kAttentions[] = {"scaled_dot_product_attention_forward",
                                            "scaled_dot_product_attention_backward"};

bool convolves(const NodeView& view) {
  return std::find(std::begin(kConvolutions), std::end(kConvolutions), view.node.op->name()) != std::end(kConvolutions);
}

bool claim(const NodeView& view, void*) {
  const TensorType& t = view.store.type(view.node.results[0]);
  std::string why;
  if (kind(t.device) != kCudaKind || !Library::open(why)) return false;
  if (!convolves(view)) return AttentionSizes::of(view).has_value();
  return is_real(t.dtype);
}

KernelPtr prepare(const NodeView& view, void* user) {
  Session& session = static_cast<User*>(user)->of(view.store.type(view.node.results[0]).device);
  KernelPtr made = convolves(view) ? prepare_convolution(session, view)
                                   : prepare_attention(session, *AttentionSizes::of(view));
  if (!made) fail(Code::declined, "cuDNN has no engine for this");
  return made;
}

}  // namespace

ExecutorDesc cudnn_executor(Devices& devices) {
  const std::shared_ptr<User> user(new User{devices, "cuDNN"});
  ExecutorDesc d;
  d.name = "cudnn";
  d.ops.assign(std::begin(kConvolutions), std::end(kConvolutions));
  d.ops.insert(d.ops.end(), std::begin(kAttentions), std::end(kAttentions));
  d.flags = kStrided;
  d.any_device = true;
  d.user = user.get();
  d.claim = claim;
  d.prepare = prepare;
  d.owner = user;
  return d;
}

}  // namespace thunder
