// A nest's kernel on a CUDA device, with its parameters and its grid.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/device.h"
#include "loops/cuda/source.h"
#include "loops/target.h"

namespace thunder::loops {

constexpr size_t kMostCudaArguments = 128;

// The source of a kernel, which serves nests of one text and sizes of one key. Launchers that share it are made and
// finished by one thread at a time.
struct CudaCode {
  std::string name, text;
  CudaTextKey key;
  nvidia::Function function = nullptr, finish = nullptr;  // once a launcher of it is finished
};

// Of a nest that order_loops() has ordered: how it runs on a device, which has a limit of shared memory.
CudaSchedule schedule_on(const nvidia::CudaDevice& device, const Nest& nest, const std::vector<bool>& on_host);
std::shared_ptr<CudaCode> write_code(const Nest& nest, const CudaSchedule& schedule);

class CudaLauncher : public Kernel {
 public:
  CudaLauncher(nvidia::CudaDevice& device, LoweredRegion region);
  // Of a region whose loops are ordered, with a schedule for which it has this code.
  CudaLauncher(nvidia::CudaDevice& device, LoweredRegion ordered, const CudaSchedule& schedule,
               std::shared_ptr<CudaCode> code);
  ~CudaLauncher() override;

  size_t scratch() const override { return scratch_bytes_; }
  void finish_compiling() override;
  Joinable joinable() const override;
  KernelPtr join(std::span<const Kernel* const> all) const override;
  const Kernel* launcher() const override { return this; }
  Status* run(const Launch* launch) const;

 private:
  void find_geometry(const Nest& nest, const CudaSchedule& schedule);
  // The number of blocks for these threads, at most as many as run on the device at a time.
  nvidia::Geometry grid(int64_t threads, int each = kCudaThreads) const;

  const Ref<nvidia::CudaDevice> device_;
  const std::vector<bool> on_host_;
  std::shared_ptr<CudaCode> code_;  // until it is finished
  Nest nest_;  // until then, if others may be joined with it
  CudaSchedule schedule_;
  std::vector<int64_t> parameters_;
  size_t arguments_ = 0;
  nvidia::Function function_ = nullptr, finish_ = nullptr;  // finish: joins the parts of rows; null: they are whole
  nvidia::Geometry geometry_, finish_geometry_;
  bool splits_ = false;
  size_t scratch_bytes_ = 0;
  nvidia::DeviceAssertion* assertion_ = nullptr;
};

}  // namespace thunder::loops
