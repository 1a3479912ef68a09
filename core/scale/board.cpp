#include "scale/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <random>

#include "base/text.h"

namespace thunder::scale {
namespace {

constexpr size_t kSaid = 2;   // of a rank and a line: others may still read of the one before
constexpr size_t kNotes = 8;  // of a sender, which a rank has not fetched

uint64_t random_number() {
  std::random_device source;
  return (uint64_t{source()} << 32) | source();
}

// Of this process: its own lock of a file does not tell it that it lives.
uint64_t process_number() {
  static const uint64_t number = random_number() | 1;
  return number + 2 * static_cast<uint64_t>(::getpid());  // that of a fork is another one
}

// Ranks with the same one see the same shared memory, unless they are told otherwise; then they cannot join.
std::string machine() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return boot;
}

struct flock lock_of(int64_t rank, int16_t type) {
  struct flock lock {};
  lock.l_type = type, lock.l_whence = SEEK_SET, lock.l_start = rank, lock.l_len = 1;
  return lock;
}

}  // namespace

struct Board::Said {
  uint64_t digest;
  char text[kTextBytes];
};
struct alignas(64) Board::Place {
  std::atomic<uint64_t> reached;
  Said said[kSaid];
};
struct alignas(64) Board::Rank {
  std::atomic<uint64_t> process;
};
struct alignas(64) Board::Box {
  std::atomic<uint64_t> sent;
  alignas(64) std::atomic<uint64_t> received;
  char notes[kNotes][Group::kNoteBytes];
};

std::unique_ptr<Board> Board::create(int64_t rank, int64_t ranks) {
  return std::unique_ptr<Board>(new Board(cat("/thunder-", random_number()), rank, ranks, true));
}

std::unique_ptr<Board> Board::join(const std::string& name, int64_t rank, int64_t ranks) {
  return std::unique_ptr<Board>(new Board(name, rank, ranks, false));
}

Board::Board(std::string name, int64_t rank, int64_t ranks, bool creates)
    : name_(std::move(name)), rank_(rank), ranks_(ranks) {
  const auto n = static_cast<size_t>(ranks);
  bytes_ = n * sizeof(Rank) + kLines * n * sizeof(Place) + n * n * sizeof(Box);
  const auto check = [](bool good, const char* what) {
    if (!good) fail(Code::backend, "shared memory of ranks: ", what, ": ", std::strerror(errno));
  };
  file_ = ::shm_open(name_.c_str(), O_RDWR | O_CLOEXEC | (creates ? O_CREAT | O_EXCL : 0), 0600);
  check(file_ >= 0, "shm_open");
  has_name_ = creates;
  try {
    // Memory that is there is never missed later, which would be a signal.
    if (creates) check((errno = ::posix_fallocate(file_, 0, static_cast<off_t>(bytes_))) == 0, "posix_fallocate");
    struct flock own = lock_of(rank_, F_WRLCK);
    check(::fcntl(file_, F_SETLK, &own) == 0, "fcntl");
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    check(memory != MAP_FAILED, "mmap");
    memory_ = static_cast<std::byte*>(memory);
  } catch (...) {
    forget_name();
    ::close(file_);
    throw;
  }
  at(rank_).process = process_number();
}

Board::~Board() {
  forget_name();
  ::munmap(memory_, bytes_);
  ::close(file_);
}

void Board::forget_name() {
  if (std::exchange(has_name_, false)) ::shm_unlink(name_.c_str());
}

Board::Rank& Board::at(int64_t rank) const {
  return reinterpret_cast<Rank*>(memory_)[rank];
}

Board::Place& Board::at(size_t line, int64_t rank) const {
  const auto n = static_cast<size_t>(ranks_);
  return reinterpret_cast<Place*>(memory_ + n * sizeof(Rank))[line * n + static_cast<size_t>(rank)];
}

Board::Box& Board::box(int64_t to, int64_t from) const {
  const auto n = static_cast<size_t>(ranks_);
  return reinterpret_cast<Box*>(memory_ + n * sizeof(Rank) + kLines * n * sizeof(Place))[to * ranks_ + from];
}

uint64_t Board::reach(size_t line, uint64_t digest, std::string_view text) {
  Place& own = at(line, rank_);
  const uint64_t number = own.reached.load(std::memory_order_relaxed) + 1;
  Said& said = own.said[number % kSaid];
  const size_t bytes = std::min(text.size(), kTextBytes - 1);
  said.digest = digest;
  std::memcpy(said.text, text.data(), bytes);
  said.text[bytes] = 0;
  own.reached.store(number, std::memory_order_release);
  return number;
}

uint64_t Board::reached(size_t line, int64_t rank) const {
  return at(line, rank).reached.load(std::memory_order_acquire);
}

uint64_t Board::digest(size_t line, int64_t rank, uint64_t number) const {
  return at(line, rank).said[number % kSaid].digest;
}

std::string Board::text(size_t line, int64_t rank, uint64_t number) const {
  return at(line, rank).said[number % kSaid].text;
}

bool Board::lives(int64_t rank) const {
  const uint64_t process = at(rank).process;
  if (process == 0 || process == process_number()) return true;
  struct flock other = lock_of(rank, F_WRLCK);
  return ::fcntl(file_, F_GETLK, &other) != 0 || other.l_type != F_UNLCK;
}

void Board::send(int64_t rank, std::string_view note) {
  Box& to = box(rank, rank_);
  const uint64_t sent = to.sent.load(std::memory_order_relaxed);
  if (sent - to.received.load(std::memory_order_acquire) == kNotes) return;
  char* const place = to.notes[sent % kNotes];
  place[note.copy(place, Group::kNoteBytes - 1)] = 0;
  to.sent.store(sent + 1, std::memory_order_release);
}

std::optional<std::string> Board::receive() {
  for (int64_t from = 0; from < ranks_; from++) {
    Box& own = box(rank_, from);
    const uint64_t received = own.received.load(std::memory_order_relaxed);
    if (own.sent.load(std::memory_order_acquire) == received) continue;
    std::string note = own.notes[received % kNotes];
    own.received.store(received + 1, std::memory_order_release);
    return note;
  }
  return std::nullopt;
}

BoardTask::BoardTask(std::shared_ptr<Group> group) : group_(std::move(group)) {
  all_.resize(static_cast<size_t>(group_->ranks()));
  machine().copy(own_.machine, sizeof own_.machine - 1);
}

void BoardTask::ask() {
  own_.joined = board_ != nullptr;
  request_ = group_->begin({.what = Collective::all_gather, .in = &own_, .out = all_.data(), .count = sizeof own_});
  asked_++;
}

// The board that the first rank has made.
void BoardTask::join_first() {
  const bool one = std::all_of(all_.begin(), all_.end(), [&](const Says& s) {
    return s.machine[0] && std::strcmp(s.machine, own_.machine) == 0;
  });
  if (!one || !all_[0].joined || group_->rank() == 0) return;
  try {
    board_ = Board::join(all_[0].name, group_->rank(), group_->ranks());
  } catch (const Error&) {  // the others are told below
  }
}

bool BoardTask::step() {
  if (asked_ == 0) {
    try {
      if (group_->rank() == 0) {
        board_ = Board::create(0, group_->ranks());
        board_->name().copy(own_.name, sizeof own_.name - 1);
      }
    } catch (const Error&) {  // as above
    }
    ask();
  }
  if (!group_->test(request_)) return false;
  went_on();
  if (asked_ == 1) return join_first(), ask(), false;
  const bool joined = std::all_of(all_.begin(), all_.end(), [](const Says& s) { return s.joined; });
  if (board_ && joined)
    board_->forget_name();
  else
    board_ = nullptr;
  return true;
}

}  // namespace thunder::scale
