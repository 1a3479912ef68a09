#include "executors/products/autotune.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/text.h"
#include "executors/products/choices.h"
#include "tensor/tensor.h"

namespace thunder {
namespace {

constexpr int kRounds = 5;
// A candidate is dropped after one run that took so much longer than the best; the cost model's choice stays unless
// another one is so much better.
constexpr double kHopeless = 1.3, kBetter = 0.97;
// Products with larger operands (in bytes) are not timed.
constexpr size_t kMostMemory = size_t{1} << 30;

// Tensors of these layouts, filled with ones.
class Trial {
 public:
  explicit Trial(std::span<const Buffer> layouts) : buffers_(layouts.begin(), layouts.end()) {
    for (Buffer& b : buffers_) {
      if (!b.present()) continue;
      const Extent e = extent_of(b);
      memory_.emplace_back(static_cast<size_t>(e.end - e.begin) / sizeof(float), 1.0f);
      b.data = reinterpret_cast<std::byte*>(memory_.back().data()) - e.begin;
    }
  }
  static Extent extent_of(const Buffer& b) {
    const auto rank = static_cast<size_t>(b.rank);
    return extent({b.shape, rank}, {b.strides, rank}, sizeof(float));
  }
  std::span<const Buffer> buffers() const { return buffers_; }

 private:
  std::vector<Buffer> buffers_;
  std::vector<std::vector<float>> memory_;
};

Status* parallel_for(const Launch* launch, int64_t n, int64_t grain, ThreadPool::Body body, void* arg) {
  return launch->threads->parallel_for(n, grain, body, arg);
}

bool fits_in_memory(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  size_t bytes = 0;
  for (const auto& side : {inputs, outputs})
    for (const Buffer& b : side)
      if (b.present()) bytes += static_cast<size_t>(Trial::extent_of(b).end - Trial::extent_of(b).begin);
  return bytes <= kMostMemory;
}

}  // namespace

// A product that is timed repeatedly.
struct Autotuner::Trials {
  const Available& available;
  Products products;
  Launch launch;
};

Autotuner::Autotuner(const Backends& backends, std::string_view found, const Machine& machine, ThreadPool& threads,
                     std::string folder)
    : backends_(backends), threads_(threads), store_(std::move(folder)),
      machine_(cat("product 3\n", machine.processor, "\n", found, "\n")) {}

std::optional<Algorithm> Autotuner::algorithm(const Available& available, Products products,
                                              std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  Launch launch;
  launch.inputs = inputs.data(), launch.n_inputs = inputs.size();
  launch.outputs = outputs.data(), launch.n_outputs = outputs.size();
  launch.parallel_for = parallel_for;
  launch.threads = &threads_;
  BatchedProduct<float> p = products(&launch);
  p.simplify();
  if (p.each.m == 0 || p.each.n == 0 || !fits_in_memory(inputs, outputs)) return std::nullopt;
  const std::vector<Algorithm> algorithms = algorithms_of(backends_, available, p);
  const std::string which = key(p);
  std::lock_guard lock(mutex_);
  if (const auto it = known_.find(which); it != known_.end()) return it->second;
  // An entry of another process, given or on disk, is used only if it is one of the candidates.
  std::optional<std::string> kept = given_choice(which);
  if (!kept) kept = store_.get(which);
  const auto it = std::find_if(algorithms.begin(), algorithms.end(),
                               [&](const Algorithm& algorithm) { return kept && name(algorithm) == *kept; });
  if (it != algorithms.end()) return note_choice(which, name(*it)), known_[which] = *it;
  const Trial in(inputs), out(outputs);
  size_t scratch_bytes = 0;
  for (const Algorithm& algorithm : algorithms)
    scratch_bytes = std::max(scratch_bytes, scratch_of(backends_, p.each, algorithm));
  const Panels scratch = make_panels(scratch_bytes);
  launch.scratch = scratch.get();
  launch.inputs = in.buffers().data(), launch.outputs = out.buffers().data();
  const Algorithm best = fastest({available, products, launch}, algorithms);
  timed_++;
  store_.put(which, name(best));
  note_choice(which, name(best));
  return known_[which] = best;
}

std::string Autotuner::key(const BatchedProduct<float>& products) const {
  const Product& p = products.each;
  const auto lies = [](const Matrix& m) { return m.column == 1 ? "rows" : m.row == 1 ? "columns" : "strided"; };
  std::string out = cat(machine_, threads_.threads(), " threads\n", p.m, "x", p.k, "x", p.n, " ", lies(p.a), " ",
                        lies(p.b), products.bias ? " bias" : "");
  for (size_t i = 0; i < products.rank; i++)
    out +=
        cat(" of ", products.batch[i].size, products.batch[i].a ? "" : " one a", products.batch[i].b ? "" : " one b");
  return out;
}

double Autotuner::seconds(const Trials& t, const Algorithm& algorithm) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  if (Status* failed = run_products(backends_, t.available, &t.launch, t.products(&t.launch), &algorithm))
    return failed->release(), std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Candidates alternate, so that disturbances hit all of them.
Algorithm Autotuner::fastest(const Trials& trials, const std::vector<Algorithm>& algorithms) const {
  std::vector<double> best(algorithms.size(), std::numeric_limits<double>::infinity());
  seconds(trials, algorithms[0]);  // a warm-up: memory is mapped and threads are awake from now on
  for (int round = 0; round < kRounds; round++) {
    const double least = *std::min_element(best.begin(), best.end());
    for (size_t i = 0; i < algorithms.size(); i++)
      if (round == 0 || best[i] <= kHopeless * least) best[i] = std::min(best[i], seconds(trials, algorithms[i]));
  }
  const auto found = static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
  return algorithms[best[found] < kBetter * best[0] ? found : 0];
}

}  // namespace thunder
