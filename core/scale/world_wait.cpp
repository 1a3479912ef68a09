// How a world waits for what ranks do together, and what it says of those that do not come.
#include <thread>

#include "base/text.h"
#include "scale/collective.h"
#include "scale/world.h"

namespace thunder::scale {
namespace {

constexpr std::chrono::milliseconds kLook{20};  // apart, at who left
constexpr std::chrono::seconds kAnswerTime{1}, kAbortTime{1};

Ref<Status> in_vain(const Started& one, const std::string& left) {
  const AxisGroup& on = *one.on;
  return make<Status>(kUnavailable, cat(one.text, " over axis '", on.axis, "': rank ", on.index, " of ", on.size,
                                        " waits in vain: ", left));
}

}  // namespace

void keep_for_ever(std::shared_ptr<void> what) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(what));
}

// Asks the ranks of the axis where they are, and waits a little for their answers.
void World::ask_where(const AxisGroup& on) const {
  const bool can_ask = notes_->carries();
  const auto ask = [this, &on] {
    for (const int64_t rank : on.members)
      if (rank != place_.rank) notes_->ask(rank);
  };
  Progress::get().run(notes_.get(), ask, Clock::now() + kAnswerTime);  // not behind the collective that is waited for
  std::vector<int64_t> silent;
  for (const auto end = Clock::now() + kAnswerTime; can_ask && Clock::now() < end; std::this_thread::sleep_for(kLook)) {
    silent.clear();
    for (const int64_t rank : on.members)
      if (rank != place_.rank && !notes_->answer(rank)) silent.push_back(rank);
    if (silent.empty()) break;
  }
}

// Until when it is worth to wait longer, by what the ranks answered: one that compiles is not late, and what all have
// begun just now, once, is not over yet.
Clock::time_point World::later(const AxisGroup& on, uint64_t number, bool& once) const {
  bool all = true;
  for (const int64_t rank : on.members) {
    if (rank == place_.rank) continue;
    const auto answer = notes_->answer(rank);
    if (answer && answer->begun_on(on.axis) >= number) continue;
    if (answer && answer->compiles) return deadline();
    all = false;
  }
  return all && !std::exchange(once, true) ? Clock::now() + kAnswerTime : Clock::now();
}

// "rank 1, which has been in its own code for 3.0 s, after 12 collectives, the last: ...": those that did not begin the
// collective, by what they answered.
std::string World::describe_absent(const AxisGroup& on, uint64_t number) const {
  const bool can_ask = notes_->carries();
  const std::string absence = can_ask ? "does not answer: it is stopped, or dead" : "cannot be asked where it is";
  std::string text;
  for (size_t i = 0; i < on.members.size(); i++) {
    if (on.members[i] == place_.rank) continue;
    const auto answer = notes_->answer(on.members[i]);
    if (answer && answer->begun_on(on.axis) >= number) continue;
    text += cat(text.empty() ? "" : "; ", "rank ", i, ", which ", answer ? answer->doing : absence);
  }
  return text.empty() ? "others, which have begun it" : text;
}

// Who gave up, or left, without having begun the collective of this number; "": nobody.
std::string World::find_left(const AxisGroup& on, uint64_t number) const {
  for (size_t i = 0; i < on.members.size(); i++)
    if (const auto gone = notes_->failed(on.members[i]); gone && gone->begun_on(on.axis) < number)
      return cat("rank ", i, " gave up: ", gone->doing);
  for (size_t i = 0; i < on.members.size(); i++)
    if (const auto left = notes_->left(on.members[i]); left && left->begun_on(on.axis) < number)
      return cat("rank ", i, " left ", left->doing);
  return "";
}

// Whose process ended, where that can be seen; "": nobody's. What it had begun may still be over, until it is looked at
// again.
std::string World::find_ended(const AxisGroup& on) const {
  for (size_t i = 0; on.line && i < on.members.size(); i++) {
    const BoardLine& line = *on.line;
    if (line.board->lives(on.members[i])) continue;
    const uint64_t last = line.board->reached(line.line, on.members[i]);
    if (last == 0) return cat("rank ", i, " ended before its first collective");
    return cat("rank ", i, " ended, after its collective ", last, " over this axis, ",
               line.board->text(line.line, on.members[i], last));
  }
  return "";
}

// False: the ranks are not here in time, or one of them left: `left` says so.
bool World::await(const Started& one, Until until, std::string& left) {
  const auto looks = [&](Clock::time_point till) {
    if (until == Until::begun) return one.task->run_until(till);
    return until == Until::done ? one.task->wait_for_result(till) : one.task->wait_until(till);
  };
  Clock::time_point end = deadline();
  bool extended = false;
  std::optional<InterruptCheck> interrupts;
  if (interrupts_) interrupts.emplace(*interrupts_);
  while (left.empty() && Clock::now() < end) {
    if (looks(std::min(end, Clock::now() + kLook))) return true;
    if (interrupts) interrupts->throw_if_interrupted();
    left = find_left(*one.on, one.number);
    if (left.empty() && !(left = find_ended(*one.on)).empty() && looks(Clock::now() + kLook)) return true;
    if (!left.empty() || Clock::now() < end) continue;
    ask_where(*one.on);
    end = later(*one.on, one.number, extended);
  }
  return false;
}

std::string World::absence_of(const Started& one) const {
  const AxisGroup& on = *one.on;
  return cat(one.text, " over axis '", on.axis, "': rank ", on.index, " of ", on.size, " waited ", timeout_.load(),
             " seconds for ", describe_absent(on, one.number));
}

// The same; where it does not come to that, the ranks are given up.
void World::finish(const Started& one, Until until) {
  notes_->wait(one.on->axis, one.text);
  std::string left;
  Ref<Status> why;
  try {
    if (await(one, until, left)) return notes_->end();
    why = left.empty() ? make<Status>(kDeadlineExceeded, absence_of(one)) : in_vain(one, left);
  } catch (const Error& e) {
    why = e.status();
  }
  notes_->end();
  if (why->code() != Code::invalid_argument) {
    give_up(why);
  } else {  // all ranks know, and can go on
    const std::lock_guard lock(mutex_);
    refused_ = why->message();
  }
  throw Error(why);
}

void LookAfter::step() {
  const std::lock_guard lock(mutex_);
  if (world_) world_->look_after();
}

void World::ask_once(const Started& one) {
  for (const int64_t rank : one.on->members)
    if (rank != place_.rank) notes_->ask(rank);
  const std::lock_guard lock(mutex_);
  for (Started& s : on_device_)
    if (s.task == one.task) s.asked = true;
}

// Of what was begun on the device: whether it is over, whether a rank that it needs has ended or takes too long. Then
// its memory has no result: whoever waits for the device is told.
void World::look_after() {
  std::vector<Started> now;
  {
    const std::lock_guard lock(mutex_);
    now.assign(on_device_.begin(), on_device_.end());
  }
  for (const Started& one : now) {
    Ref<Status> why;
    try {
      if (one.task->wait_for_result(Clock::now())) {
        forget(one);
        continue;
      }
      const std::chrono::duration<double> waited = Clock::now() - one.since;
      if (std::string left = find_left(*one.on, one.number); !left.empty() || !(left = find_ended(*one.on)).empty())
        why = waited > kAnswerTime ? in_vain(one, left) : nullptr;
      else if (waited.count() > timeout_ && !one.asked)
        ask_once(one);
      else if (waited > std::chrono::duration<double>(timeout_) + kAnswerTime)
        why = make<Status>(kDeadlineExceeded, absence_of(one));
    } catch (const Error& e) {
      why = e.status();
    }
    if (!why) continue;
    one.task->fail_device(why);
    return give_up(why, true);
  }
}

void World::give_up(Ref<Status> why, bool here) {
  std::vector<std::shared_ptr<Group>> groups;
  std::deque<Started> left;  // to the device
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return;
    broken_ = std::move(why);
    Notes::Counts abandoned;
    for (const auto* these : {&started_, &on_device_})
      for (const Started& one : *these) {
        abandoned[one.on->axis]++;
        one.task->abandon();
        keep_for_ever(one.task);
      }
    started_.clear();
    left.swap(on_device_);
    gathered_.reset();
    notes_->fail(broken_->message(), std::move(abandoned));
    for (auto& [axis, on] : groups_)
      if (on.group) groups.push_back(on.group);
  }
  engine_->give_up();
  const auto abort = [groups = std::move(groups)] {
    for (auto& group : groups) group->abort();
  };
  try {
    here ? abort() : static_cast<void>(Progress::get().run(this, abort, Clock::now() + kAbortTime));
  } catch (const Error&) {  // it is broken, and why is known
  }
  for (const Started& one : left) one.task->leave_to_device(false);
  Progress::get().give_up();
}

void World::give_up_after(const Status& failed) {
  bool goes_on = true;
  {
    const std::lock_guard lock(mutex_);
    const bool refused = !refused_.empty() && failed.message().find(refused_) != std::string::npos;
    goes_on = !engine_ || place_.ranks == 1 || refused;
  }
  if (goes_on) return end_all();
  give_up(make<Status>(failed.code(), cat("this rank stopped in a program with collectives: ", failed.message())));
}

}  // namespace thunder::scale
