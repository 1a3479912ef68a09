#include "base/size_signal.h"

#include <cerrno>
#include <ctime>

namespace thunder {

NoSizeSignal::NoSizeSignal() {
  sigset_t waiting;
  expected_ = ::sigpending(&waiting) == 0 && ::sigismember(&waiting, SIGXFSZ) == 1;
  ::sigemptyset(&signal_);
  ::sigaddset(&signal_, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

// The system sends it to the thread that wrote, so that no other thread can have got it.
NoSizeSignal::~NoSizeSignal() {
  const int error = errno;
  const timespec now{};
  while (!expected_ && ::sigtimedwait(&signal_, nullptr, &now) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace thunder
