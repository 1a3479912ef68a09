// Which of cuBLASLt's algorithms computes a product: the one that its heuristics prefer, for its sizes or for a class
// of sizes, or the fastest of several that were timed on the device, which is kept on disk, too.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/blob_store.h"
#include "executors/cuda/cublaslt/library.h"

namespace thunder::cublaslt {

class Problem;
struct ProblemShape;
class Session;

// An algorithm, and the workspace that it needs.
struct Choice {
  Algorithm algorithm{};
  uint64_t workspace_bytes = 0;
};

// For which use an algorithm is looked for.
struct AlgorithmUse {
  uint32_t alignment;          // of addresses, in bytes
  size_t most_workspace_bytes;
  // Up to eight algorithms that heuristics propose are timed on the device, once for each problem.
  bool timed = false;
  bool of_class = false;  // the preferred one of representative(), where it computes the problem
};

class AlgorithmCache {
 public:
  // `machine`: the library, its version and the device. Choices on disk are shared by all processes for which it is
  // equal.
  AlgorithmCache(std::string folder, std::string machine) : store_(std::move(folder)), machine_(std::move(machine)) {}

  // Choices of different uses are kept apart, so that what was timed does not change the results of those who did not
  // ask for it. What is found on disk is taken only if the library says that it computes the problem; otherwise it is
  // replaced. Throws what the library reports. Any thread; one problem is looked for at a time.
  Choice find(const Session& session, const Problem& problem, const AlgorithmUse& use);

 private:
  // `made`: the problem of this shape; null: it is made where the library has to be asked.
  Choice find_preferred(const Session& session, const ProblemShape& shape, const Problem* made,
                        const AlgorithmUse& use);
  Choice find_timed(const Session& session, const Problem& problem, const AlgorithmUse& use);
  std::optional<Choice> find_stored(const std::string& key, const Problem& problem);

  BlobStore store_;
  const std::string machine_;
  std::mutex mutex_;
  std::unordered_map<std::string, Choice> known_;
};

}  // namespace thunder::cublaslt
