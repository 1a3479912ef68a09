// A program compiled by XLA, whose inputs and outputs lie in the library's memory.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "executors/openxla/plugin.h"
#include "tensor/buffer.h"

namespace thunder {
class Status;
}

namespace thunder::openxla {

class Executable {
 public:
  // A module whose `main` takes the inputs, and where `aliases` behind them as many tensors as it gives, in whose
  // memory it gives them. Throws Code::declined where XLA does not take it.
  Executable(const Plugin& plugin, const std::string& module, size_t inputs, size_t outputs, bool aliases);
  ~Executable();
  Executable(const Executable&) = delete;

  // Runs it on dense buffers. Null or an owned status. Any number of threads at a time.
  Status* run(std::span<const Buffer> in, std::span<const Buffer> out) const;
  // How many tensors were copied in and out so far, of a device that is the host.
  uint64_t copies() const { return copies_.load(std::memory_order_relaxed); }

 private:
  // Buffers over the memory of a call. Those of inputs stay as long as the next call has the same memory.
  struct Bound;
  PjrtError* bind_inputs(Bound& bound, std::span<const Buffer> in) const;
  PjrtError* execute(Bound& bound, std::span<const Buffer> out) const;
  PjrtError* copy_results(Bound& bound, std::span<const Buffer> out) const;

  const Plugin& plugin_;
  const size_t inputs_, outputs_;
  const bool aliases_;
  PjrtExecutable* executable_ = nullptr;
  mutable std::atomic<uint64_t> copies_{0};
  mutable Idle<Bound> idle_;
};

}  // namespace thunder::openxla
