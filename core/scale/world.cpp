#include "scale/world.h"

#include <thread>

#include "base/text.h"
#include "base/thrown.h"
#include "scale/collective.h"
#include "tensor/transfer.h"

namespace thunder::scale {
namespace {

constexpr std::chrono::milliseconds kLook{20};  // apart, at who left
constexpr std::chrono::seconds kAnswerTime{1}, kAbortTime{1};

// What an engine still writes to stays for ever, and so do groups whose ranks are in no order any more.
void keep_for_ever(std::shared_ptr<void> what) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(what));
}

}  // namespace

World::World(std::shared_ptr<Engine> engine, ProcessPlace place, const WorldOptions& options)
    : engine_(std::move(engine)), place_(std::move(place)) {
  set_timeout(options.timeout);
  if (engine_)
    open(options.join);
  else
    groups_.emplace(kWorldAxis, AxisGroup{std::string(kWorldAxis)});
}

void World::open(const JoinOptions& how) {
  AxisGroup all{std::string(kWorldAxis)};
  all.group = made(cat("engine ", engine_->name(), " was not opened"),
                   [engine = engine_, at = place_, how] { return engine->open(at, how); });
  place_.rank = all.index = all.group->rank();
  place_.ranks = all.size = all.group->ranks();
  for (int64_t rank = 0; rank < all.size; rank++) all.members.push_back(rank);
  notes_ = std::make_shared<Notes>(all.group);
  Progress::get().run(this, [notes = notes_] { Progress::get().add_watch(notes); });
  groups_.emplace(all.axis, all);
}

// The group that `make` begins to open, once it can be used. `what` is said where that takes too long.
std::shared_ptr<Group> World::made(const std::string& what, std::function<std::unique_ptr<Group>()> make) {
  const auto task = std::make_shared<OpeningTask>(std::move(make));
  Progress::get().add(this, task);
  if (task->wait_until(deadline())) return task->group();
  task->abandon();
  engine_->give_up();
  Progress::get().give_up();
  fail(kDeadlineExceeded, "mesh: ", what, " in ", timeout_.load(), " seconds on rank ", place_.rank, " of ",
       place_.ranks, ": are all processes started?");
}

World::~World() {
  std::vector<std::shared_ptr<Group>> groups;
  for (auto& [name, on] : groups_) groups.push_back(std::move(on.group));
  groups_.clear();
  if (!engine_) return;
  // Groups are given back where engines are driven; if that cannot be done any more, or in time, they stay.
  const auto held = std::make_shared<decltype(groups)>(std::move(groups));
  try {
    const auto leave = [held, notes = std::move(notes_), broken = broken_ != nullptr] {
      notes->leave();
      Progress::get().remove_watch(notes.get());
      if (!broken) held->clear();
    };
    if (Progress::get().run(this, leave, deadline()) && !broken_) return;
  } catch (const Error&) {
  }
  keep_for_ever(held);
}

void World::set_timeout(double seconds) {
  require(seconds > 0, "mesh: timeout must be positive, got ", seconds, " seconds");
  timeout_ = std::min(seconds, 1e6);
}

Clock::time_point World::deadline() const {
  const std::chrono::duration<double> seconds(timeout_);
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
}

const AxisGroup& World::find(std::string_view axis) const {
  const std::lock_guard lock(mutex_);
  const auto it = groups_.find(axis);
  if (it != groups_.end()) return it->second;  // axes stay where they are
  std::vector<std::string_view> names;
  for (auto& [name, on] : groups_) names.push_back(name);
  fail(Code::not_found, "there is no axis '", axis, "'", suggest(axis, names),
       "; this context has: ", join(names, ", ", [](std::string_view n) { return n; }));
}

// "rank 1, which has been in its own code for 3.0 s, after 12 collectives, the last: ...": those that did not begin the
// collective, by what they answer.
std::string World::describe_absent(const AxisGroup& on, uint64_t number) const {
  const bool can_ask = find(kWorldAxis).group->carries_notes();
  const std::string absence = can_ask ? "does not answer: it is stopped, or dead" : "cannot be asked where it is";
  const auto ask = [this, &on] {
    for (const int64_t rank : on.members)
      if (rank != place_.rank) notes_->ask(rank);
  };
  Progress::get().run(this, ask, Clock::now() + kAnswerTime);
  std::vector<int64_t> silent;
  for (const auto end = Clock::now() + kAnswerTime; can_ask && Clock::now() < end; std::this_thread::sleep_for(kLook)) {
    silent.clear();
    for (const int64_t rank : on.members)
      if (rank != place_.rank && !notes_->answer(rank)) silent.push_back(rank);
    if (silent.empty()) break;
  }
  std::string text;
  for (size_t i = 0; i < on.members.size(); i++) {
    if (on.members[i] == place_.rank) continue;
    const auto answer = notes_->answer(on.members[i]);
    if (answer && answer->begun_on(on.axis) >= number) continue;
    text += cat(text.empty() ? "" : "; ", "rank ", i, ", which ", answer ? answer->doing : absence);
  }
  return text.empty() ? "others, which have begun it" : text;
}

// Who left without having begun the collective of this number; "": nobody.
std::string World::find_left(const AxisGroup& on, uint64_t number) const {
  for (size_t i = 0; i < on.members.size(); i++)
    if (const auto left = notes_->left(on.members[i]); left && left->begun_on(on.axis) < number)
      return cat("rank ", i, " left ", left->doing);
  return "";
}

// Waits for a task of the group, whose ranks are given up where it is not over in time.
void World::wait(const AxisGroup& on, const std::shared_ptr<CollectiveTask>& task, std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    if (broken_) fail(broken_->code(), "the ranks cannot communicate any more: ", broken_->message());
  }
  const uint64_t number = notes_->begin(on.axis, text);
  const Clock::time_point end = deadline();
  std::string left;
  Progress::get().add(this, task);
  try {
    while (left.empty() && Clock::now() < end) {
      if (task->wait_until(std::min(end, Clock::now() + kLook))) return notes_->end();
      left = find_left(on, number);
    }
  } catch (const Error& e) {
    notes_->end();
    if (e.code() == Code::invalid_argument) throw;  // all ranks know, and can go on
    give_up(e.status());
    throw;
  }
  task->abandon();
  keep_for_ever(task);
  const std::string call = cat(text, " over axis '", on.axis, "': rank ", on.index, " of ", on.size);
  const auto why = left.empty() ? make<Status>(kDeadlineExceeded, cat(call, " waited ", timeout_.load(),
                                                                      " seconds for ", describe_absent(on, number)))
                                : make<Status>(kUnavailable, cat(call, " waits in vain: ", left));
  notes_->end();
  give_up(why);
  throw Error(why);
}

void World::give_up(Ref<Status> why) {
  std::vector<std::shared_ptr<Group>> groups;
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return;
    broken_ = std::move(why);
    for (auto& [axis, on] : groups_)
      if (on.group) groups.push_back(on.group);
  }
  engine_->give_up();
  const auto abort = [groups = std::move(groups)] {
    for (auto& group : groups) group->abort();
  };
  try {
    Progress::get().run(this, abort, Clock::now() + kAbortTime);
  } catch (const Error&) {  // it is broken, and why is known
  }
  Progress::get().give_up();
}

AxisGroup World::split(const std::vector<Axis>& axes, size_t which) {
  const Axis& axis = axes[which];
  const PlaceOnAxis at = place_on_axis(axes, which, place_.rank);
  const AxisGroup& all = find(kWorldAxis);
  AxisGroup part{axis.name, axis.size, at.index};
  if (axis.size > 1) part.members.resize(static_cast<size_t>(axis.size));
  for (int64_t rank = 0; axis.size > 1 && rank < all.size; rank++)
    if (const PlaceOnAxis other = place_on_axis(axes, which, rank); other.line == at.line)
      part.members[static_cast<size_t>(other.index)] = rank;
  if (axis.size == all.size) {
    part.group = all.group;
  } else if (axis.size > 1) {
    part.group = made(cat("axis '", axis.name, "' was not made"), [group = all.group, at, ranks = axis.size] {
      return group->split(at.line, at.index, ranks);
    });
  }
  return part;
}

// The axes, or an error that says why the world has no more ranks.
std::vector<Axis> World::parse(std::string_view text) const {
  try {
    return parse_axes(text, place_.ranks);
  } catch (const Error& e) {
    if (place_.ranks > 1 || !place_.launcher.empty()) throw;
    fail(e.code(), e.message(), ": no launcher started this process; looked for ", launcher_variables());
  }
}

void World::add_axes(std::string_view text) {
  const std::vector<Axis> axes = parse(text);
  if (engine_) {
    const AxisGroup& all = find(kWorldAxis);
    const std::string call = cat("mesh ", axes_text(axes));
    wait(all, std::make_shared<CollectiveTask>(all.group, all.axis, call, nullptr), call);
  }
  {
    const std::lock_guard lock(mutex_);
    for (const std::vector<Axis>& there : meshes_)
      if (axes_text(there) == axes_text(axes)) return;
    for (const Axis& a : axes)
      if (groups_.count(a.name))
        fail(Code::failed_precondition, "mesh: axis '", a.name, "' of ", axes_text(axes),
             " is there already, of another mesh; an axis stays as it is while its context lives: take another name");
  }
  std::vector<AxisGroup> made;
  for (size_t i = 0; i < axes.size(); i++) made.push_back(split(axes, i));
  const std::lock_guard lock(mutex_);
  for (AxisGroup& on : made) groups_.emplace(on.axis, std::move(on));
  meshes_.push_back(axes);
}

void World::broadcast(std::string_view axis, Tensor& t, int64_t root) {
  const AxisGroup& on = find(axis);
  require(root >= 0 && root < on.size, "broadcast: root must be a rank of axis '", axis, "', from 0 to ", on.size - 1,
          ", got ", root);
  if (!on.group) return;
  TensorType type = t.type();
  type.device = Device::cpu;
  const Ref<Tensor> host = Tensor::empty(default_allocator(), type);
  copy_elements(t, *host);
  CollectiveCall call{Collective::broadcast, axis, on.size, RankReduction::sum, root, host->buffer(), host->buffer()};
  if (Status* failed = run(call)) throw Error(Ref<Status>::adopt(failed));
  copy_elements(*host, t);
  t.bump();
}

void World::barrier(std::string_view axis) {
  const AxisGroup& on = find(axis);
  if (on.group) wait(on, std::make_shared<CollectiveTask>(on.group, on.axis, "barrier", nullptr), "barrier");
}

Device World::device() const {
  const auto& group = find(kWorldAxis).group;
  return group ? group->device() : Device::cpu;
}

Status* World::run(const CollectiveCall& call) {
  return catch_as_status([&]() -> Status* {
    const AxisGroup& on = find(call.axis);
    if (!on.group) {
      if (call.device) return copy_on_device(*call.device, call.in, call.out);
      copy_strided(call.in, call.out);
      return nullptr;
    }
    const std::string text = collective_text(call);
    const auto task = std::make_shared<CollectiveTask>(on.group, on.axis, text, &call);
    wait(on, task, text);
    task->store(call.out);
    return nullptr;
  });
}

std::string World::description() const {
  std::string text = cat("rank ", place_.rank, " of ", place_.ranks);
  if (!place_.launcher.empty()) text += cat(", by the variables of ", place_.launcher);
  if (engine_) text += cat("; ", engine_->name(), ": ", engine_->description());
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  const Group* const all = groups_.find(kWorldAxis)->second.group.get();
  for (auto& [name, on] : groups_)
    if (on.group && (on.group.get() != all || name == kWorldAxis)) bytes += on.group->device_bytes();
  if (bytes) text += cat(", which took ", bytes >> 20, " MiB of ", name(all->device()));
  for (const std::vector<Axis>& mesh : meshes_) text += cat("; ", axes_text(mesh));
  return text;
}

}  // namespace thunder::scale
