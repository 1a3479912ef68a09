// A cache of compiled kernels by the text of their nests, in memory and, for other processes, on disk.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/blob_store.h"
#include "loops/emitter.h"

namespace thunder::loops {

struct KernelStatistics {
  uint64_t compiled = 0;  // by the emitter
  uint64_t loaded = 0;    // found on disk
  uint64_t given = 0;     // found among those of give()
};

class KernelCache {
 public:
  // `identity`: what code depends on besides the nest's text and the emitter's target. Code on disk is shared by caches
  // of the same identity. The emitter must live as long; null: there is none, and so no code but what is given.
  KernelCache(Emitter* emitter, std::string folder, std::string_view identity);

  // Throws if the emitter fails, and where nothing can compile the nest. Any thread; each nest is compiled once,
  // different ones concurrently.
  KernelFn get(const CpuNest& nest);
  KernelStatistics statistics() const { return {compiled_, loaded_, given_}; }

  // The object of a nest's code. None: get() has not been asked for it. Objects on disk are not kept in memory: throws
  // not_found where one is gone from there.
  std::string object(const std::string& text);
  // All such objects with their nests' texts, ordered by text. Throws as above.
  std::vector<std::pair<std::string, std::string>> objects();
  // How many bytes of objects are in memory, because no disk keeps them.
  size_t held_bytes() const;
  // Code for a nest that another process made, for this kind of machine: it is taken in place of compiling. `keep`:
  // also on disk, because it is what the emitter makes. Any thread.
  void add_object(const std::string& text, std::string object, bool keep);
  bool has_given() const { return has_given_; }

 private:
  struct Slot {
    mutable std::mutex mutex;
    KernelFn code = nullptr;
    std::string object;  // of the code, if it is not on disk; without code: what was given
    bool on_disk = false;  // what was given
  };
  Slot& find_or_add_slot(const std::string& text);
  void find_or_compile(const CpuNest& nest, const std::string& text, Slot& slot);
  bool load_given(Slot& slot, std::string& error);

  Emitter* const emitter_;
  BlobStore store_;
  const std::string prefix_;  // of all keys on disk
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Slot>> by_text_;
  std::atomic<uint64_t> compiled_{0}, loaded_{0}, given_{0};
  std::atomic<bool> has_given_{false};
};

}  // namespace thunder::loops
