// A point in the work of a stream of a device.
#pragma once

#include "base/status.h"

namespace thunder {

// Any thread. A returned Status is null or owned. Streams are named as in the device's own library.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // The point is behind all that the stream was asked for by now.
  virtual Status* record(void* stream) = 0;
  // Waits until the point is reached. An event that was never recorded counts as reached.
  virtual Status* wait() = 0;
  virtual Status* query(bool& reached) = 0;
  // Makes work that is queued on the stream from now on wait for the point.
  virtual Status* make_stream_wait(void* stream) = 0;
  // Between two points that were reached, of events that keep the time.
  virtual Status* elapsed(const DeviceEvent& until, double& ms) const = 0;
};

}  // namespace thunder
