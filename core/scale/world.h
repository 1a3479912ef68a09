// The world that a context is in: its ranks, their axes, and the collectives that they wait for together.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>

#include "base/interrupts.h"
#include "scale/axes.h"
#include "scale/board.h"
#include "scale/engine.h"
#include "scale/events.h"
#include "scale/notes.h"
#include "scale/progress.h"
#include "tensor/tensor.h"

namespace thunder::scale {

struct WorldOptions {
  double timeout = 120;  // seconds that a collective waits for the other ranks
  JoinOptions join = {};
  const Interrupts* interrupts = nullptr;  // of the host, which may stop what waits; null: it cannot
};

// The ranks of an axis that this one is among.
struct AxisGroup {
  std::string axis;
  int64_t size = 1, index = 0;
  std::shared_ptr<Group> group = nullptr;  // null: one rank
  std::vector<int64_t> members = {};       // their ranks in the world; empty: one rank
  std::shared_ptr<const BoardLine> line = nullptr;  // null: they have no board
};

class CollectiveTask;
struct StartedTogether;

// What was started, one collective or several together, until it is known to be over.
struct Started {
  const AxisGroup* on = nullptr;
  std::string text = {};
  std::shared_ptr<CollectiveTask> task = nullptr;
  uint64_t number = 0;           // of those of the axis
  std::vector<void*> outs = {};  // those that were not waited for; none: all were, on the device, or it gives nothing
  Clock::time_point since = {};  // of those that the device waits for
  bool asked = false;            // ranks were asked where they are
};

// Looks after what a world has begun and nobody waits for, while the world is there.
class World;
class LookAfter : public Watch {
 public:
  explicit LookAfter(World* world) : world_(world) {}
  void step() override;
  void leave() override {}
  void end() {
    const std::lock_guard lock(mutex_);
    world_ = nullptr;
  }

 private:
  std::mutex mutex_;
  World* world_;
};

// What an engine still writes to, and groups whose ranks are in no order any more.
void keep_for_ever(std::shared_ptr<void> what);

class World : public RankAxes {
 public:
  // Joins the ranks of `place`. The engine may be null where there is one. Throws what Engine::open throws, and
  // deadline_exceeded where that takes longer than the timeout.
  World(std::shared_ptr<Engine> engine, ProcessPlace place, const WorldOptions& options);
  ~World() override;
  World(const World&) = delete;

  const ProcessPlace& place() const { return place_; }
  // Adds the axes of a mesh, "data=2,tensor=-1". All ranks call it with the same text. Axes that are there stay; throws
  // failed_precondition where one of them is of another mesh.
  void add_axes(std::string_view text);
  // Writes the tensor of one rank of the axis into those of the others. Requires: it is concrete.
  void broadcast(std::string_view axis, Tensor& t, int64_t root);
  void set_timeout(double seconds);
  // Returns when all ranks of the axis have called it.
  void barrier(std::string_view axis);
  // "rank 1 of 2, by Open MPI's variables; mpi: Open MPI 4.1.4, /usr/lib/libmpi.so.40; data=2".
  std::string description() const;

  int64_t size(std::string_view axis) override { return find(axis).size; }
  int64_t index(std::string_view axis) override { return find(axis).index; }
  Device device() const override;
  Status* start(const CollectiveCall& call) override;
  Status* wait(const void* out, bool done) override;
  bool broken() const override;
  void compiles(bool begins) override;
  void give_up_after(const Status& failed) override;

 private:
  friend class LookAfter;

  const AxisGroup& find(std::string_view axis) const;
  std::vector<Axis> parse(std::string_view text) const;
  void open(const JoinOptions& how);
  std::shared_ptr<Group> made(const std::string& what, std::function<std::unique_ptr<Group>()> make);
  void open_board(AxisGroup& all);
  void give_line(AxisGroup& on);
  AxisGroup split(const std::vector<Axis>& axes, size_t which);
  Clock::time_point deadline() const;
  // `here`: by the thread that drives engines.
  void give_up(Ref<Status> why, bool here = false);
  void look_after();
  void ask_once(const Started& one);
  std::string absence_of(const Started& one) const;
  void forget(const Started& one);
  void check_unbroken() const;
  void begin(const AxisGroup& on, const std::string& text, const CollectiveCall* call);
  void begin_gathered();
  void meet(const AxisGroup& on, const std::string& text);
  // Until when a wait lasts: all ranks have begun it, its result is there for the device or for the host.
  enum class Until : uint8_t { begun, result, done };
  bool await(const Started& one, Until until, std::string& left);
  void finish(const Started& one, Until until);
  Status* end(std::span<const Started> these, const void* out, bool done);
  Status* end_last();
  void end_all() noexcept;
  void ask_where(const AxisGroup& on) const;
  Clock::time_point later(const AxisGroup& on, uint64_t number, bool& once) const;
  std::string describe_absent(const AxisGroup& on, uint64_t number) const;
  std::string find_left(const AxisGroup& on, uint64_t number) const;
  std::string find_ended(const AxisGroup& on) const;

  const std::shared_ptr<Engine> engine_;
  ProcessPlace place_;
  std::shared_ptr<Notes> notes_;  // null: one rank
  std::shared_ptr<LookAfter> looks_;
  const std::shared_ptr<Events> events_ = std::make_shared<Events>();
  std::shared_ptr<Board> board_;  // null: the ranks are on several machines, or their engine has another way to agree
  size_t lines_ = 0;              // of the board that axes have
  std::atomic<double> timeout_;
  const Interrupts* const interrupts_;
  std::mutex turn_;           // of what begins a collective
  mutable std::mutex mutex_;  // of what follows
  std::map<std::string, AxisGroup, std::less<>> groups_;
  std::vector<std::vector<Axis>> meshes_;
  std::deque<Started> started_;
  std::deque<Started> on_device_;   // for which the device waits, and the host does not
  std::optional<Started> gathered_;  // what begins with the next collective
  std::shared_ptr<StartedTogether> together_;  // what is in `started_`
  Ref<Status> broken_;  // why nothing more can be run
  std::string refused_;  // what the ranks were told last when they disagreed, and could go on
};

}  // namespace thunder::scale
