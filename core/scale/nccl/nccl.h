// The engine of NVIDIA's GPUs: NCCL, on a stream of its own beside the device's.
#pragma once

#include "device/devices.h"
#include "scale/engine.h"

namespace thunder::scale {

// One for each context, whose devices must live as long. A process drives one device: that of its local rank, or where
// there is none of that number the first.
std::shared_ptr<Engine> nccl_engine(Devices& devices);

}  // namespace thunder::scale
