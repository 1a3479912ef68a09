#include "device/cuda/cubins.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/blob_store.h"
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
    : major_(major), minor_(minor), alone_(threads <= 1), threads_(std::max<size_t>(threads, 1) - 1) {}

void Cubins::begin(const KernelSource& source) {
  if (alone_) return;
  std::lock_guard lock(mutex_);
  Job& job = jobs_[source.key()];
  if (job.work) return;
  job.cubin = std::make_shared<std::string>();
  job.work = threads_.begin([this, source, to = job.cubin] { *to = compile(source); });
}

std::string Cubins::get(const KernelSource& source) {
  Job job;
  {
    std::lock_guard lock(mutex_);
    const auto found = jobs_.find(source.key());
    if (found != jobs_.end()) job = std::move(found->second), jobs_.erase(found);
  }
  if (!job.work) return compile(source);
  threads_.wait(job.work);
  return std::move(*job.cubin);
}

std::string Cubins::compile(const KernelSource& source) const {
  std::string why;
  const Compiler* compiler = Compiler::open(why);
  if (!compiler) fail(Code::unimplemented, "kernels for a CUDA device cannot be compiled: ", why);
  BlobStore store(BlobStore::default_folder());
  const std::string key = cat("cubin ", compiler->report(), " ", architecture(major_, minor_), "\n", source.key());
  std::optional<std::string> stored = known_cubin(key);
  if (!stored && (stored = store.get(key))) give_cubin(key, "");
  if (stored) return std::move(*stored);
  Compiled made = compiler->compile(source, major_, minor_);
  if (!made.error.empty() && source.foreign)
    fail(Code::invalid_argument, compiler->report(), " refuses the source for ", architecture(major_, minor_), ":\n",
         made.error);
  if (!made.error.empty())
    fail(Code::internal, "NVRTC refuses a kernel of ours, please report it: ", made.error, "\n", source.text);
  std::string cubin(made.cubin.begin(), made.cubin.end());
  give_cubin(key, store.put(key, cubin) ? "" : cubin);
  return cubin;
}

}  // namespace thunder::nvidia
