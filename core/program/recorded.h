// A program's steps on one device, recorded once and launched as one.
#pragma once

#include "program/program.h"

namespace thunder {

// What a program expects at fixed places, and the device's recording of it. Tensors that a call gives are copied to memory of the program's own
// before, its results are copied from there behind; tensors that the function captured are read and written where they are. Steps on the CPU
// run as ever, before the recording is launched; numbers that they and the caller give to kernels replace those in the recording.
class Program::Recorded {
 public:
  explicit Recorded(Program& program) : program_(program) {}

  // Whether the next call is to go through here.
  bool usable() const { return state_ != State::refused; }
  // The path of a call. `inputs`, `outputs`: by patch, as Program::input_patches_ and output_patches_. Null, or an owned status.
  Status* run(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, InterruptCheck& check) noexcept;
  // What was recorded, or why nothing is.
  std::string describe() const;
  size_t bytes() const;

 private:
  enum class State : uint8_t { first, unrecorded, recorded, refused };
  // An input or output on the device, at its own place.
  struct Fixed {
    uint32_t index;
    Device device;
    bool written;  // an input that the program writes
    DType dtype;
    Sizes sizes, steps;  // steps in bytes
    Ref<Storage> memory;
    StridedBytes at(std::byte* data) const { return {data, static_cast<int32_t>(sizes.size()), sizes.data(), steps.data()}; }
  };
  std::string obstacle() const;
  Status* record(Frame& frame);
  void fix(std::vector<Fixed>& all, const std::vector<Patch>& patches, bool output);
  const Fixed* fixed(const std::vector<Fixed>& all, uint32_t index) const;
  Status* copy(const Fixed& f, const std::vector<Patch>& patches, std::span<std::byte* const> callers, bool back) const;
  Status* launch(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, InterruptCheck& check);
  void bind(Frame& frame, const std::vector<Patch>& patches, std::span<std::byte* const> callers, const std::vector<Fixed>* all) const;
  bool reads_host(const Step& step) const;

  Program& program_;
  State state_ = State::first;
  std::string why_;
  Accelerator* device_ = nullptr;
  std::vector<Fixed> inputs_, outputs_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace thunder
