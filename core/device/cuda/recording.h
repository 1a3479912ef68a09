// A CUDA graph, captured from the work that a thread enqueues on a device.
#pragma once

#include <map>
#include <vector>

#include "device/cuda/device.h"
#include "device/recording.h"

namespace thunder::nvidia {

class CudaRecording final : public Recording {
 public:
  // Throws Code::backend where the driver refuses.
  explicit CudaRecording(CudaDevice& device);
  ~CudaRecording() override;
  CudaRecording(const CudaRecording&) = delete;

  Status* begin() override;
  void part(size_t number) override { part_ = number; }
  Status* end() override;
  bool updatable(size_t number) const override { return !others_.contains(number); }
  void begin_update(size_t number) override;
  void end_update() override;
  Status* launch() override;
  std::string describe() const override;

  // The recording that this thread makes, or updates, on this device; null: there is none.
  static CudaRecording* active(const CudaDevice& device);

  // Called by the device while this recording is active.
  Stream stream();  // on which work other than launches of kernels is captured
  Status* kernel(Function function, const Geometry& geometry, void** parameters, const char* what);
  Status* refuse(const char* what) const;

 private:
  struct Kernel {
    Node node;
    Function function;
  };
  void drop();

  CudaDevice& device_;
  Stream stream_ = nullptr;
  Executable executable_ = nullptr;
  Graph graph_ = nullptr;
  bool updating_ = false;
  size_t part_ = 0, next_ = 0;  // next_: which kernel of the part's is launched next while updating
  std::map<size_t, std::vector<Kernel>> kernels_;     // by part
  std::map<size_t, size_t> others_;                   // by part: how often something else was asked for
};

}  // namespace thunder::nvidia
