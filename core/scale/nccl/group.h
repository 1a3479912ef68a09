// A communicator of NCCL's: it opens while ranks go on, begins one collective after the other and can be left at any
// moment. NCCL starts a thread for each call of a communicator that does not block. So collectives are those of one
// that blocks, split from one that does not: to open it takes as long as the ranks take, to hand over a collective a
// moment.
#pragma once

#include <mutex>
#include <set>

#include "device/cuda/event.h"
#include "scale/nccl/library.h"
#include "scale/nccl/rendezvous.h"

namespace thunder::scale::nccl {

class NcclGroup : public Group {
 public:
  // Of all ranks of a new world.
  NcclGroup(const Library& library, Ref<nvidia::CudaDevice> device, int64_t rank, int64_t ranks,
            std::unique_ptr<Rendezvous> rendezvous);
  // Ranks of another communicator, which outlives it. `splits`: it may itself be split.
  NcclGroup(const Library& library, Ref<nvidia::CudaDevice> device, int64_t rank, int64_t ranks, Comm parent,
            int64_t line, bool splits);
  ~NcclGroup() override;
  NcclGroup(const NcclGroup&) = delete;

  int64_t rank() const override { return rank_; }
  int64_t ranks() const override { return ranks_; }
  bool ready() override;
  Device device() const override { return device_->id(); }
  size_t device_bytes() const override { return bytes_; }
  std::unique_ptr<Group> split(int64_t line, int64_t index, int64_t ranks) override;
  uint64_t begin(const GroupCall& call) override;
  size_t begin_together(std::span<const GroupCall> calls, uint64_t& request) override;
  bool begins_at_once(std::span<const GroupCall> calls) override;
  bool test(uint64_t& request) override;
  void abort() override;

  bool carries_notes() const override { return beside() && beside()->carries_notes(); }
  void send(int64_t rank, std::string_view note) override { beside()->send(rank, note); }
  std::optional<std::string> receive() override { return beside()->receive(); }

 private:
  // Device memory that operands and results of the host are in meanwhile. It is kept, and grows.
  struct Staged {
    Ref<Storage> memory;
    size_t bytes = 0;
  };
  enum class State : uint8_t { meets, opens, splits, is_open, given_up };

  void open_stream();
  Group* beside() const { return rendezvous_ ? rendezvous_->beside() : nullptr; }
  bool is_settled();
  void split_from(Comm parent, int64_t line, bool blocks, Comm* out);
  void note(std::span<const GroupCall> calls);
  void check_open() const;
  void* staged(Staged& in, size_t bytes);
  void wait_for_operand(const GroupCall& call);
  // Throws where the library has no reduction of that type.
  static void check_type(const GroupCall& call);
  void launch(const GroupCall& call, const void* in, void* out);
  void launch_together(std::span<const GroupCall> calls);
  template <class F>
  void for_group(F&& begin);
  void send_bytes(const void* in, size_t bytes, int64_t to);
  void receive_bytes(void* out, size_t bytes, int64_t from);
  bool close(Comm& comm);
  bool is_idle();
  size_t free_bytes() const;

  std::mutex mutex_;  // of all that is done with communicators that are open
  const Library& library_;
  const Ref<nvidia::CudaDevice> device_;
  const int64_t rank_, ranks_;
  const Comm parent_ = nullptr;
  const std::unique_ptr<Rendezvous> rendezvous_;  // of a new world alone
  State state_;
  const bool has_root_;
  Comm root_ = nullptr;  // does not block
  Comm comm_ = nullptr;
  std::set<uint64_t> begun_;  // by which NCCL has connected the ranks
  nvidia::Stream stream_ = nullptr;
  nvidia::CudaEvent done_;
  size_t free_before_ = 0, bytes_ = 0;
  // Of the collective that was begun last.
  GroupCall call_{};
  bool recorded_ = false;  // it is on the stream, and `done_` behind it
  Staged in_, out_;
};

}  // namespace thunder::scale::nccl
