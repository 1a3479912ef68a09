// Batches of rows from tensors that belong together, shuffled anew each epoch, resumable in the middle of one.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/side_threads.h"
#include "device/devices.h"
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

  // From now on next() gives tensors on this device, and while one batch is used another thread copies the rows of the
  // next one and sends them: the sources must not be written meanwhile. The CPU: as at first. Throws where the device
  // is missing. The devices must live as long.
  void send_to(Devices& devices, Device device);

  // Batches of the same rows, at the beginning of an epoch.
  std::unique_ptr<Batches> at_epoch(int64_t epoch) const;

  // Copies the next batch into fresh tensors, one for each source. Empty at the end of an epoch; the call after that
  // gives the first batch of the next one. Throws what a device reports; the next call then tries that batch again.
  std::vector<Ref<Tensor>> next(const Allocator& allocator);
  // Into the tensors given: same dtypes, same sizes but for the first, which is the batch's. Returns its rows, 0 at
  // the end of an epoch. Throws, and stays where it is, when a tensor does not fit.
  int64_t next_into(std::span<const Ref<Tensor>> targets);

  // i64[4]: seed, epoch, rows taken in it, rows in all. Setting it resumes exactly there.
  Ref<Tensor> state(const Allocator& allocator) const;
  void set_state(const Tensor& state);

 private:
  // A batch that is prepared by another thread.
  struct Ahead {
    std::vector<Ref<Tensor>> tensors;
    std::shared_ptr<SideThreads::Work> work;
  };
  int64_t next_size() const;
  // The rows from the first that was not taken.
  std::vector<Ref<Tensor>> gathered(const Allocator& allocator, int64_t count) const;
  void gather(std::span<const Ref<Tensor>> targets, int64_t count) const;
  std::vector<Ref<Tensor>> on_device(const Allocator& allocator, int64_t count) const;
  void prefetch_next(const Allocator& allocator);
  void drop_ahead();
  void shuffle_order_once();
  void end_epoch();

  std::vector<Ref<Tensor>> tensors_;
  BatchOptions options_;
  int64_t rows_ = 0, epoch_ = 0, taken_ = 0;
  std::vector<int64_t> order_;  // empty: as they lie
  bool ordered_ = false;        // order_ is that of the epoch
  Devices* devices_ = nullptr;
  Device device_ = Device::cpu;
  std::shared_ptr<Ahead> ahead_;  // of the rows that come next; null: nobody makes them
  SideThreads threads_{1};        // ends before what it reads
};

// The order of `rows` rows in an epoch: Fisher and Yates' shuffle.
std::vector<int64_t> shuffled(int64_t rows, uint64_t seed, int64_t epoch);

}  // namespace thunder
