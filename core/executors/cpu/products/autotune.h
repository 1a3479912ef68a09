// Autotuning: each product is timed once with each candidate; the fastest is kept in memory and on disk.
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/blob_store.h"
#include "executors/cpu/products/algorithms.h"

namespace thunder {

class Autotuner {
 public:
  using Products = BatchedProduct<float> (*)(const Launch*);

  // `library_report`: what Library::open reported. The backends and the threads must live as long.
  Autotuner(const Backends& backends, std::string_view library_report, const Machine& machine, ThreadPool& threads,
            std::string folder);

  // The fastest of the available rows for tensors with these layouts, given without memory. None: there is nothing to
  // choose. Any thread; one product is timed at a time. Throws if memory runs out.
  std::optional<Algorithm> algorithm(const Available& available, Products products,
                                     std::span<const Buffer> inputs, std::span<const Buffer> outputs);
  // How many products were timed because they were not found on disk.
  uint64_t timed() const { return timed_; }

  // The key in memory and on disk: everything that the time depends on. Requires: the products are simplified.
  std::string tuning_key(const BatchedProduct<float>& products) const;

 private:
  struct Trials;
  Algorithm find_fastest(const Trials& trials, const std::vector<Algorithm>& algorithms) const;
  double time_algorithm(const Trials& trials, const Algorithm& algorithm) const;

  const Backends& backends_;
  ThreadPool& threads_;
  BlobStore store_;
  const std::string machine_;  // the beginning of every key
  std::mutex mutex_;
  std::unordered_map<std::string, Algorithm> known_;
  std::atomic<uint64_t> timed_{0};
};

}  // namespace thunder
