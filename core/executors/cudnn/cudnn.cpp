#include "executors/cudnn/cudnn.h"

#include "base/thrown.h"
#include "device/cuda/opened.h"
#include "executors/cudnn/convolution.h"

namespace thunder {
namespace {

using namespace cudnn;

using Sessions = nvidia::Sessions<Session>;

// Between prepare and lay_out there is no convolution yet. In eager mode there is no lay_out: then each run makes its own, of a plan
// that the session keeps.
struct Site {
  Session& session;
  Window window;
  std::unique_ptr<Convolution> convolution;
};

bool claim(const NodeView& view, void*) {
  const TensorType& t = view.store.type(view.node.results[0]);
  std::string why;
  const bool real = t.dtype == DType::f32 || t.dtype == DType::f64 || t.dtype == DType::bf16;
  return kind(t.device) == kCudaKind && real && Library::open(why);
}

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  return caught([&]() -> Status* {
    *scratch = 0;
    Session& session = static_cast<Sessions*>(user)->of(view.store.type(view.node.results[0]).device);
    *state = new Site{session, Window(view.node), nullptr};
    return nullptr;
  });
}

Status* lay_out(const NodeView& view, void* state, size_t* scratch, void*) {
  return caught([&]() -> Status* {
    auto& site = *static_cast<Site*>(state);
    site.convolution = std::make_unique<Convolution>(site.session, site.window, view.inputs, view.outputs[0], true);
    *scratch = site.convolution->scratch_bytes();
    return nullptr;
  });
}

bool aligned(const Launch& l) {
  auto bits = reinterpret_cast<uintptr_t>(l.outputs[0].data);
  for (size_t i = 0; i < 2; i++) bits |= reinterpret_cast<uintptr_t>(l.inputs[i].data);
  return bits % Convolution::kAlignment == 0;
}

Status* run(const Launch* launch, void* state) {
  auto& site = *static_cast<Site*>(state);
  const std::span inputs(launch->inputs, 2);
  const bool is_aligned = aligned(*launch);
  if (site.convolution && is_aligned) return site.convolution->run(inputs, launch->outputs[0], launch->scratch);
  return caught([&] {
    const Convolution once(site.session, site.window, inputs, launch->outputs[0], is_aligned);
    const Ref<Storage> scratch = Storage::allocate(site.session.device().allocator(), once.scratch_bytes());
    return once.run(inputs, launch->outputs[0], scratch->data());
  });
}

void drop(void* state) { delete static_cast<Site*>(state); }

}  // namespace

ExecutorDesc cudnn_executor(Devices& devices) {
  const auto sessions = std::make_shared<Sessions>(devices, "cuDNN");
  ExecutorDesc d;
  d.name = "cudnn";
  d.ops = {"prims.conv2d", "prims.conv2d_input_grad", "prims.conv2d_weight_grad"};
  d.flags = kStrided | kAnyDevice;
  d.user = sessions.get();
  d.claim = claim;
  d.prepare = prepare;
  d.lay_out = lay_out;
  d.run = run;
  d.drop = drop;
  d.owner = sessions;
  return d;
}

}  // namespace thunder
