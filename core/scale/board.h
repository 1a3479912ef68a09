// Memory that the ranks of one machine share: there they agree on a collective within a microsecond, leave notes for
// each other, and see whose process has ended.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scale/engine.h"
#include "scale/progress.h"

namespace thunder::scale {

// One rank's view of it. Functions without a comment of their own may be called by any thread.
class Board {
 public:
  static constexpr size_t kLines = 16;  // axes that have a place on it
  static constexpr size_t kTextBytes = 1008;

  // A new one, for others to join by its name. Both throw where this machine does not let them.
  static std::unique_ptr<Board> create(int64_t rank, int64_t ranks);
  static std::unique_ptr<Board> join(const std::string& name, int64_t rank, int64_t ranks);
  ~Board();
  Board(const Board&) = delete;

  const std::string& name() const { return name_; }
  // Of the rank that created it, once all have joined: nothing stays behind when their processes end.
  void forget_name();

  // This rank comes to its next collective of a line and says what it is; which one that is, from 1. All ranks must be
  // known to have come to the one before.
  uint64_t reach(size_t line, uint64_t digest, std::string_view text);
  // The last one that a rank has come to.
  uint64_t reached(size_t line, int64_t rank) const;
  // What it said of the last one or the one before.
  uint64_t digest(size_t line, int64_t rank, uint64_t number) const;
  std::string text(size_t line, int64_t rank, uint64_t number) const;

  // Its process has not ended, or not joined yet.
  bool lives(int64_t rank) const;

  // Notes of at most Group::kNoteBytes. By one thread; what a rank does not fetch for long is lost.
  void send(int64_t rank, std::string_view note);
  std::optional<std::string> receive();

 private:
  struct Said;
  struct Place;
  struct Rank;
  struct Box;
  Board(std::string name, int64_t rank, int64_t ranks, bool creates);
  Rank& at(int64_t rank) const;
  Place& at(size_t line, int64_t rank) const;
  Box& box(int64_t to, int64_t from) const;

  const std::string name_;
  const int64_t rank_, ranks_;
  int file_ = -1;
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  bool has_name_ = false;
};

// The board's place for the ranks of an axis.
struct BoardLine {
  std::shared_ptr<Board> board;
  size_t line;
  std::vector<int64_t> members;  // ranks of the world
};

// Ranks of a group find out whether all of them can have one board; null: they cannot.
class BoardTask : public Task {
 public:
  explicit BoardTask(std::shared_ptr<Group> group);
  bool step() override;
  std::shared_ptr<Board> board() const { return board_; }  // requires: it is over

 private:
  struct Says {
    char machine[64], name[64];
    int64_t joined;
  };
  void ask();
  void join_first();

  const std::shared_ptr<Group> group_;
  std::shared_ptr<Board> board_;
  Says own_{};
  std::vector<Says> all_;
  uint64_t request_ = 0;
  int asked_ = 0;
};

}  // namespace thunder::scale
