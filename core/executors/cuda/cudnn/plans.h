// The plans of a device, each made once by a thread of its own: that takes up to seconds, in which kernels compile.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/side_threads.h"

namespace thunder::cudnn {

class Plan;

class Plans {
 public:
  using Make = std::function<std::shared_ptr<const Plan>()>;

  // A plan that another thread may still be building.
  class Pending {
   private:
    friend class Plans;
    std::string key;
    std::shared_ptr<SideThreads::Work> work;
    std::shared_ptr<const Plan> plan;
    double ms = 0;  // that making it took, until it was reported
  };

  // The plan of that key, from a cache of those used last; otherwise another thread begins to make it. `make` must not
  // refer to what ends before this. Any thread.
  std::shared_ptr<Pending> find_or_begin(const std::string& key, const Make& make);
  // Waits for the plan. Adds to `ms` what making it took, once for each plan. Throws what `make` threw; the next
  // find_or_begin() tries anew. Any thread.
  std::shared_ptr<const Plan> wait(const std::shared_ptr<Pending>& pending, double& ms);
  // Whether wait() would return, or throw, at once. Any thread.
  bool is_made(const Pending& pending) const { return threads_.is_done(*pending.work); }

 private:
  static constexpr size_t kMostPlans = 512;
  struct Kept {
    std::shared_ptr<Pending> pending;
    std::list<std::string>::iterator place;
  };
  void forget(const Pending& pending);

  std::mutex mutex_;  // of what follows
  std::map<std::string, Kept> plans_;
  std::list<std::string> order_;  // the keys, most recently used first
  SideThreads threads_{1};        // one, since one handle serves one thread at a time; it ends before what it works on
};

}  // namespace thunder::cudnn
