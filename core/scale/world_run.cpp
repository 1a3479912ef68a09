// The collectives that a world starts, and what waits for them.
#include <algorithm>
#include <cstring>

#include "base/thrown.h"
#include "scale/collective.h"
#include "scale/world.h"
#include "tensor/transfer.h"

namespace thunder::scale {

void World::check_unbroken() const {
  if (broken_) fail(broken_->code(), "the ranks cannot communicate any more: ", broken_->message());
}

bool World::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_ != nullptr;
}

void World::begin(const AxisGroup& on, const std::string& text, const CollectiveCall* call) {
  const std::lock_guard turn(turn_);
  const bool has_result = call && call->out.elements();  // what has no elements has no memory to know it by
  const auto ends_gathered = [&] {
    const std::lock_guard lock(mutex_);
    check_unbroken();
    return gathered_ && (gathered_->on != &on || !has_result);
  };
  if (ends_gathered()) begin_gathered();
  {
    const std::lock_guard lock(mutex_);
    if (started_.empty() && !gathered_) together_ = std::make_shared<StartedTogether>();
    if (!gathered_)
      gathered_ = Started{&on, "", std::make_shared<CollectiveTask>(on.group, on.axis, together_, on.line, events_)};
    gathered_->task->add(text, call);
    if (has_result) gathered_->outs.push_back(call->out.data);
  }
  if (!has_result || !call->more) begin_gathered();
}

// What is on a device begins when all ranks have come, and this thread stays until then: it asks the engine itself.
// Requires: it is this thread's turn.
void World::begin_gathered() {
  Started one;
  {
    const std::lock_guard lock(mutex_);
    if (!gathered_) return;
    one = std::move(*gathered_);
    gathered_.reset();
    one.text = one.task->text();
    one.number = notes_->begin(one.on->axis, one.text);
    started_.push_back(one);
  }
  if (!one.task->may_run_here() || !Progress::get().is_idle(this)) return Progress::get().add(this, one.task);
  try {
    finish(one, Until::begun);
  } catch (const Error&) {
    forget(one);
    throw;
  }
}

void World::forget(const Started& one) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](auto& s) { return s.task == one.task; };
  std::erase_if(started_, is_it);
  if (std::erase_if(on_device_, is_it)) one.task->leave_to_device(false);
}

void World::meet(const AxisGroup& on, const std::string& text) {
  begin(on, text, nullptr);
  if (Status* failed = end_last()) throw Error(Ref<Status>::adopt(failed));
}

namespace {

Status* copied(const CollectiveCall& call) {
  if (call.device) return copy_on_device(*call.device, call.in, call.out);
  copy_strided(call.in, call.out);
  return nullptr;
}
// What no engine writes of a result: a barrier's, and on a device those of a ppermute to whom nobody sends.
Status* with_own_part(const CollectiveCall& call, const AxisGroup& on) {
  if (call.what == Collective::barrier) return copied(call);
  if (call.what != Collective::ppermute || !call.device || passing_of(call, on.index).from >= 0) return nullptr;
  return call.device->fill_with_zeros(call.out.data, bytes_of(call.out));
}

}  // namespace

Status* World::start(const CollectiveCall& call) {
  return catch_as_status([&]() -> Status* {
    const AxisGroup& on = find(call.axis);
    if (on.group) {
      if (Status* failed = with_own_part(call, on)) return failed;
      begin(on, collective_text(call), &call);
      return call.out.elements() ? nullptr : end_last();
    }
    if (call.what != Collective::ppermute || passing_of(call, 0).from == 0) return copied(call);
    if (call.device) return call.device->fill_with_zeros(call.out.data, bytes_of(call.out));
    std::memset(call.out.data, 0, bytes_of(call.out));
    return nullptr;
  });
}

Status* World::wait(const void* out, bool done) {
  return catch_as_status([&]() -> Status* {
    std::vector<Started> all;
    {
      const std::lock_guard turn(turn_);
      begin_gathered();
    }
    {
      const std::lock_guard lock(mutex_);
      check_unbroken();
      if (done) all.assign(on_device_.begin(), on_device_.end());
      for (const Started& one : started_)
        if (one.outs.empty() ? done : std::find(one.outs.begin(), one.outs.end(), out) != one.outs.end())
          all.push_back(one);
    }
    return end(all, out, done);
  });
}

Status* World::end_last() {
  Started last;
  {
    const std::lock_guard lock(mutex_);
    last = started_.back();
  }
  return end({&last, 1}, nullptr, true);
}

// Null, or an owned status: then nothing that was started goes on.
Status* World::end(std::span<const Started> these, const void* out, bool done) {
  Status* const failed = catch_as_status([&]() -> Status* {
    for (const Started& one : these) {
      finish(one, done ? Until::done : Until::result);
      const bool over = done || !one.task->on_device();
      if (over)
        one.task->store(out);
      else
        one.task->order_device();
      if (done && one.outs.empty()) forget(one);
      const std::lock_guard lock(mutex_);
      const auto it = std::find_if(started_.begin(), started_.end(), [&](auto& s) { return s.task == one.task; });
      if (it == started_.end()) continue;  // they were given up by another thread, which a later wait tells
      std::erase(it->outs, out);
      if (!it->outs.empty()) continue;
      it->since = Clock::now();
      if (!over) one.task->leave_to_device(true), on_device_.push_back(std::move(*it));
      started_.erase(it);
    }
    return nullptr;
  });
  if (failed) end_all();
  return failed;
}

// Waits for all that was started: before that its memory is nobody else's.
void World::end_all() noexcept {
  while (true) {
    Started one;
    {
      const std::lock_guard lock(mutex_);
      gathered_.reset();  // ranks leave out the same
      if (started_.empty() && on_device_.empty()) return;
      one = on_device_.empty() ? started_.front() : on_device_.front();
    }
    const auto ends = [&]() -> Status* { return finish(one, Until::done), nullptr; };
    if (Status* failed = catch_as_status(ends)) failed->release();
    forget(one);
  }
}

}  // namespace thunder::scale
