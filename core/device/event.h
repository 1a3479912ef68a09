// A point in the work of a stream of a device.
#pragma once

#include "base/status.h"

namespace thunder {

// Any thread. What returns a Status returns null or an owned one. Streams are as the device's own library knows them.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // The point is behind all that the stream was asked for by now.
  virtual Status* record(void* stream) = 0;
  // Until the point is reached. One that was never recorded has been reached.
  virtual Status* wait() = 0;
  virtual Status* query(bool& reached) = 0;
  // What the stream is asked for from now on waits for the point.
  virtual Status* hold(void* stream) = 0;
  // Between two points that were reached, of events that keep the time.
  virtual Status* elapsed(const DeviceEvent& until, double& ms) const = 0;
};

}  // namespace thunder
