#include "executors/fusion/launch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "executors/fusion/caches.h"
#include "ops/kernels.h"

namespace thunder::fusion {
namespace {

// Chunks of partial sums: enough for many threads, few enough that adding them up costs little. Never the number of
// threads, so that sums have the same bits for any.
constexpr int64_t kFewChunks = 4, kChunks = 32;
constexpr int64_t kSummed = 16;  // elements that a chunk has for each of its sums, if there are enough
constexpr int64_t kGrain = 16384;  // elements that a thread is woken for
// Elements of the lane axis in a work item, where it is split; and where its columns are summed: several sums of each, and what they
// are of, fit into a first-level cache.
constexpr int64_t kPiece = 4096, kSummedPiece = 1024;
// A work item of a blocked nest: runs of lines of the cache along both axes, which memory gives faster than single ones. In the caches rows
// that are a multiple of so many bytes apart meet: there is room for a few lines of them, so that few are written at a time.
constexpr int64_t kBlock = 128, kShortBlock = 16, kBlockedPiece = 64;
constexpr int64_t kMeet = 2048;
// Of rows side by side, each in a lane.
constexpr int64_t kOuterPiece = 64;

int64_t piece_of(const Nest& nest) {
  if (nest.lane_is_outer()) return kOuterPiece;
  if (nest.blocked) return kBlockedPiece;
  return nest.pieces_run_slowest() ? kSummedPiece : kPiece;
}

int64_t block_of(const Nest& nest) {
  bool meet = false, past = false;
  for (const Output& s : nest.stores) {
    past |= s.streams;
    if (nest.blocked && nest.maps[s.map][nest.lane] == 1) meet |= nest.maps[s.map][nest.block_axis()] * static_cast<int64_t>(size_of(nest.buffers[s.buffer])) % kMeet == 0;
  }
  return meet && !past ? kShortBlock : kBlock;
}

// In runs whose length the compiler knows: it makes vectors of them.
template <class T>
void add(T* sums, const T* more, int64_t n) {
  constexpr int64_t kRun = 16;
  int64_t i = 0;
  for (; i + kRun <= n; i += kRun) {
    T run[kRun];
    for (int64_t k = 0; k < kRun; k++) run[k] = sums[i + k] + more[i + k];
    for (int64_t k = 0; k < kRun; k++) sums[i + k] = run[k];
  }
  for (; i < n; i++) sums[i] += more[i];
}

// 0 where it does not say.
size_t system_says(int name) {
  const long number = ::sysconf(name);
  return number > 0 ? static_cast<size_t>(number) : 0;
}
constexpr size_t kLeastFirstLevel = 32 << 10;
#ifdef _SC_LEVEL3_CACHE_SIZE
// Bytes. A machine that others share, as virtual ones do, tells of the whole cache: of that, more than so much a processor is not ours.
constexpr size_t kShare = size_t{16} << 20;
size_t last_level_cache() {
  static const size_t bytes = std::min(system_says(_SC_LEVEL3_CACHE_SIZE), kShare * system_says(_SC_NPROCESSORS_ONLN));
  return bytes;
}
size_t second_level_cache() {
  static const size_t bytes = system_says(_SC_LEVEL2_CACHE_SIZE);
  return bytes;
}
size_t first_level_cache() {
  static const size_t bytes = std::max(kLeastFirstLevel, system_says(_SC_LEVEL1_DCACHE_SIZE));
  return bytes;
}
#else
size_t first_level_cache() { return kLeastFirstLevel; }
size_t last_level_cache() { return 0; }
size_t second_level_cache() { return 0; }
#endif

}  // namespace

struct Launcher::Work {
  const Launcher* launcher;
  std::array<void*, kMaxArguments> buffers;
  std::byte* partials;
};

Launcher::Launcher(Lowered lowered) : partials_(std::move(lowered.partials)), checks_(std::move(lowered.checks)) {
  Nest& nest = lowered.nest;
  stream_large(nest, last_level_cache());
  pipeline_rows(nest, first_level_cache(), last_level_cache());
  fetch_ahead(nest, second_level_cache(), last_level_cache());
  ensure(nest.buffers.size() <= kMaxArguments, "a kernel has more arguments than its lines can have");
  kernel_ = kernel(nest);
  parameters_ = fusion::parameters(nest);
  const int64_t piece = piece_of(nest), block = block_of(nest);
  parameters_.insert(parameters_.end(), {piece, block});
  items_ = work_items(nest, piece, block);
  if (lowered.in_tiles) find_steps(nest);
  int64_t elements = 1;
  for (uint32_t a = 0; a < nest.outer + nest.inner; a++) elements *= nest.extents[a];
  grain_ = std::max<int64_t>(1, kGrain * items_ / std::max<int64_t>(1, elements));
  if (partials_.empty()) return;
  int64_t sums = 0;
  for (const Partial& p : partials_) {
    partial_offsets_.push_back(chunk_bytes_);
    chunk_bytes_ += (static_cast<size_t>(p.elements) * size_of(p.sum) + 63) / 64 * 64;
    sums += p.elements;
  }
  chunks_ = std::min(items_, std::clamp(elements / (kSummed * std::max<int64_t>(1, sums)), kFewChunks, kChunks));
}

void Launcher::find_steps(const Nest& nest) {
  steps_.resize(nest.buffers.size());
  const auto walk = [&](uint32_t buffer, uint32_t map) {
    const auto bytes = static_cast<int64_t>(size_of(nest.buffers[buffer]));
    steps_[buffer] = {nest.maps[map][0] * bytes, nest.maps[map][1] * bytes};
  };
  for (const Expr& e : nest.exprs)
    if (e.fn == Fn::load) walk(e.buffer, e.map);
  for (const Output& s : nest.stores) walk(s.buffer, s.map);
}

// The kernel knows of a part only that it has fewer rows and columns, and where its first element is.
void Launcher::run_tile(const Launch& launch, const Tile& part) const {
  std::array<void*, kMaxArguments> buffers;
  std::array<int64_t, kMostParametersOfTiles + 2> parameters;  // the nest's, a piece and a block
  for (size_t i = 0; i < launch.n_inputs + launch.n_outputs; i++) {
    const Buffer& b = i < launch.n_inputs ? launch.inputs[i] : launch.outputs[i - launch.n_inputs];
    buffers[i] = b.as<std::byte>() + part.row * steps_[i].row + part.column * steps_[i].column;
  }
  std::copy(parameters_.begin(), parameters_.end(), parameters.begin());
  parameters[0] = part.rows, parameters[1] = part.columns;
  Refusal refusal;
  kernel_(buffers.data(), parameters.data(), 0, part.rows * ((part.columns + kPiece - 1) / kPiece), &refusal);
}

inline Status* Launcher::run_range(const Work& work, int64_t begin, int64_t end) const {
  Refusal refusal;
  kernel_(work.buffers.data(), parameters_.data(), begin, end, &refusal);
  return refusal.expr < 0 ? nullptr : refused(refusal);
}

Status* Launcher::run_items(int64_t begin, int64_t end, void* arg) {
  const Work& work = *static_cast<Work*>(arg);
  return work.launcher->run_range(work, begin, end);
}

// Each chunk of the outer range sums into memory of its own.
Status* Launcher::run_chunks(int64_t begin, int64_t end, void* arg) {
  const Work& work = *static_cast<Work*>(arg);
  const Launcher& l = *work.launcher;
  auto buffers = work.buffers;
  Refusal refusal;
  for (int64_t c = begin; c < end; c++) {
    std::byte* sums = work.partials + static_cast<size_t>(c) * l.chunk_bytes_;
    std::memset(sums, 0, l.chunk_bytes_);
    for (size_t i = 0; i < l.partials_.size(); i++) buffers[l.partials_[i].argument] = sums + l.partial_offsets_[i];
    l.kernel_(buffers.data(), l.parameters_.data(), l.items_ * c / l.chunks_, l.items_ * (c + 1) / l.chunks_, &refusal);
  }
  return refusal.expr < 0 ? nullptr : l.refused(refusal);
}

Status* Launcher::run(const Launch& launch) const {
  Work work;
  work.launcher = this;
  for (size_t i = 0; i < launch.n_inputs; i++) work.buffers[i] = launch.inputs[i].data;
  for (size_t i = 0; i < launch.n_outputs; i++) work.buffers[launch.n_inputs + i] = launch.outputs[i].data;
  work.partials = static_cast<std::byte*>(launch.scratch);
  if (!chunks_) return items_ <= grain_ ? run_range(work, 0, items_) : launch.parallel_for(&launch, items_, grain_, run_items, &work);
  if (Status* failed = launch.parallel_for(&launch, chunks_, (grain_ * chunks_ + items_ - 1) / items_, run_chunks, &work)) return failed;
  add_up(launch);
  return nullptr;
}

void Launcher::add_up(const Launch& launch) const {
  constexpr int64_t kAtOnce = 256;
  const auto* partials = static_cast<const std::byte*>(launch.scratch);
  for (size_t i = 0; i < partials_.size(); i++) {
    const Partial& p = partials_[i];
    const Buffer& out = launch.outputs[p.argument - launch.n_inputs];
    by_dtype(p.sum, [&](auto t) {
      using T = decltype(t);
      by_dtype(out.dtype, [&](auto u) {
        using Out = decltype(u);
        if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, bf16>)
          for (int64_t first = 0; first < p.elements; first += kAtOnce) {
            const int64_t n = std::min(kAtOnce, p.elements - first);
            T sums[kAtOnce] = {};
            for (int64_t c = 0; c < chunks_; c++)
              add(sums, reinterpret_cast<const T*>(partials + static_cast<size_t>(c) * chunk_bytes_ + partial_offsets_[i]) + first, n);
            for (int64_t k = 0; k < n; k++) out.as<Out>()[first + k] = static_cast<Out>(sums[k]);
          }
      });
    });
  }
}

Status* Launcher::refused(const Refusal& r) const {
  const Check& check = checks_[static_cast<size_t>(r.expr)];
  return make<Status>(Code::invalid_argument, cat(check.op, ": index ", r.index, " is out of range for dim ", check.dim, " of size ", check.size)).detach();
}

}  // namespace thunder::fusion
