// Batches of rows from tensors that belong together, shuffled anew each epoch, resumable in the middle of one.
#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace thunder {

struct BatchOptions {
  int64_t size = 1;
  bool shuffle = true;
  bool drop_last = false;  // leave out the rows at the end of an epoch that do not fill a batch
  uint64_t seed = 0;
};

// The order of the rows depends on seed, epoch and row count alone: equal on every machine.
class Batches {
 public:
  // The tensors are on the CPU and have equal first sizes. Batch k holds row order[i] of each of them.
  Batches(std::vector<Ref<Tensor>> tensors, const BatchOptions& options);

  int64_t rows() const { return rows_; }
  int64_t batches() const;  // in one epoch
  int64_t epoch() const { return epoch_; }

  // Copies the next batch into fresh tensors, one for each source. Empty at the end of an epoch; the call after that
  // gives the first batch of the next one.
  std::vector<Ref<Tensor>> next(const Allocator& allocator);
  // Into the tensors given: same dtypes, same sizes but for the first, which is the batch's. Returns its rows, 0 at
  // the end of an epoch. Throws, and stays where it is, when a tensor does not fit.
  int64_t next_into(std::span<const Ref<Tensor>> targets);

  // i64[4]: seed, epoch, rows taken in it, rows in all. Setting it resumes exactly there.
  Ref<Tensor> state(const Allocator& allocator) const;
  void set_state(const Tensor& state);

 private:
  int64_t next_size() const;
  void gather(std::span<const Ref<Tensor>> targets, int64_t count) const;
  void start_epoch();
  void end_epoch();

  std::vector<Ref<Tensor>> tensors_;
  BatchOptions options_;
  int64_t rows_ = 0, epoch_ = 0, taken_ = 0;
  std::vector<int64_t> order_;  // empty: as they lie
};

// The order of `rows` rows in an epoch: Fisher and Yates' shuffle.
std::vector<int64_t> shuffled(int64_t rows, uint64_t seed, int64_t epoch);

}  // namespace thunder
