// Machine code of CUDA C++ texts for one device: from disk, else compiled, several texts at a time.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/side_threads.h"
#include "device/cuda/compiler.h"

namespace thunder::nvidia {

class Cubins {
 public:
  // The machine code for a compute capability. `threads`: how many sources are compiled at a time; one of them is
  // compiled by the thread that waits for it.
  Cubins(int major, int minor, size_t threads);
  // Waits for kernels being compiled, and drops those not begun.
  ~Cubins() = default;
  Cubins(const Cubins&) = delete;

  // Lets another thread compile a text that get() will be asked for. Any thread.
  void begin(const KernelSource& source);
  // Waits for the text's machine code, or compiles it. Throws with the compiler's log, and where there is no compiler.
  // Any thread.
  std::string get(const KernelSource& source);

 private:
  struct Job {
    std::shared_ptr<SideThreads::Work> work;
    std::shared_ptr<std::string> cubin;  // once that is done
  };
  std::string compile(const KernelSource& source) const;

  const int major_, minor_;
  const bool alone_;  // nobody but who waits compiles
  std::mutex mutex_;  // of what follows
  std::unordered_map<std::string, Job> jobs_;  // by key, from begin() to get()
  SideThreads threads_;
};

// Machine code by key, of all devices: what this process has used, and what another one made, which get() then takes.
// What is on disk is kept as a key alone, and read back: throws not_found where it is gone. An empty text given says
// that it is there. Any thread.
std::vector<std::pair<std::string, std::string>> used_cubins();
void give_cubin(const std::string& key, std::string cubin);

}  // namespace thunder::nvidia
