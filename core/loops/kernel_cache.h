// Compiled nests by their text: equal texts are one kernel. Kept in memory, and on disk for other processes.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/blob_store.h"
#include "loops/emitter.h"

namespace thunder::loops {

struct KernelStatistics {
  uint64_t compiled = 0;  // by the emitter
  uint64_t loaded = 0;    // found on disk
};

class KernelCache {
 public:
  // `identity`: what code depends on besides the nest's text and the emitter's target. Code on disk is shared by caches
  // of the same identity. The emitter must live as long.
  KernelCache(Emitter& emitter, std::string folder, std::string_view identity);

  // Throws if the emitter fails. Any thread; each nest is compiled once, different ones concurrently.
  KernelFn get(const CpuNest& nest);
  KernelStatistics statistics() const { return {compiled_, loaded_}; }

 private:
  struct Slot {
    std::mutex mutex;
    KernelFn code = nullptr;
  };
  KernelFn find_or_compile(const CpuNest& nest, const std::string& text);

  Emitter& emitter_;
  BlobStore store_;
  const std::string prefix_;  // of all keys on disk
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Slot>> by_text_;
  std::atomic<uint64_t> compiled_{0}, loaded_{0};
};

}  // namespace thunder::loops
