#include "executors/cpu/products/autotune.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/text.h"
#include "executors/executor.h"
#include "executors/cpu/products/choices.h"
#include "tensor/tensor.h"

namespace thunder {
namespace {

constexpr int kRounds = 5;
// A candidate is dropped if its first run took kDropRatio times as long as the best. The cost model's choice stays
// unless another candidate takes at most kGainRatio of its time.
constexpr double kDropRatio = 1.3, kGainRatio = 0.97;
// Products whose operands have more bytes are not timed.
constexpr size_t kMaxMemory = size_t{1} << 30;

// The candidates: algorithms, each with tiles of several sizes.
constexpr int64_t kCandidateRows[] = {64, 128, 256, 512},
                  kCandidateColumns[] = {64, 128, 192, 256, 384, 512, 768, 1024, 2048};

std::vector<int64_t> tile_sizes(int64_t whole, std::span<const int64_t> candidates) {
  std::vector<int64_t> out;
  for (int64_t side : candidates)
    if (side < whole) out.push_back(side);
  if (out.empty() || whole <= candidates.back()) out.push_back(whole);
  return out;
}

// Whether an algorithm is a candidate for tiles of so many rows. Beyond some sizes our kernels are never the fastest,
// except the small one for a transposed b, since it transposes a panel at a time.
bool is_candidate(const AlgorithmRow<float>& row, const BatchedProduct<float>& products, int64_t rows) {
  constexpr int64_t kMaxThinRows = 16, kMaxSmallWork = 256 * 256 * 256;
  const Product& p = products.each;
  if (row.name == "thin") return p.m <= kMaxThinRows;
  if (row.name == "transposed") return rows == p.m || rows % ProductKernels::kMaxColumns == 0;
  if (row.name == "small") return p.m * p.n * p.k <= kMaxSmallWork || p.b.column != 1;
  return row.by_tile;
}

// Operands of these layouts, filled with ones, for timing.
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

bool fits_in_memory(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  size_t bytes = 0;
  for (const auto& side : {inputs, outputs})
    for (const Buffer& b : side)
      if (b.present()) bytes += static_cast<size_t>(Trial::extent_of(b).end - Trial::extent_of(b).begin);
  return bytes <= kMaxMemory;
}

}  // namespace

std::vector<Algorithm> candidate_algorithms(const Backends& backends, const Available& available,
                                            const BatchedProduct<float>& products) {
  const std::span<const AlgorithmRow<float>> rows_of_f32 = algorithms<float>();
  const Product& p = products.each;
  std::vector<Algorithm> out = {choose_algorithm(backends, available, products)};
  if (p.k == 0 || !(out[0].row->by_tile || out[0].row->name == "transposed")) return out;
  for (int64_t rows : tile_sizes(p.m, kCandidateRows))
    for (int64_t columns : tile_sizes(p.n, kCandidateColumns))
      for (size_t i = 0; i < rows_of_f32.size(); i++) {
        const Algorithm algorithm{&rows_of_f32[i], {rows, columns}};
        if (!available[i] || !algorithm.row->can(products) || !is_candidate(*algorithm.row, products, rows)) continue;
        if (std::find(out.begin(), out.end(), algorithm) == out.end()) out.push_back(algorithm);
      }
  return out;
}

// A product that is timed repeatedly.
struct Autotuner::Trials {
  const Available& available;
  Products products;
  Launch launch;
};

Autotuner::Autotuner(const Backends& backends, std::string_view library_report, const Machine& machine,
                     ThreadPool& threads, std::string folder)
    : backends_(backends),
      threads_(threads),
      store_(std::move(folder)),
      machine_(cat("product 3\n", machine.processor, "\n", library_report, "\n")) {}

std::optional<Algorithm> Autotuner::algorithm(const Available& available, Products products,
                                              std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  Launch launch = launch_on(inputs, outputs, &threads_);
  BatchedProduct<float> p = products(&launch);
  p.simplify();
  if (p.each.m == 0 || p.each.n == 0 || !fits_in_memory(inputs, outputs)) return std::nullopt;
  const std::vector<Algorithm> algorithms = candidate_algorithms(backends_, available, p);
  if (algorithms.size() == 1) return algorithms[0];
  const std::string key_of_products = tuning_key(p);
  std::lock_guard lock(mutex_);
  if (const auto it = known_.find(key_of_products); it != known_.end()) return it->second;
  // An entry made by another process, given or on disk, is used only if it is a candidate here.
  std::optional<std::string> kept = find_given_choice(key_of_products);
  if (!kept) kept = store_.get(key_of_products);
  const auto it = std::find_if(algorithms.begin(), algorithms.end(),
                               [&](const Algorithm& algorithm) { return kept && name(algorithm) == *kept; });
  if (it != algorithms.end()) return record_choice(key_of_products, name(*it)), known_[key_of_products] = *it;
  const Trial in(inputs), out(outputs);
  size_t scratch_bytes = 0;
  for (const Algorithm& algorithm : algorithms)
    scratch_bytes = std::max(scratch_bytes, scratch_bytes_of(backends_, p.each, algorithm));
  const Panels scratch = allocate_panels(scratch_bytes);
  launch.scratch = scratch.get();
  launch.inputs = in.buffers().data(), launch.outputs = out.buffers().data();
  const Algorithm best = find_fastest({available, products, launch}, algorithms);
  timed_++;
  store_.put(key_of_products, name(best));
  record_choice(key_of_products, name(best));
  return known_[key_of_products] = best;
}

std::string Autotuner::tuning_key(const BatchedProduct<float>& products) const {
  const Product& p = products.each;
  const auto order = [](const Matrix& m) { return m.column == 1 ? "rows" : m.row == 1 ? "columns" : "strided"; };
  std::string out = cat(machine_, threads_.threads(), " threads\n", p.m, "x", p.k, "x", p.n, " ", order(p.a), " ",
                        order(p.b), products.bias ? " bias" : "");
  for (size_t i = 0; i < products.rank; i++)
    out +=
        cat(" of ", products.batch[i].size, products.batch[i].a ? "" : " one a", products.batch[i].b ? "" : " one b");
  return out;
}

double Autotuner::time_algorithm(const Trials& t, const Algorithm& algorithm) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  if (Status* failed = run_products(backends_, t.available, &t.launch, t.products(&t.launch), &algorithm))
    return failed->release(), std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Candidates alternate, so that disturbances hit all of them.
Algorithm Autotuner::find_fastest(const Trials& trials, const std::vector<Algorithm>& algorithms) const {
  std::vector<double> best(algorithms.size(), std::numeric_limits<double>::infinity());
  time_algorithm(trials, algorithms[0]);  // a warm-up: memory is mapped and threads are awake from now on
  for (int round = 0; round < kRounds; round++) {
    const double least = *std::min_element(best.begin(), best.end());
    for (size_t i = 0; i < algorithms.size(); i++)
      if (round == 0 || best[i] <= kDropRatio * least)
        best[i] = std::min(best[i], time_algorithm(trials, algorithms[i]));
  }
  const auto found = static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
  return algorithms[best[found] < kGainRatio * best[0] ? found : 0];
}

}  // namespace thunder
