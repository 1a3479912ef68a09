#include "output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace {

// Other pipes may break as well, such as one to a process that a script began: writing to those gives the script an error.
void on_broken_pipe(int) {
  const int kept = errno;
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  if (poll(&out, 1, 0) > 0 && out.revents & POLLERR) {
    constexpr char kSays[] = "thunder: cannot write to standard output: Broken pipe\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kSays, sizeof kSays - 1);
    _exit(1);
  }
  errno = kept;
}

// Runs before the C library writes what is left.
void check_output() {
  bool failed = std::ferror(stdout);
  errno = 0;
  if (std::fflush(stdout)) failed = true;
  else if (close(STDOUT_FILENO) && errno != EBADF) failed = true;  // closed from the start, and nothing was printed
  if (!failed) return;
  std::fprintf(stderr, "thunder: cannot write to standard output: %s\n", errno ? std::strerror(errno) : "an earlier write failed");
  _exit(1);
}

}  // namespace

void guard_output() {
  std::signal(SIGPIPE, on_broken_pipe);
  std::atexit(check_output);
}

OutputToError::OutputToError() : kept_((std::fflush(stdout), dup(STDOUT_FILENO))) { dup2(STDERR_FILENO, STDOUT_FILENO); }

OutputToError::~OutputToError() {
  std::fflush(stdout);
  dup2(kept_, STDOUT_FILENO);
  close(kept_);
}
