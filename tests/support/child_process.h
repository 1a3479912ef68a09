// Tests that need a process of their own: because they end it, or because of what its environment must say from the start.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace thunder::test {

inline std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

// Runs one test of `program`, this one or a copy of it, in another process, also if it is disabled. Its exit status; -1: a
// signal ended it; 255: it could not be started.
inline int run_in_a_process(const std::string& program, const std::string& test,
                            const std::vector<std::pair<std::string, std::string>>& environment) {
  const std::string filter = "--gtest_filter=" + test;
  const pid_t child = ::fork();
  if (child == 0) {
    for (auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execl(program.c_str(), program.c_str(), "--gtest_also_run_disabled_tests", filter.c_str(), "--gtest_brief=1",
            static_cast<char*>(nullptr));
    std::_Exit(255);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace thunder::test
