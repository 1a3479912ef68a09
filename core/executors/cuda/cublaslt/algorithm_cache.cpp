#include "executors/cuda/cublaslt/algorithm_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.h"
#include "executors/cuda/cublaslt/timing.h"
#include "executors/cpu/products/choices.h"

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

std::optional<Choice> AlgorithmCache::find_stored(const std::string& key, const Problem& problem, bool timed) {
  for (const std::optional<std::string>& blob : {timed ? find_given_choice(key) : std::nullopt, store_.get(key)}) {
    if (!blob || blob->size() != sizeof(Choice)) continue;
    Choice choice;
    std::memcpy(&choice, blob->data(), sizeof choice);
    if (problem.check_choice(choice)) return choice;
  }
  return std::nullopt;
}

Choice AlgorithmCache::find(const Session& session, const Problem& problem, uint32_t alignment, bool timed) {
  const std::string key = cat("cublaslt 1\n", machine_, "\n", timed ? "timed" : "preferred", ", aligned to ",
                              alignment, "\n", problem.describe());
  std::lock_guard lock(mutex_);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const std::optional<Choice> stored = find_stored(key, problem, timed);
  Choice choice;
  if (stored) {
    choice = *stored;
  } else {
    const std::vector<Choice> proposed = problem.propose_choices(alignment, timed ? kTimed : 1);
    const std::optional<size_t> best =
        timed && proposed.size() > 1 ? find_fastest(session, problem, proposed) : std::optional<size_t>(0);
    choice = proposed[best.value_or(0)];
    // A choice that could not be timed now is not kept on disk, so that the next process may time it.
    if (best) store_.put(key, serialize(choice));
    else timed = false;
  }
  if (timed) record_choice(key, serialize(choice));
  return known_[key] = choice;
}

}  // namespace thunder::cublaslt
