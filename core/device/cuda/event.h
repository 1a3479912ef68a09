// An event of the driver's.
#pragma once

#include "device/cuda/device.h"
#include "device/event.h"

namespace thunder::nvidia {

class CudaEvent final : public DeviceEvent {
 public:
  // Throws.
  CudaEvent(CudaDevice& device, bool timed);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;

  Status* record(void* stream) override;
  Status* wait() override;
  Status* query(bool& reached) override;
  Status* make_stream_wait(void* stream) override;
  Status* elapsed(const DeviceEvent& until, double& ms) const override;

 private:
  const Ref<CudaDevice> device_;
  const bool timed_;
  Event event_ = nullptr;
};

}  // namespace thunder::nvidia
