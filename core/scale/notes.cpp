#include "scale/notes.h"

#include <charconv>
#include <cstdio>

#include "base/text.h"

namespace thunder::scale {
namespace {

constexpr std::string_view kCompiles = "compiles,";  // beside the axes, whose names have a number behind them

}  // namespace

std::string Position::text() const {
  std::string out;
  for (auto& [axis, count] : begun) out += cat(axis, "=", count, ",");
  if (compiles) out += kCompiles;
  out += "|" + doing;
  return out.substr(0, Group::kNoteBytes - 16);
}

Position Position::parse(std::string_view text) {
  Position out;
  const size_t bar = std::min(text.find('|'), text.size());
  out.compiles = text.substr(0, bar).ends_with(kCompiles);
  for (size_t at = 0; at < bar;) {
    const size_t comma = std::min(text.find(',', at), bar), equals = text.find('=', at);
    if (equals < comma) {
      uint64_t& count = out.begun[std::string(text.substr(at, equals - at))];
      std::from_chars(text.data() + equals + 1, text.data() + comma, count);
    }
    at = comma + 1;
  }
  if (bar < text.size()) out.doing = text.substr(bar + 1);
  return out;
}

uint64_t Position::begun_on(std::string_view axis) const {
  const auto it = begun.find(axis);
  return it == begun.end() ? 0 : it->second;
}

uint64_t Notes::begin(std::string_view axis, std::string_view what) {
  const std::lock_guard lock(mutex_);
  last_ = cat(what, " over axis '", axis, "'");
  since_ = Clock::now(), total_++;
  const auto it = own_.begun.find(axis);
  return it == own_.begun.end() ? own_.begun[std::string(axis)] = 1 : ++it->second;
}

void Notes::wait(std::string_view axis, std::string_view what) {
  const std::lock_guard lock(mutex_);
  waits_for_ = cat(what, " over axis '", axis, "'"), since_ = Clock::now();
}

void Notes::end() {
  const std::lock_guard lock(mutex_);
  waits_for_.clear(), since_ = Clock::now();
}

std::string Notes::position(bool leaving) const {
  const std::lock_guard lock(mutex_);
  Position now = own_;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f s", std::chrono::duration<double>(Clock::now() - since_).count());
  const std::string last = total_ ? cat("after its collective ", total_, ", ", last_) : "before its first collective";
  if (leaving)
    now.doing = last;
  else if ((now.compiles = compiling_ > 0 && waits_for_.empty()))
    now.doing = cat("compiles, ", last);
  else if (!waits_for_.empty())
    now.doing = cat("has waited for ", seconds, " in ", waits_for_);
  else
    now.doing = cat("has been in its own code for ", seconds, ", ", last);
  return now.text();
}

std::optional<Position> Notes::find(const Said& in, int64_t rank) const {
  const std::lock_guard lock(mutex_);
  const auto it = in.find(rank);
  return it == in.end() ? std::nullopt : std::optional<Position>(it->second);
}

// Where notes do not get through, there are none any more.
void Notes::send(int64_t rank, Kind kind, std::string_view text) {
  if (failed_) return;
  try {
    const std::string note = cat(group_->rank(), " ", static_cast<char>(kind), text);
    board_ ? board_->send(rank, note) : group_->send(rank, note);
  } catch (const Error&) {
    failed_ = true;
  }
}

std::optional<std::string> Notes::receive() {
  if (failed_) return std::nullopt;
  try {
    return board_ ? board_->receive() : group_->receive();
  } catch (const Error&) {
    failed_ = true;
    return std::nullopt;
  }
}

void Notes::ask(int64_t rank) {
  {
    const std::lock_guard lock(mutex_);
    answers_.erase(rank);
  }
  send(rank, asks, "");
}

void Notes::leave() {
  tell_failure();
  for (int64_t rank = 0; rank < group_->ranks(); rank++)
    if (rank != group_->rank()) send(rank, leaves, position(true));
}

void Notes::fail(std::string why, Counts abandoned) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(why), abandoned_ = std::move(abandoned);
}

void Notes::tell_failure() {
  Position now;
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) return;
    now = own_, now.doing = std::exchange(failure_, "");
    for (auto& [axis, count] : abandoned_) now.begun[axis] -= count;
  }
  for (int64_t rank = 0; rank < group_->ranks(); rank++)
    if (rank != group_->rank()) send(rank, fails, now.text());
}

void Notes::step() {
  tell_failure();
  while (const std::optional<std::string> note = receive()) {
    const size_t space = note->find(' ');
    int64_t from = -1;
    std::from_chars(note->data(), note->data() + space, from);
    const char kind = (*note)[space + 1];
    const std::string_view text = std::string_view(*note).substr(space + 2);
    if (kind == asks) send(from, is_here, position(false));
    const std::lock_guard lock(mutex_);
    if (kind == is_here) answers_[from] = Position::parse(text);
    if (kind == leaves) left_[from] = Position::parse(text);
    if (kind == fails) failed_ranks_[from] = Position::parse(text);
  }
}

}  // namespace thunder::scale
