#include "base/size_signal.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace thunder {
namespace {

bool waits() {
  sigset_t waiting;
  ::sigpending(&waiting);
  return ::sigismember(&waiting, SIGXFSZ) == 1;
}

TEST(SizeSignal, takes_back_its_own_and_keeps_errno) {
  {
    const NoSizeSignal quiet;
    ::raise(SIGXFSZ);
    EXPECT_TRUE(waits());
    errno = EFBIG;
  }
  EXPECT_EQ(errno, EFBIG);
  EXPECT_FALSE(waits());
}

TEST(SizeSignal, leaves_one_of_the_host_where_it_was) {
  sigset_t signal, before;
  ::sigemptyset(&signal);
  ::sigaddset(&signal, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &signal, &before);
  ::raise(SIGXFSZ);
  { const NoSizeSignal quiet; }
  EXPECT_TRUE(waits());
  int taken = 0;
  ::sigwait(&signal, &taken);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace thunder
