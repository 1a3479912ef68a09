// Writes that end at the limit of the process for the size of a file fail, and the host goes on.
#pragma once

#include <csignal>

namespace thunder {

// While it lives, a write of this thread that goes past RLIMIT_FSIZE fails with EFBIG alone: the SIGXFSZ that comes
// with it, which ends a process that does not expect it, is taken back. Handlers and signals of the host are left as
// they are.
class NoSizeSignal {
 public:
  NoSizeSignal();
  ~NoSizeSignal();
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool expected_;  // one that the host sent waits already
};

}  // namespace thunder
