#include "executors/cuda/cublaslt/algorithm_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.h"
#include "executors/cpu/products/choices.h"
#include "executors/cuda/cublaslt/problem.h"
#include "executors/cuda/cublaslt/timing.h"

namespace thunder::cublaslt {
namespace {

constexpr int kTimed = 8;

// The bytes of a choice on disk. Machines of one key have one byte order.
using Bytes = std::array<char, sizeof(Choice)>;
static_assert(sizeof(Choice) == 72, "an algorithm is 64 opaque bytes");

std::string serialize(const Choice& choice) {
  const Bytes bytes = std::bit_cast<Bytes>(choice);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::optional<Choice> AlgorithmCache::find_stored(const std::string& key, const Problem& problem) {
  for (const std::optional<std::string>& blob : {find_given_choice(key), store_.get(key)}) {
    if (!blob || blob->size() != sizeof(Choice)) continue;
    Choice choice;
    std::memcpy(&choice, blob->data(), sizeof choice);
    if (problem.check_choice(choice)) return choice;
  }
  return std::nullopt;
}

Choice AlgorithmCache::find_preferred(const Session& session, const ProblemShape& shape, const Problem* made,
                                      const AlgorithmUse& use) {
  const std::string key = cat(use.alignment, " ", use.most_workspace_bytes, " ", describe(shape));
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::optional<Problem> own;
  const Problem& problem = made ? *made : own.emplace(session, shape);
  return known_[key] = problem.propose_choices(use.alignment, 1, use.most_workspace_bytes)[0];
}

Choice AlgorithmCache::find_timed(const Session& session, const Problem& problem, const AlgorithmUse& use) {
  const std::string key =
      cat("cublaslt 1\n", machine_, "\ntimed, aligned to ", use.alignment, "\n", describe(problem.shape()));
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::optional<Choice> choice = find_stored(key, problem);
  if (!choice) {
    const std::vector<Choice> proposed = problem.propose_choices(use.alignment, kTimed, use.most_workspace_bytes);
    const auto best = proposed.size() > 1 ? find_fastest(session, problem, proposed) : std::optional<size_t>(0);
    choice = proposed[best.value_or(0)];
    // A choice that could not be timed now is not kept on disk, so that the next process may time it.
    if (!best) return known_[key] = *choice;
    store_.put(key, serialize(*choice));
  }
  record_choice(key, serialize(*choice));
  return known_[key] = *choice;
}

Choice AlgorithmCache::find(const Session& session, const Problem& problem, const AlgorithmUse& use) {
  const std::lock_guard lock(mutex_);
  if (use.timed) return find_timed(session, problem, use);
  if (use.of_class) {
    Choice choice = find_preferred(session, representative(problem.shape()), nullptr, use);
    if (problem.check_choice(choice)) return choice;
  }
  return find_preferred(session, problem.shape(), &problem, use);
}

}  // namespace thunder::cublaslt
