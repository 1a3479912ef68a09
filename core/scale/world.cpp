#include "scale/world.h"

#include "base/text.h"
#include "base/thrown.h"
#include "scale/collective.h"
#include "tensor/transfer.h"

namespace thunder::scale {
World::World(std::shared_ptr<Engine> engine, ProcessPlace place, const WorldOptions& options)
    : engine_(std::move(engine)), place_(std::move(place)), interrupts_(options.interrupts) {
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
  open_board(all);
  notes_ = std::make_shared<Notes>(all.group, board_);
  looks_ = std::make_shared<LookAfter>(this);
  Progress::get().run(this, [notes = notes_, looks = looks_] {
    Progress::get().add_watch(notes);
    Progress::get().add_watch(looks);
  });
  groups_.emplace(all.axis, all);
}

// Devices take a collective at once, so that what ranks do before it is what counts. On the CPU an engine moves the 8
// bytes by which they agree in the same time.
void World::open_board(AxisGroup& all) {
  if (all.group->device() == Device::cpu || all.size == 1) return;
  const auto task = std::make_shared<BoardTask>(all.group);
  Progress::get().add(this, task);
  if (!task->wait_until(deadline())) {
    engine_->give_up();
    Progress::get().give_up();
    fail(kDeadlineExceeded, "mesh: the ranks did not meet in ", timeout_.load(), " seconds on rank ", place_.rank,
         " of ", place_.ranks, ": did one of them end?");
  }
  board_ = task->board();
  give_line(all);
}

void World::give_line(AxisGroup& on) {
  if (board_ && on.group && lines_ < Board::kLines)
    on.line = std::make_shared<BoardLine>(BoardLine{board_, lines_++, on.members});
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
  if (engine_ && !broken()) end_all();
  if (looks_) looks_->end();
  std::vector<std::shared_ptr<Group>> groups;
  for (auto& [name, on] : groups_) groups.push_back(std::move(on.group));
  groups_.clear();
  if (!engine_) return;
  // Groups are given back where engines are driven; if that cannot be done any more, or in time, they stay.
  const auto held = std::make_shared<decltype(groups)>(std::move(groups));
  try {
    const auto leave = [held, notes = std::move(notes_), looks = std::move(looks_), broken = broken_ != nullptr] {
      notes->leave();
      Progress::get().remove_watch(notes.get());
      Progress::get().remove_watch(looks.get());
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
  give_line(part);
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
    meet(all, call);
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
  if (on.group) meet(on, "barrier");
}

void World::compiles(bool begins) {
  if (notes_) notes_->compiles(begins);
}

Device World::device() const {
  const auto& group = find(kWorldAxis).group;
  return group ? group->device() : Device::cpu;
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
