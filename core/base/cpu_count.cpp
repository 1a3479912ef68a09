#include "base/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace thunder {
namespace {

// Files of /proc and /sys have no size to ask for, so they are read as streams. Empty when there is none.
std::string slurp(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string_view next_word(std::string_view& text) {
  constexpr std::string_view kSpace = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  std::string_view word = text.substr(0, text.find_first_of(kSpace));
  text.remove_prefix(word.size());
  return word;
}

bool parse(std::string_view word, int64_t& value) {
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

size_t affinity() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return kMaxThreads;
  return static_cast<size_t>(CPU_COUNT(&set));
}

size_t smaller_limit(size_t a, size_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// Version 2 keeps both numbers in one file, version 1 in two.
size_t limit_of(const std::string& folder) {
  return smaller_limit(threads_of_quota(slurp(folder + "/cpu.max")),
                       threads_of_quota(cat(slurp(folder + "/cpu.cfs_quota_us"), " ",
                                            slurp(folder + "/cpu.cfs_period_us"))));
}

}  // namespace

size_t threads_of_quota(std::string_view cpu_max) {
  int64_t quota = 0, period = 0;
  if (!parse(next_word(cpu_max), quota) || !parse(next_word(cpu_max), period) || quota <= 0 || period <= 0) return 0;
  return std::min(kMaxThreads, static_cast<size_t>(quota / period + (quota % period != 0)));
}

size_t threads_of_groups(std::string_view groups, const std::string& mount) {
  size_t limit = 0;
  while (!groups.empty()) {
    std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    // "number:controllers:path"; version 2 has no controllers and no folder of its own for them.
    const size_t first = line.find(':'), second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool cpu = controllers == "cpu" || controllers == "cpu,cpuacct";
    if (!controllers.empty() && !cpu) continue;
    std::string base = cpu ? cat(mount, "/", controllers) : mount;
    std::string path(line.substr(second + 1));
    while (path.size() > 1) {
      limit = smaller_limit(limit, limit_of(base + path));
      path.resize(path.rfind('/') == path.npos ? 0 : path.rfind('/'));
    }
    // In a container the group's path may not be mounted; then its limit is in the top folder.
    limit = smaller_limit(limit, limit_of(base));
  }
  return limit;
}

size_t thread_count() {
  if (const char* told = std::getenv("THUNDER_NUM_THREADS"); told && *told) {
    int64_t n = 0;
    require(parse(told, n) && n >= 1 && n <= static_cast<int64_t>(kMaxThreads),
            "THUNDER_NUM_THREADS must be a number from 1 to ", kMaxThreads, ", got '", told, "'");
    return static_cast<size_t>(n);
  }
  size_t limit = smaller_limit(affinity(), threads_of_groups(slurp("/proc/self/cgroup"), "/sys/fs/cgroup"));
  return std::clamp<size_t>(limit, 1, kMaxThreads);
}

}  // namespace thunder
