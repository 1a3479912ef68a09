// What ranks tell each other beside their collectives: where they are, and that they leave. So that whoever waits in
// vain can say for whom, and why.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "scale/board.h"

namespace thunder::scale {

// Where a rank is: how many collectives it has begun along each axis, and what it does now, in words.
struct Position {
  std::map<std::string, uint64_t, std::less<>> begun;
  std::string doing;
  bool compiles = false;

  std::string text() const;  // at most Group::kNoteBytes - 16, or less is said of what it does
  static Position parse(std::string_view text);
  uint64_t begun_on(std::string_view axis) const;
};

// Those of a world. Ranks are those of its group.
class Notes : public Watch {
 public:
  // They go by the board if there is one, else by the group.
  explicit Notes(std::shared_ptr<Group> group, std::shared_ptr<Board> board = nullptr)
      : group_(std::move(group)), board_(std::move(board)), failed_(!carries()) {}
  // Whether ranks can tell each other anything.
  bool carries() const { return board_ || group_->carries_notes(); }

  // This rank begins a collective; the result counts those of the axis from 1. It waits for one, and is back in the
  // host's code. Any thread.
  uint64_t begin(std::string_view axis, std::string_view what);
  void wait(std::string_view axis, std::string_view what);
  void end();
  // It begins, or ends, to compile. Any thread.
  void compiles(bool begins) { compiling_ += begins ? 1 : -1; }
  // It gave up: it runs no collective any more, nor the last ones that it had begun, so many of each axis. Any thread.
  using Counts = std::map<std::string, uint64_t, std::less<>>;
  void fail(std::string why, Counts abandoned);

  // Called by the thread that drives engines, again and again: receives, and answers.
  void step() override;
  // By the same thread: tells all that this one leaves; asks a rank where it is.
  void leave() override;
  void ask(int64_t rank);

  // What a rank said last, or as it left. Any thread.
  std::optional<Position> answer(int64_t rank) const { return find(answers_, rank); }
  std::optional<Position> left(int64_t rank) const { return find(left_, rank); }
  // Why a rank gave up.
  std::optional<Position> failed(int64_t rank) const { return find(failed_ranks_, rank); }

 private:
  enum Kind : char { asks = 'a', is_here = 'h', leaves = 'l', fails = 'f' };
  using Said = std::map<int64_t, Position>;
  void send(int64_t rank, Kind kind, std::string_view text);
  std::optional<std::string> receive();
  std::string position(bool leaving) const;
  void tell_failure();
  std::optional<Position> find(const Said& in, int64_t rank) const;

  const std::shared_ptr<Group> group_;
  const std::shared_ptr<Board> board_;
  bool failed_;               // they do not get through; of the thread that drives engines
  mutable std::mutex mutex_;  // of what follows
  Position own_;
  std::string last_;  // the last collective
  uint64_t total_ = 0;
  std::string waits_for_;  // "": for none
  Clock::time_point since_ = Clock::now();
  Said answers_, left_, failed_ranks_;
  std::string failure_;  // to be told
  Counts abandoned_;
  std::atomic<int> compiling_{0};
};

}  // namespace thunder::scale
