#include "base/entropy.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/hash.h"

namespace thunder {
namespace {

// Old kernels and some sandboxes refuse getrandom().
uint64_t without_the_system(uint64_t& on_stack) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  uint64_t h = mix(static_cast<uint64_t>(now.tv_sec), static_cast<uint64_t>(now.tv_nsec));
  h = mix(h, static_cast<uint64_t>(::getpid()));
  return mix(h, reinterpret_cast<uintptr_t>(&on_stack));
}

}  // namespace

uint64_t entropy() noexcept {
  uint64_t random = 0;
  ssize_t got;
  do got = ::getrandom(&random, sizeof random, GRND_NONBLOCK);
  while (got < 0 && errno == EINTR);
  return got == sizeof random ? random : without_the_system(random);
}

}  // namespace thunder
