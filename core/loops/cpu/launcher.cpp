#include "loops/cpu/launcher.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "loops/cpu/schedule.h"

namespace thunder::loops {
struct CpuLauncher::Work {
  const CpuLauncher* launcher;
  std::array<void*, kMaxArguments> buffers;
  PartialSums::Sums* sums;  // only if there are chunks
};

CpuLauncher::CpuLauncher(const CpuKernel& kernel, std::function<CpuNest()> make_nest)
    : Kernel(this), kernel_(kernel.code), make_nest_(std::move(make_nest)), parameters_(parameters(kernel.nest)),
      items_(kernel.division.items), grain_(kernel.division.grain),
      partials_(kernel.region.sums, kernel.division.chunks), checks_(kernel.region.checks) {
  ensure(kernel.nest.buffers.size() <= kMaxArguments, "a kernel has more arguments than a launcher can pass");
  parameters_.insert(parameters_.end(), {kernel.division.strip, kernel.division.block});
  if (kernel.tiled) find_strides(kernel.nest);
}

CpuLauncher::CpuLauncher(CpuKernel&& kernel) : CpuLauncher(kernel, nullptr) { nest_ = std::move(kernel.nest); }

const CpuNest& CpuLauncher::nest() const {
  if (make_nest_) std::call_once(nest_made_, [this] { nest_ = make_nest_(); });
  return nest_;
}

void CpuLauncher::find_strides(const CpuNest& nest) {
  strides_.resize(nest.buffers.size());
  const auto add = [&](uint32_t buffer, uint32_t map) {
    const auto bytes = static_cast<int64_t>(size_of(nest.buffers[buffer]));
    strides_[buffer] = {nest.maps[map][0] * bytes, nest.maps[map][1] * bytes};
  };
  for (const Expr& e : nest.exprs)
    if (e.fn == Fn::load) add(e.buffer, e.map);
  for (const Output& s : nest.stores) add(s.buffer, s.map);
}

// For the kernel a tile is a smaller nest: fewer rows and columns, and another first element.
void CpuLauncher::run_tile(const Launch* launch, const Tile& part) const {
  std::array<void*, kMaxArguments> buffers;
  std::array<int64_t, kMaxTileParameters + 2> parameters;  // the nest's, a strip and a block
  for (size_t i = 0; i < launch->n_inputs + launch->n_outputs; i++) {
    const Buffer& b = i < launch->n_inputs ? launch->inputs[i] : launch->outputs[i - launch->n_inputs];
    buffers[i] = b.as<std::byte>() + part.row * strides_[i].row + part.column * strides_[i].column;
  }
  std::copy(parameters_.begin(), parameters_.end(), parameters.begin());
  parameters[0] = part.rows, parameters[1] = part.columns;
  IndexError index_error;
  kernel_(buffers.data(), parameters.data(), 0, part.rows * ((part.columns + kStrip - 1) / kStrip), &index_error);
}

inline Status* CpuLauncher::run_range(const Work& work, int64_t begin, int64_t end) const {
  IndexError index_error;
  kernel_(work.buffers.data(), parameters_.data(), begin, end, &index_error);
  return index_error.expr < 0 ? nullptr : index_error_status(checks_, index_error);
}

Status* CpuLauncher::run_items(int64_t begin, int64_t end, void* arg) {
  const Work& work = *static_cast<Work*>(arg);
  return work.launcher->run_range(work, begin, end);
}

Status* CpuLauncher::run_chunks(int64_t begin, int64_t end, void* arg) {
  Work& work = *static_cast<Work*>(arg);
  const CpuLauncher& l = *work.launcher;
  auto buffers = work.buffers;
  IndexError index_error;
  for (int64_t c = begin; c < end; c++) {
    l.partials_.zero_chunk(*work.sums, c, buffers.data());
    l.kernel_(buffers.data(), l.parameters_.data(), l.items_ * c / l.partials_.chunks(),
              l.items_ * (c + 1) / l.partials_.chunks(), &index_error);
    l.partials_.combine_finished(*work.sums, begin, c);
  }
  return index_error.expr < 0 ? nullptr : index_error_status(l.checks_, index_error);
}

Status* CpuLauncher::run(const Launch* launch) const {
  Work work;
  work.launcher = this;
  for (size_t i = 0; i < launch->n_inputs; i++) work.buffers[i] = launch->inputs[i].data;
  for (size_t i = 0; i < launch->n_outputs; i++) work.buffers[launch->n_inputs + i] = launch->outputs[i].data;
  if (!partials_.chunks())
    return items_ <= grain_ ? run_range(work, 0, items_)
                            : launch->parallel_for(launch, items_, grain_, run_items, &work);
  PartialSums::Sums sums{launch};
  work.sums = &sums;
  const int64_t chunks = partials_.chunks();
  if (Status* failed = launch->parallel_for(launch, chunks, (grain_ * chunks + items_ - 1) / items_, run_chunks, &work))
    return failed;
  partials_.combine_all(sums);
  return nullptr;
}

}  // namespace thunder::loops
