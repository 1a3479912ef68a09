// How many threads this process should use: the configured number, or what the system's limits allow.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace thunder {

inline constexpr size_t kMaxThreads = 1024;  // of a context

// THUNDER_NUM_THREADS if set (throws when it is not a number from 1 to 1024), else the processors of the
// affinity mask, further limited by the control group's share of processor time. At least 1.
size_t thread_count();

// The threads that a control group's "max" or "quota period" (microseconds) allows, rounded up; 0: no limit.
size_t threads_of_quota(std::string_view cpu_max);

// The smallest limit of the groups named by `groups` (the text of /proc/self/cgroup) and their ancestors, read
// below `mount`; 0: no limit.
size_t threads_of_groups(std::string_view groups, const std::string& mount);

}  // namespace thunder
