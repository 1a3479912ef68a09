#include "executors/fusion/launch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "base/text.h"
#include "ops/kernels.h"

namespace thunder::fusion {
namespace {

constexpr size_t kMaxArguments = 64;
// Chunks of partial sums: enough for many threads, few enough that adding them up costs little. Never the number of
// threads, so that sums have the same bits for any.
constexpr int64_t kChunks = 32;
constexpr int64_t kPiece = 4096;  // elements of the lane axis in a work item, where it is split

int64_t count_items(const Nest& n, int64_t piece) {
  int64_t items = 1;
  for (uint32_t a = 0; a < n.outer; a++)
    if (a != n.lane) items *= n.extents[a];
  if (n.split || n.lane_is_outer()) items *= (n.extents[n.lane] + piece - 1) / piece;
  return items;
}

}  // namespace

struct Launcher::Work {
  const Launcher* launcher;
  std::array<void*, kMaxArguments> buffers;
  std::byte* partials;
  std::mutex mutex;
  Refusal refusal;  // the first of any thread

  void report(const Refusal& r) {
    if (r.expr < 0) return;
    std::lock_guard lock(mutex);
    if (refusal.expr < 0) refusal = r;
  }
};

Launcher::Launcher(Lowered lowered) : partials_(std::move(lowered.partials)), checks_(std::move(lowered.checks)) {
  const Nest& nest = lowered.nest;
  arguments_ = nest.buffers.size();
  require(arguments_ <= kMaxArguments, "fusion: a kernel has ", arguments_, " arguments, at most ", kMaxArguments, " are possible");
  kernel_ = kernel(nest);
  parameters_ = fusion::parameters(nest);
  const int64_t piece = nest.lane_is_outer() ? 64 : kPiece;
  parameters_.push_back(piece);
  items_ = count_items(nest, piece);
  if (partials_.empty()) return;
  chunks_ = static_cast<size_t>(std::min(items_, kChunks));
  for (const Partial& p : partials_) {
    partial_offsets_.push_back(chunk_bytes_);
    chunk_bytes_ += (static_cast<size_t>(p.elements) * size_of(p.sum) + 63) / 64 * 64;
  }
}

void Launcher::run_items(size_t begin, size_t end, void* arg) {
  Work& work = *static_cast<Work*>(arg);
  const Launcher& l = *work.launcher;
  Refusal refusal;
  l.kernel_(work.buffers.data(), l.parameters_.data(), static_cast<int64_t>(begin), static_cast<int64_t>(end), &refusal);
  work.report(refusal);
}

// Each chunk of the outer range sums into memory of its own.
void Launcher::run_chunks(size_t begin, size_t end, void* arg) {
  Work& work = *static_cast<Work*>(arg);
  const Launcher& l = *work.launcher;
  auto buffers = work.buffers;
  const auto chunks = static_cast<int64_t>(l.chunks_);
  Refusal refusal;
  for (size_t c = begin; c < end; c++) {
    std::byte* sums = work.partials + c * l.chunk_bytes_;
    std::memset(sums, 0, l.chunk_bytes_);
    for (size_t i = 0; i < l.partials_.size(); i++)
      buffers[l.partials_[i].argument] = sums + l.partial_offsets_[i];
    const auto at = static_cast<int64_t>(c);
    l.kernel_(buffers.data(), l.parameters_.data(), l.items_ * at / chunks, l.items_ * (at + 1) / chunks, &refusal);
  }
  work.report(refusal);
}

Status* Launcher::run(const Launch& launch) const {
  Work work;
  work.launcher = this;
  for (size_t i = 0; i < launch.n_inputs; i++) work.buffers[i] = launch.inputs[i].data;
  for (size_t i = 0; i < launch.n_outputs; i++) work.buffers[launch.n_inputs + i] = launch.outputs[i].data;
  work.partials = static_cast<std::byte*>(launch.scratch);
  if (!chunks_) {
    if (items_ == 1) run_items(0, 1, &work);
    else launch.parallel_for(&launch, static_cast<size_t>(items_), run_items, &work);
  } else {
    launch.parallel_for(&launch, chunks_, run_chunks, &work);
    add_up(launch);
  }
  return work.refusal.expr < 0 ? nullptr : refused(work.refusal);
}

void Launcher::add_up(const Launch& launch) const {
  const auto* partials = static_cast<const std::byte*>(launch.scratch);
  for (size_t i = 0; i < partials_.size(); i++) {
    const Partial& p = partials_[i];
    const Buffer& out = launch.outputs[p.argument - launch.n_inputs];
    by_dtype(p.sum, [&](auto t) {
      using T = decltype(t);
      by_dtype(out.dtype, [&](auto u) {
        using Out = decltype(u);
        if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, bf16>)
          for (int64_t k = 0; k < p.elements; k++) {
            T sum = 0;
            for (size_t c = 0; c < chunks_; c++) sum += reinterpret_cast<const T*>(partials + c * chunk_bytes_ + partial_offsets_[i])[k];
            out.as<Out>()[k] = static_cast<Out>(sum);
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
