// A program's steps on one device as a CUDA graph: recorded once and launched as one.
#pragma once

#include "program/program.h"

namespace thunder {

// A graph has fixed addresses. So a call copies its inputs to memory of the program's own, launches the graph, and
// copies the results from there; tensors that the function captured are read and written where they are. Steps on the
// CPU run before the launch, and numbers that they or the caller give to kernels replace those in the graph.
class Program::Recorded {
 public:
  explicit Recorded(Program& program) : program_(program) {}

  // The path of a call. `inputs`, `outputs`: by patch, as Program::input_patches_ and output_patches_. Null, or an
  // owned status.
  Status* run(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
              InterruptCheck& check) noexcept;
  // What was recorded, or why nothing is.
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
  std::string obstacle() const;
  Status* record(Frame& frame);
  void examine() noexcept;
  void try_to_record(Frame& frame) noexcept;
  StaticTensor static_tensor(const Patch& patch, size_t number, bool output) const;
  // Binds the patches on the device to static tensors, and returns the indices of the others.
  std::vector<size_t> bind_static(Frame& frame, const std::vector<Patch>& patches, std::vector<StaticTensor>& all,
                                  bool output) const;
  Status* copy(const StaticTensor& t, const std::vector<Patch>& patches, std::span<std::byte* const> callers,
               bool back) const;
  Status* launch(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
                 InterruptCheck& check);
  bool reads_host(const Step& step) const;

  Program& program_;
  State state_ = State::first;
  std::string why_;
  Accelerator* device_ = nullptr;
  std::vector<StaticTensor> inputs_, outputs_;
  std::vector<size_t> host_inputs_, host_outputs_;  // patches of the CPU's tensors, which each call binds
  std::vector<size_t> host_steps_;                  // those that run on the CPU, or read a number there
  std::unique_ptr<Recording> recording_;
};

}  // namespace thunder
