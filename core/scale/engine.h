// What moves bytes between ranks. Engines are driven by one thread (scale/progress.h), which never waits inside of
// them; what an engine begins at once also by the thread that asks for it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "device/event.h"
#include "ops/world_collectives.h"
#include "scale/launcher.h"

namespace thunder::scale {

// Codes of thunder.h beside those of base/status.h.
inline constexpr Code kDeadlineExceeded{4};
inline constexpr Code kUnavailable{14};

// One collective of a group: `count` elements of `in`. all_gather: of each rank; reduce_scatter: of the result;
// broadcast: from `in` to `out`, on the CPU in place, in `out`; all_to_all: for each rank; ppermute: of what `passing`
// says, if it says any. Never a barrier.
struct GroupCall {
  Collective what;
  RankReduction reduction = RankReduction::sum;
  int32_t root = 0;
  const void* in = nullptr;
  void* out = nullptr;
  int64_t count = 0;
  DType dtype = DType::u8;
  Passing passing = {};
  Accelerator* device = nullptr;  // of both; null: the CPU
  // On a device: what it begins behind, and what is recorded behind it. Null: behind all that the device does by now.
  DeviceEvent *after = nullptr, *over = nullptr;
};

// How a world is joined, beside the place of the process in it.
struct JoinOptions {
  int64_t communicator = 0;  // the host's own, as a handle of the engine; 0: all processes that the launcher started
  std::string folder = {};   // by which ranks find each other; "": in another way
};

// The type of as many bytes, for what is only moved.
inline DType type_of_bytes(size_t bytes) {
  return bytes == 1 ? DType::u8 : bytes == 2 ? DType::u16 : bytes == 4 ? DType::u32 : DType::u64;
}

// Some ranks that communicate: a communicator. Its destructor gives it back. All functions throw, and none waits for
// another rank but split(), which is called when all ranks of the group are known to call it.
class Group {
 public:
  virtual ~Group() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t ranks() const = 0;
  // Whether it can be used: called again until it is, before anything else. Throws why it never will be.
  virtual bool ready() { return true; }
  // In whose memory its collectives take buffers, beside that of the CPU.
  virtual Device device() const { return Device::cpu; }
  // What the engine's library took of its memory, beside what its allocator counts.
  virtual size_t device_bytes() const { return 0; }
  // Whether sums of floats on the CPU are made here (scale/tree_sum.h), of elements that it moves, rather than by it.
  virtual bool sums_by_tree() const { return false; }
  // The group of those `ranks` that gave the same `line`, numbered by `index`.
  virtual std::unique_ptr<Group> split(int64_t line, int64_t index, int64_t ranks) = 0;
  // Begins a collective. Its memory stays where it is until test() gives true.
  virtual uint64_t begin(const GroupCall& call) = 0;
  // Begins as many of them, at least the first, as the engine takes as one; how many.
  virtual size_t begin_together(std::span<const GroupCall> calls, uint64_t& request) {
    request = begin(calls.front());
    return 1;
  }
  // Whether any thread may begin and test these, where nothing else is: neither waits for anything then.
  virtual bool begins_at_once(std::span<const GroupCall> /*calls*/) { return false; }
  // Whether it is done, or with `over` on its way on the device; after true the request is no more.
  virtual bool test(uint64_t& request) = 0;
  // The ranks were given up. What was begun ends without a result where the engine can end it; nothing may be begun.
  virtual void abort() {}

  // Small texts to single ranks, which arrive without being waited for; of the world's group alone, if it carries them.
  static constexpr size_t kNoteBytes = 512;
  virtual bool carries_notes() const { return false; }
  virtual void send(int64_t /*rank*/, std::string_view /*note*/) {}
  virtual std::optional<std::string> receive() { return std::nullopt; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  // Opens the engine's library and joins the world. Throws not_found with every name tried where it is not here.
  virtual std::unique_ptr<Group> open(const ProcessPlace& place, const JoinOptions& how) = 0;
  // What was opened: version and file.
  virtual std::string description() const = 0;
  // Ranks were given up: nothing waits for them when the process ends. Any thread.
  virtual void give_up() {}
};

}  // namespace thunder::scale
