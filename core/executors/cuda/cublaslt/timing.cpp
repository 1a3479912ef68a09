#include "executors/cuda/cublaslt/timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "base/text.h"

namespace thunder::cublaslt {
namespace {

constexpr int kRounds = 3, kMostRuns = 20;
constexpr double kSecondsOfRound = 2e-3;  // about as long as the runs of one choice take together
// A choice is dropped if its first round took kDropRatio times as long as the best; the first choice stays unless
// another takes at most kGainRatio of its time.
constexpr double kDropRatio = 1.3, kGainRatio = 0.97;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr size_t kAlign = 256;

void throw_if_failed(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

size_t align_up(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Operands of zeros and a workspace, on which choices run. All of it throws what the device and the library report.
class Trial {
 public:
  Trial(const Session& session, const Problem& problem, size_t workspace_bytes)
      : device_(session.device()), problem_(problem), workspace_bytes_(workspace_bytes) {
    const std::array<size_t, 4> operands = problem.operand_bytes();
    size_t bytes = workspace_bytes + kAlign;
    for (const size_t of : operands) bytes += align_up(of);
    memory_ = Storage::allocate(device_.allocator(), bytes);
    throw_if_failed(device_.fill_with_zeros(memory_->data(), bytes));
    uintptr_t at = align_up(reinterpret_cast<uintptr_t>(memory_->data()));
    for (size_t i = 0; i < operands.size(); i++)
      operands_[i] = reinterpret_cast<void*>(at), at += align_up(operands[i]);
    workspace_ = reinterpret_cast<void*>(at);
  }

  // Runs a choice twice, since the first run loads its kernel, and records as many runs as make a round.
  class Candidate {
   public:
    Candidate(const Trial& trial, const Choice& choice) : trial_(trial), graph_(trial.device_.recording()) {
      const auto once = [&] { throw_if_failed(trial_.run(choice)); };
      trial_.time_call(once);
      runs_ = static_cast<int>(std::clamp(kSecondsOfRound / trial_.time_call(once), 1.0, double{kMostRuns}));
      throw_if_failed(graph_->begin());
      Status* failed = nullptr;
      for (int i = 0; i < runs_ && !failed; i++) failed = trial_.run(choice);
      Ref<Status> ended = Ref<Status>::adopt(graph_->end());  // whatever happened, nothing more is to be recorded
      throw_if_failed(failed);
      throw_if_failed(ended.detach());
    }
    // Of one run, in a round of them.
    double seconds() const {
      return trial_.time_call([&] { throw_if_failed(graph_->launch()); }) / runs_;
    }

   private:
    const Trial& trial_;
    std::unique_ptr<Recording> graph_;
    int runs_ = 1;
  };

 private:
  Status* run(const Choice& choice) const {
    return problem_.run(operands_[0], operands_[1], operands_[2], operands_[3], workspace_, workspace_bytes_,
                        choice.algorithm);
  }
  // Until the device has done it.
  template <class F>
  double time_call(const F& what) const {
    using Clock = std::chrono::steady_clock;
    throw_if_failed(device_.synchronize_stream(device_.native_stream()));
    const auto start = Clock::now();
    what();
    throw_if_failed(device_.synchronize_stream(device_.native_stream()));
    return std::max(std::chrono::duration<double>(Clock::now() - start).count(), 1e-9);
  }

  nvidia::CudaDevice& device_;
  const Problem& problem_;
  const size_t workspace_bytes_;
  Ref<Storage> memory_;
  std::array<void*, 4> operands_{};
  void* workspace_ = nullptr;
};

// Null: it cannot be run.
std::unique_ptr<Trial::Candidate> make_candidate(const Trial& trial, const Choice& choice) {
  try {
    return std::make_unique<Trial::Candidate>(trial, choice);
  } catch (const Error&) {
    return nullptr;
  }
}

double seconds(const Trial::Candidate& candidate) {
  try {
    return candidate.seconds();
  } catch (const Error&) {
    return kNever;
  }
}

}  // namespace

// Candidates alternate, so that disturbances hit all of them.
std::optional<size_t> find_fastest(const Session& session, const Problem& problem, const std::vector<Choice>& choices) {
  try {
    uint64_t workspace_bytes = 0;
    for (const Choice& c : choices) workspace_bytes = std::max(workspace_bytes, c.workspace_bytes);
    const Trial trial(session, problem, workspace_bytes);
    std::vector<std::unique_ptr<Trial::Candidate>> candidates;
    for (const Choice& c : choices) candidates.push_back(make_candidate(trial, c));
    std::vector<double> best(choices.size(), kNever);
    for (int round = 0; round < kRounds; round++) {
      const double least = *std::min_element(best.begin(), best.end());
      for (size_t i = 0; i < choices.size(); i++)
        if (candidates[i] && (round == 0 || best[i] <= kDropRatio * least))
          best[i] = std::min(best[i], seconds(*candidates[i]));
    }
    const auto found = static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
    if (best[found] == kNever) return std::nullopt;
    return best[found] < kGainRatio * best[0] ? found : 0;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace thunder::cublaslt
