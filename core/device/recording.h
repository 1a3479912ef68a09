// Work on a device that is recorded once and launched as one: what CUDA calls a graph.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace thunder {

// One thread at a time. Functions that return a Status return null or an owned one.
class Recording {
 public:
  virtual ~Recording() = default;

  // From begin() to end(), work that this thread asks the device for is recorded instead of done; part() says which
  // part of it follows. What cannot be recorded (waiting, copies from or to the host, allocating) fails there and then.
  virtual Status* begin() = 0;
  virtual void part(size_t number) = 0;
  virtual Status* end() = 0;
  // Whether a part is nothing but launches of our own kernels, whose arguments can be replaced.
  virtual bool updatable(size_t number) const = 0;
  // Requires: end() returned null. From begin_update() to launch(), kernels that this thread launches are not run:
  // their arguments replace those of the kernels that the part launched when it was recorded.
  virtual void begin_update(size_t number) = 0;
  virtual void end_update() = 0;
  virtual Status* launch() = 0;
  // "12 kernels, 3 copies"
  virtual std::string describe() const = 0;
};

}  // namespace thunder
