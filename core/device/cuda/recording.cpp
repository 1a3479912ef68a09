#include "device/cuda/recording.h"

#include "base/text.h"

namespace thunder::nvidia {
namespace {

// A thread records on one device at a time.
thread_local CudaRecording* active_recording = nullptr;
thread_local const CudaDevice* active_device = nullptr;

}  // namespace

CudaRecording::CudaRecording(CudaDevice& device) : device_(device) {
  if (Status* failed = device.enter()) throw Error(Ref<Status>::adopt(failed));
  if (Status* failed = device.status(device.driver().stream_create(&stream_, kNonBlockingStream), "cuStreamCreate"))
    throw Error(Ref<Status>::adopt(failed));
}

CudaRecording::~CudaRecording() {
  if (Status* failed = device_.enter()) failed->release();
  drop();
  device_.driver().stream_destroy(stream_);
}

void CudaRecording::drop() {
  if (executable_) device_.driver().graph_executable_destroy(std::exchange(executable_, nullptr));
  if (graph_) device_.driver().graph_destroy(std::exchange(graph_, nullptr));
  kernels_.clear(), others_.clear();
}

CudaRecording* CudaRecording::active(const CudaDevice& device) {
  return active_device == &device ? active_recording : nullptr;
}

Status* CudaRecording::begin() {
  if (Status* failed = device_.enter()) return failed;
  drop();
  if (Status* failed = device_.status(device_.driver().capture_begin(stream_, kRelaxedCapture), "cuStreamBeginCapture"))
    return failed;
  active_recording = this, active_device = &device_;
  return nullptr;
}

Status* CudaRecording::end() {
  active_recording = nullptr, active_device = nullptr;
  const Driver& d = device_.driver();
  if (Status* failed = device_.status(d.capture_end(stream_, &graph_), "cuStreamEndCapture")) return failed;
  if (Status* failed = device_.status(d.graph_instantiate(&executable_, graph_, 0), "cuGraphInstantiate"))
    return drop(), failed;
  return nullptr;
}

Stream CudaRecording::stream() {
  others_[part_]++;
  return stream_;
}

Status* CudaRecording::refuse(const char* what) const {
  return make<Status>(Code::failed_precondition, cat("a CUDA graph cannot hold ", what)).detach();
}

Status* CudaRecording::kernel(Function function, const Geometry& g, void** parameters, const char* what) {
  const Driver& d = device_.driver();
  if (updating_) {
    const std::vector<Kernel>& recorded = kernels_[part_];
    if (next_ == recorded.size() || recorded[next_].function != function)
      return refuse("a step that launches other kernels than before");
    const KernelNode node{function,    g.blocks,       g.blocks_y, g.blocks_z, g.threads, g.threads_y,
                          g.threads_z, g.shared_bytes, parameters, nullptr,    nullptr,   nullptr};
    return device_.status(d.graph_set_kernel(executable_, recorded[next_++].node, &node), what);
  }
  if (Status* failed = device_.status(
          d.launch(function, g.blocks, g.blocks_y, g.blocks_z, g.threads, g.threads_y, g.threads_z, g.shared_bytes,
                   stream_, parameters, nullptr),
          what))
    return failed;
  // The node captured last is what the stream's next work will depend on.
  int capturing = 0;
  const Node* last = nullptr;
  size_t count = 0;
  if (Status* failed = device_.status(d.capture_info(stream_, &capturing, nullptr, nullptr, &last, &count),
                                      "cuStreamGetCaptureInfo"))
    return failed;
  if (count != 1) return refuse("a kernel that nothing waits for");
  kernels_[part_].push_back({*last, function});
  return nullptr;
}

void CudaRecording::begin_update(size_t number) {
  part_ = number, next_ = 0, updating_ = true;
  active_recording = this, active_device = &device_;
}

void CudaRecording::end_update() {
  updating_ = false;
  active_recording = nullptr, active_device = nullptr;
}

Status* CudaRecording::launch() {
  if (Status* failed = device_.enter()) return failed;
  return device_.status(device_.driver().graph_launch(executable_, static_cast<Stream>(device_.native_stream())),
                        "cuGraphLaunch");
}

std::string CudaRecording::describe() const {
  size_t kernels = 0, others = 0;
  for (auto& [part, list] : kernels_) kernels += list.size();
  for (auto& [part, count] : others_) others += count;
  return cat(kernels, " kernels, ", others, " calls of libraries and copies");
}

}  // namespace thunder::nvidia
