#include "executors/fusion/launch.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "executors/fusion/caches.h"

namespace thunder::fusion {
namespace {

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

int64_t piece_of(const Nest& nest) {
  if (nest.lane_is_outer()) return kOuterPiece;
  if (nest.blocked) return kBlockedPiece;
  if (nest.pieces_run_slowest()) return sums_whole_rows(nest, second_level_cache()) ? nest.extents[nest.lane] : kSummedPiece;
  return kPiece;
}

int64_t block_of(const Nest& nest) {
  bool meet = false, past = false;
  for (const Output& s : nest.stores) {
    past |= s.streams;
    if (nest.blocked && nest.maps[s.map][nest.lane] == 1) meet |= nest.maps[s.map][nest.block_axis()] * static_cast<int64_t>(size_of(nest.buffers[s.buffer])) % kMeet == 0;
  }
  return meet && !past ? kShortBlock : kBlock;
}

}  // namespace

struct Launcher::Work {
  const Launcher* launcher;
  std::array<void*, kMaxArguments> buffers;
  PartialSums::Sums* sums;  // where there are chunks
};

Launcher::Launcher(Lowered lowered) : checks_(std::move(lowered.checks)) {
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
  partials_ = PartialSums(std::move(lowered.partials), elements, items_);
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

Status* Launcher::run_chunks(int64_t begin, int64_t end, void* arg) {
  Work& work = *static_cast<Work*>(arg);
  const Launcher& l = *work.launcher;
  auto buffers = work.buffers;
  Refusal refusal;
  for (int64_t c = begin; c < end; c++) {
    l.partials_.begin(*work.sums, c, buffers.data());
    l.kernel_(buffers.data(), l.parameters_.data(), l.items_ * c / l.partials_.chunks(), l.items_ * (c + 1) / l.partials_.chunks(), &refusal);
    l.partials_.end(*work.sums, begin, c);
  }
  return refusal.expr < 0 ? nullptr : l.refused(refusal);
}

Status* Launcher::run(const Launch& launch) const {
  Work work;
  work.launcher = this;
  for (size_t i = 0; i < launch.n_inputs; i++) work.buffers[i] = launch.inputs[i].data;
  for (size_t i = 0; i < launch.n_outputs; i++) work.buffers[launch.n_inputs + i] = launch.outputs[i].data;
  if (!partials_.chunks()) return items_ <= grain_ ? run_range(work, 0, items_) : launch.parallel_for(&launch, items_, grain_, run_items, &work);
  PartialSums::Sums sums{&launch};
  work.sums = &sums;
  const int64_t chunks = partials_.chunks();
  if (Status* failed = launch.parallel_for(&launch, chunks, (grain_ * chunks + items_ - 1) / items_, run_chunks, &work)) return failed;
  partials_.finish(sums);
  return nullptr;
}

Status* Launcher::refused(const Refusal& r) const {
  const Check& check = checks_[static_cast<size_t>(r.expr)];
  return make<Status>(Code::invalid_argument, cat(check.op, ": index ", r.index, " is out of range for dim ", check.dim, " of size ", check.size)).detach();
}

}  // namespace thunder::fusion
