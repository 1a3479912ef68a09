// The collectives that a world starts, and what waits for them.
#include <algorithm>

#include "base/thrown.h"
#include "scale/collective.h"
#include "scale/world.h"
#include "tensor/transfer.h"

namespace thunder::scale {

void World::check_unbroken() const {
  if (broken_) fail(broken_->code(), "the ranks cannot communicate any more: ", broken_->message());
}

void World::begin(const AxisGroup& on, std::string text, const CollectiveCall* call) {
  const std::lock_guard lock(mutex_);
  check_unbroken();
  if (started_.empty()) together_ = std::make_shared<StartedTogether>();
  const auto task = std::make_shared<CollectiveTask>(on.group, on.axis, text, call, together_);
  const uint64_t number = notes_->begin(on.axis, text);
  started_.push_back({&on, std::move(text), task, number, call ? call->out.data : nullptr});
  Progress::get().add(this, task);
}

void World::meet(const AxisGroup& on, const std::string& text) {
  begin(on, text, nullptr);
  if (Status* failed = end_last()) throw Error(Ref<Status>::adopt(failed));
}

Status* World::start(const CollectiveCall& call) {
  return catch_as_status([&]() -> Status* {
    const AxisGroup& on = find(call.axis);
    if (on.group) {
      begin(on, collective_text(call), &call);
      return call.out.elements() ? nullptr : end_last();  // what has no elements has no memory to know it by
    }
    if (call.device) return copy_on_device(*call.device, call.in, call.out);
    copy_strided(call.in, call.out);
    return nullptr;
  });
}

Status* World::wait(const void* out, bool done) {
  return catch_as_status([&]() -> Status* {
    std::vector<Started> all;
    {
      const std::lock_guard lock(mutex_);
      check_unbroken();
      for (const Started& one : started_)
        if (one.out ? one.out == out : done) all.push_back(one);
    }
    return end(all, done);
  });
}

Status* World::end_last() {
  Started last;
  {
    const std::lock_guard lock(mutex_);
    last = started_.back();
  }
  return end({&last, 1}, true);
}

// Null, or an owned status: then nothing that was started goes on.
Status* World::end(std::span<const Started> these, bool done) {
  Status* const failed = catch_as_status([&]() -> Status* {
    for (const Started& one : these) {
      finish(one, done);
      const bool over = done || !one.task->on_device();
      if (over)
        one.task->store(one.out);
      else
        one.task->order_device();
      const std::lock_guard lock(mutex_);
      const auto it = std::find_if(started_.begin(), started_.end(), [&](auto& s) { return s.task == one.task; });
      if (it == started_.end()) continue;  // they were given up by another thread, which a later wait tells
      if (over)
        started_.erase(it);
      else
        it->out = nullptr;
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
      if (started_.empty()) return;
      one = started_.front();
    }
    if (Status* failed = catch_as_status([&]() -> Status* { return finish(one, true), nullptr; })) failed->release();
    const std::lock_guard lock(mutex_);
    std::erase_if(started_, [&](auto& s) { return s.task == one.task; });
  }
}

}  // namespace thunder::scale
