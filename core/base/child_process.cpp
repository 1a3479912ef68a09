#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/text.h"

extern char** environ;

namespace thunder {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostOutput = size_t{64} << 10;

// Attributes of a child: its own process group, no input, output into `pipe`, default signal handlers.
class Start {
 public:
  explicit Start(int pipe) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int to : {STDOUT_FILENO, STDERR_FILENO}) ::posix_spawn_file_actions_adddup2(&files_, pipe, to);
    ::posix_spawnattr_init(&attributes_);
    sigset_t all, none;
    ::sigfillset(&all), ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~Start() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Start(const Start&) = delete;

  int spawn(pid_t& child, std::span<const std::string> arguments) const {
    std::vector<char*> words;
    for (const std::string& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
    words.push_back(nullptr);
    return ::posix_spawnp(&child, words[0], &files_, &attributes_, words.data(), environ);
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Reads until all writers have closed the pipe. False: it took too long.
bool read_until_closed(int pipe, Clock::time_point deadline, std::string& out) {
  std::array<char, 4096> part;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd one{pipe, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&one, 1, static_cast<int>(std::min<long long>(left, 1 << 30))) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(pipe, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    out.append(part.data(), static_cast<size_t>(got));
    if (out.size() > 2 * kMostOutput) out.erase(0, out.size() - kMostOutput);
  }
}

}  // namespace

std::string describe_end(const ChildEnd& end) {
  switch (end.how) {
    case ChildEnd::How::exited: return cat("it exited with status ", end.number);
    case ChildEnd::How::killed: return cat("it was ended by signal ", end.number, " (", ::strsignal(end.number), ")");
    case ChildEnd::How::too_slow: return "it did not end in time";
    case ChildEnd::How::not_started: break;
  }
  return cat("it could not be started: ", std::generic_category().message(end.number));
}

ChildEnd run_child(std::span<const std::string> arguments, std::chrono::seconds longest) {
  ChildEnd end;
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    end.number = errno;
    return end;
  }
  pid_t child = 0;
  end.number = Start(pipe[1]).spawn(child, arguments);
  ::close(pipe[1]);
  if (end.number == 0) {
    const bool closed = read_until_closed(pipe[0], Clock::now() + longest, end.output);
    if (!closed) ::kill(-child, SIGKILL);
    int status = 0;
    pid_t waited = 0;
    while ((waited = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {}
    if (!closed) {
      end.how = ChildEnd::How::too_slow;
    } else if (waited == child && WIFSIGNALED(status)) {
      end.how = ChildEnd::How::killed, end.number = WTERMSIG(status);
    } else {
      // In a process that ignores SIGCHLD the exit status is lost.
      end.how = ChildEnd::How::exited, end.number = waited == child ? WEXITSTATUS(status) : 0;
    }
  }
  ::close(pipe[0]);
  return end;
}

}  // namespace thunder
