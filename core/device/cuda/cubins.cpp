#include "device/cuda/cubins.h"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>

#include "base/blob_store.h"
#include "base/signals.h"
#include "base/text.h"

namespace thunder::nvidia {
namespace {

// Never freed: threads may still compile while the process destroys its static objects.
struct Known {
  std::mutex mutex;
  std::map<std::string, std::string> by_key;  // empty: it is on disk
};
Known& known() {
  static Known* all = new Known;
  return *all;
}

std::optional<std::string> known_cubin(const std::string& key) {
  std::lock_guard lock(known().mutex);
  const auto found = known().by_key.find(key);
  return found == known().by_key.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> used_cubins() {
  std::vector<std::pair<std::string, std::string>> all;
  {
    std::lock_guard lock(known().mutex);
    all.assign(known().by_key.begin(), known().by_key.end());
  }
  BlobStore store(BlobStore::default_folder());
  for (auto& [key, cubin] : all) {
    if (!cubin.empty()) continue;
    std::optional<std::string> blob = store.get(key);
    if (!blob)
      fail(Code::not_found, "the machine code of a CUDA kernel is in '", store.folder(),
           "' no more: it was removed, or others needed the room; call the function again in a new process");
    cubin = std::move(*blob);
  }
  return all;
}

void give_cubin(const std::string& key, std::string cubin) {
  std::lock_guard lock(known().mutex);
  known().by_key.insert_or_assign(key, std::move(cubin));
}

Cubins::Cubins(int major, int minor, size_t threads)
    : major_(major), minor_(minor), workers_(std::max<size_t>(threads, 1) - 1) {}

Cubins::~Cubins() {
  {
    std::lock_guard lock(mutex_);
    queue_.clear();
  }
  for (Worker& w : workers_)
    if (w.thread.joinable()) w.thread.join();
}

void Cubins::begin(const KernelSource& source) {
  if (workers_.empty()) return;
  std::lock_guard lock(mutex_);
  auto& job = jobs_[source.key()];
  if (job) return;
  job = std::make_shared<Job>(source);
  queue_.push_back(job);
  start_worker();
}

// Requires: the lock is held. Where the system refuses a thread, get() compiles.
void Cubins::start_worker() {
  const auto idle = std::find_if(workers_.begin(), workers_.end(), [](const Worker& w) { return !w.running; });
  if (idle == workers_.end()) return;
  if (idle->thread.joinable()) idle->thread.join();
  try {
    const BlockedSignals none;
    idle->thread = std::thread([this, idle] { work(*idle); });
    idle->running = true;
  } catch (const std::system_error&) {
  }
}

// An error here is reported by get(), which compiles again.
void Cubins::work(Worker& self) noexcept {
  std::unique_lock lock(mutex_);
  while (!queue_.empty()) {
    const std::shared_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      std::lock_guard alone(job->mutex);
      compile(*job);
    } catch (...) {
    }
    lock.lock();
  }
  self.running = false;
}

std::string Cubins::get(const KernelSource& source) {
  std::shared_ptr<Job> job;
  {
    std::lock_guard lock(mutex_);
    const auto found = jobs_.find(source.key());
    job = found == jobs_.end() ? std::make_shared<Job>(source) : std::move(found->second);
    if (found != jobs_.end()) jobs_.erase(found);
    const auto queued = std::find(queue_.begin(), queue_.end(), job);
    if (queued != queue_.end()) queue_.erase(queued);
  }
  std::lock_guard alone(job->mutex);
  compile(*job);
  return std::move(job->cubin);
}

void Cubins::compile(Job& job) const {
  if (job.done) return;
  std::string why;
  const Compiler* compiler = Compiler::open(why);
  if (!compiler) fail(Code::unimplemented, "kernels for a CUDA device cannot be compiled: ", why);
  BlobStore store(BlobStore::default_folder());
  const std::string key = cat("cubin ", compiler->report(), " ", architecture(major_, minor_), "\n", job.source.key());
  std::optional<std::string> stored = known_cubin(key);
  if (!stored && (stored = store.get(key))) give_cubin(key, "");
  if (stored) return void((job.cubin = std::move(*stored), job.done = true));
  Compiled made = compiler->compile(job.source, major_, minor_);
  if (!made.error.empty() && job.source.foreign)
    fail(Code::invalid_argument, compiler->report(), " refuses the source for ", architecture(major_, minor_), ":\n",
         made.error);
  if (!made.error.empty())
    fail(Code::internal, "NVRTC refuses a kernel of ours, please report it: ", made.error, "\n", job.source.text);
  job.cubin.assign(made.cubin.begin(), made.cubin.end()), job.done = true;
  give_cubin(key, store.put(key, job.cubin) ? "" : job.cubin);
}

}  // namespace thunder::nvidia
