// What ranks do together, as tasks: to open a group, and a collective: they first agree on what they are about to do,
// then do it.
#pragma once

#include "scale/board.h"
#include "scale/events.h"
#include "scale/tree_sum.h"

namespace thunder::scale {

// A group that opens.
class OpeningTask : public Task {
 public:
  explicit OpeningTask(std::function<std::unique_ptr<Group>()> make) : make_(std::move(make)) {}
  bool step() override;
  // From now on it does nothing but to give up what was begun.
  void abandon() { abandoned_ = true; }
  // Requires: it is over.
  std::shared_ptr<Group> group() const { return group_; }

 private:
  const std::function<std::unique_ptr<Group>()> make_;
  std::atomic<bool> abandoned_{false};
  std::shared_ptr<Group> group_;
};

// What was started together, until all of it was waited for. Where ranks disagree, all of them leave out the rest.
struct StartedTogether {
  Ref<Status> refused;  // of the thread that drives engines
};

class CollectiveTask : public Task {
 public:
  // Null `line`: the ranks have no board, and agree by a collective of the group.
  CollectiveTask(std::shared_ptr<Group> group, std::string axis, std::shared_ptr<StartedTogether> together,
                 std::shared_ptr<const BoardLine> line, std::shared_ptr<Events> events);
  // Before it runs. `text`, "all_reduce(f32[10], sum)", is what ranks compare; null `call`: they only meet. On the CPU
  // the result is kept here, where an engine may still write it after the ranks were given up; the operand is the
  // caller's. On a device the engine writes the caller's result: it stops when its group is aborted. It is then over
  // when the device has it, behind what the caller's thread has asked of the device so far.
  void add(const std::string& text, const CollectiveCall* call);
  // "all_gather(f32[10])", or "all_gather(f32[10]) and 3 more".
  std::string text() const;
  bool step() override;
  // Whether the result is there, at most until `end`. Throws as wait_until() does.
  bool wait_for_result(Clock::time_point end);
  // What the device does from now on finds the result. Requires: it is over.
  void order_device() const;
  // Copies a result that is here to the memory that its call named. Requires: it is over.
  void store(const void* out) const;
  bool on_device() const { return end_ != nullptr; }
  // The device cannot give the result: `why` is what the next one is told who waits for it. Requires: it is on one.
  void fail_device(Ref<Status> why) const;
  // It is left to the device, and nobody waits for it; or no more. Requires: it is on one.
  void leave_to_device(bool left) const;
  // Whether the thread that asks for it may step it, where nothing else is begun: that takes it no time once all ranks
  // have come.
  bool may_run_here() const;
  // From now on it does nothing: the ranks that it waits for are given up.
  void abandon() { abandoned_ = true; }

 private:
  static constexpr size_t kTextBytes = 1024;
  struct Header {
    uint64_t digest;  // of the texts
  };
  // A result that is not in its place yet.
  struct Kept {
    void* place;
    size_t bytes;
    std::shared_ptr<std::byte[]> memory;
  };
  void begin(const GroupCall& call) { request_ = group_->begin(call); }
  bool agrees_here() const { return line_ || headers_.size() == 1; }
  void begin_headers();
  bool have_all_come();
  void begin_texts();
  void begin_calls();
  bool add_up();
  bool go_on();
  bool agree() const;
  [[noreturn]] void fail_disagreeing() const;

  enum class Phase : uint8_t { start, headers, texts, call } phase_ = Phase::start;
  const std::shared_ptr<Group> group_;
  const std::string axis_;
  const std::shared_ptr<StartedTogether> together_;
  const std::shared_ptr<const BoardLine> line_;
  uint64_t number_ = 0;  // of those of the line
  std::string first_, text_, shown_;  // of the first, and of all: with the user's lines
  size_t count_ = 0;
  std::vector<std::shared_ptr<const void>> keeps_;  // of operands
  std::atomic<bool> abandoned_{false};
  std::vector<GroupCall> calls_;
  size_t begun_ = 0;  // of these
  std::vector<TreeSum> sums_, added_;  // whose first calls they have, and whose second
  const std::shared_ptr<Events> events_;
  std::shared_ptr<DeviceEvent> after_, end_;  // on a device
  uint64_t request_ = 0;
  Header own_{};
  std::vector<Header> headers_;
  std::vector<char> own_text_, texts_;
  std::vector<Kept> kept_;
};

inline size_t bytes_of(const Buffer& b) {
  return static_cast<size_t>(b.elements()) * size_of(b.dtype);
}

// "all_reduce(f32[10], sum)".
std::string collective_text(const CollectiveCall& call);

}  // namespace thunder::scale
