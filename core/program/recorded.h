// A program's steps on one device as a CUDA graph: recorded once and launched as one.
#pragma once

#include "program/program.h"

namespace thunder {

// What a program expects at fixed places, and the device's recording of it. Where a tensor that a call gives, or a
// result, lies elsewhere than in the call before, the arguments of the few kernels that read or write it are replaced;
// those that a library or many kernels use are copied to memory of the program's own before, and from there behind.
// Tensors that the function captured are read and written where they are. Steps on the CPU run as ever, before the
// recording is launched; numbers that they and the caller give to kernels replace those in the recording.
class Program::Recorded {
 public:
  explicit Recorded(Program& program);

  // The path of a call. `inputs`, `outputs`: by patch, as Program::input_patches_ and output_patches_. Null, or an
  // owned status.
  Status* run(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
              InterruptCheck& check) noexcept;
  // A description of the recording, or why there is none.
  std::string describe() const;
  size_t bytes() const;

 private:
  enum class State : uint8_t { first, unrecorded, recorded, refused };
  // An input or output on the device, in memory that stays the same.
  struct StaticTensor {
    uint32_t index;
    size_t patch;  // one of those that bind it
    bool written;  // an input that the program writes
    DType dtype;
    Sizes sizes, steps;  // steps in bytes
    Ref<Storage> memory;
    StridedBytes at(std::byte* data) const {
      return {data, static_cast<int32_t>(sizes.size()), sizes.data(), steps.data()};
    }
  };
  // A buffer of a compiled kernel, whose address in the graph is the one that the last call gave.
  struct KernelParameter {
    size_t patch, step;
  };
  // The inputs of calls, or their outputs: all patches of an index are on the CPU, kernel parameters, or of a static
  // tensor.
  struct CallTensors {
    const std::vector<Patch>& patches;
    const bool output;
    std::vector<StaticTensor> copied;
    std::vector<KernelParameter> parameters;
    std::vector<size_t> on_host;  // patches that each call binds
  };
  std::string why_not_recordable() const;
  void bind_addresses(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) const;
  Status* record(Frame& frame);
  void check_recordable() noexcept;
  void try_to_record(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) noexcept;
  // Divides the patches by what the recording shows; true: some are bound to a static tensor, so that it must be made
  // again.
  bool divide_tensors(Frame& frame, CallTensors& tensors) const;
  StaticTensor static_tensor(const Patch& patch, size_t number, bool output) const;
  // Binds kernel parameters to the addresses of this call; where one is another than before, its step is put among
  // `updates_`.
  void find_updates(Frame& frame, const CallTensors& tensors, std::span<std::byte* const> given);
  // Gives the kernels of a step their parameters anew.
  Status* update_step(Frame& frame, size_t step);
  Status* copy(const StaticTensor& t, const CallTensors& of, std::span<std::byte* const> callers, bool back) const;
  Status* launch(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
                 InterruptCheck& check);
  bool reads_host(const Step& step) const;

  Program& program_;
  State state_ = State::first;
  std::string why_;
  Accelerator* device_ = nullptr;
  CallTensors inputs_, outputs_;
  std::vector<size_t> host_steps_;  // those that run on the CPU, or read a number there
  std::vector<size_t> updates_;     // steps whose kernels get other parameters in this call
  std::vector<uint8_t> is_updated_;  // by step: it is among them
  std::unique_ptr<Recording> recording_;
};

}  // namespace thunder
