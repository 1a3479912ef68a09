#include "scale/mpi/mpi.h"

#include <array>
#include <atomic>
#include <limits>
#include <list>
#include <optional>
#include <vector>

#include "base/text.h"
#include "scale/mpi/abi.h"
#include "scale/progress.h"

namespace thunder::scale {
namespace {

using mpi::Handle;

void check(const mpi::Library& library, int error, const char* function) {
  if (error == 0) return;
  char text[1024] = "";
  int length = 0;
  library.call.Error_string(error, text, &length);
  fail(Code::backend, "mpi: ", function, ": ", text);
}

class MpiGroup : public Group {
 public:
  // Takes the communicator over.
  MpiGroup(const mpi::Library& library, Handle communicator, bool carries_notes)
      : library_(library), communicator_(communicator), carries_notes_(carries_notes) {
    const auto& call = library_.call;
    check(library_, call.Comm_set_errhandler(communicator, library_.constants.errors_return),
          "MPI_Comm_set_errhandler");
    check(library_, call.Comm_rank(communicator, &rank_), "MPI_Comm_rank");
    check(library_, call.Comm_size(communicator, &ranks_), "MPI_Comm_size");
  }
  ~MpiGroup() override {
    int over = 0;
    if (library_.call.Finalized(&over) != 0 || over) return;
    if (note_) end_receive();
    library_.call.Comm_free(&communicator_);
  }
  int64_t rank() const override { return rank_; }
  int64_t ranks() const override { return ranks_; }

  bool sums_by_tree() const override { return true; }  // each library, and number of ranks, has an order of its own

  std::unique_ptr<Group> split(int64_t line, int64_t index, int64_t /*ranks*/) override {
    Handle part = 0;
    check(library_, library_.call.Comm_split(communicator_, static_cast<int>(line), static_cast<int>(index), &part),
          "MPI_Comm_split");
    return std::make_unique<MpiGroup>(library_, part, false);
  }

  uint64_t begin(const GroupCall& c) override {
    const Handle dtype = checked_type(c);
    const int count = static_cast<int>(c.count);
    const Handle op = library_.constants.reduction(c.reduction);
    const auto& call = library_.call;
    Handle request = 0;
    switch (c.what) {
      case Collective::all_reduce:
        check(library_, call.Iallreduce(c.in, c.out, count, dtype, op, communicator_, &request), "MPI_Iallreduce");
        break;
      case Collective::all_gather:
        check(library_, call.Iallgather(c.in, count, dtype, c.out, count, dtype, communicator_, &request),
              "MPI_Iallgather");
        break;
      case Collective::reduce_scatter:
        check(library_, call.Ireduce_scatter_block(c.in, c.out, count, dtype, op, communicator_, &request),
              "MPI_Ireduce_scatter_block");
        break;
      case Collective::broadcast:
        check(library_, call.Ibcast(c.out, count, dtype, c.root, communicator_, &request), "MPI_Ibcast");
        break;
      case Collective::all_to_all:
        check(library_, call.Ialltoall(c.in, count, dtype, c.out, count, dtype, communicator_, &request),
              "MPI_Ialltoall");
        break;
      case Collective::ppermute:
        begin_passing(c, dtype);
        return kTogether;
      case Collective::barrier:
        break;  // the ranks have met
    }
    return request;
  }

  // All of them: where one cannot begin, none has.
  size_t begin_together(std::span<const GroupCall> calls, uint64_t& request) override {
    if (calls.size() == 1) return Group::begin_together(calls, request);
    for (const GroupCall& c : calls) checked_type(c);
    for (const GroupCall& c : calls)
      if (const uint64_t one = begin(c); one != kTogether) together_.push_back(one);
    request = kTogether;
    return calls.size();
  }

  bool test(uint64_t& request) override {
    if (request == kTogether) {
      std::erase_if(together_, [&](uint64_t& one) { return test(one); });
      return together_.empty();
    }
    int done = 0;
    check(library_, library_.call.Test(&request, &done, library_.constants.status_ignore), "MPI_Test");
    return done != 0;
  }

  bool carries_notes() const override { return carries_notes_; }
  void send(int64_t rank, std::string_view note) override {
    Sent& sent = sent_.emplace_back();
    note.copy(sent.note.data(), sent.note.size() - 1);
    check(library_,
          library_.call.Isend(sent.note.data(), kNoteBytes, library_.constants.u8, static_cast<int>(rank), kNoteTag,
                              communicator_, &sent.request),
          "MPI_Isend");
  }

  std::optional<std::string> receive() override {
    std::erase_if(sent_, [&](Sent& sent) { return test(sent.request); });
    if (!note_) {
      check(library_,
            library_.call.Irecv(received_.data(), kNoteBytes, library_.constants.u8, library_.constants.any_source,
                                kNoteTag, communicator_, &note_),
            "MPI_Irecv");
    }
    if (!test(note_)) return std::nullopt;
    note_ = 0;
    return std::string(received_.data());
  }

 private:
  static constexpr int kNoteTag = 20, kDataTag = 21, kTests = 1000;
  static constexpr uint64_t kTogether = UINT64_MAX;  // no handle of any library: those in `together_`

  void begin_passing(const GroupCall& c, Handle dtype) {
    const int count = static_cast<int>(c.count);
    if (c.passing.from >= 0)
      check(library_,
            library_.call.Irecv(c.out, count, dtype, static_cast<int>(c.passing.from), kDataTag, communicator_,
                                &together_.emplace_back()),
            "MPI_Irecv");
    if (c.passing.to >= 0)
      check(library_,
            library_.call.Isend(c.in, count, dtype, static_cast<int>(c.passing.to), kDataTag, communicator_,
                                &together_.emplace_back()),
            "MPI_Isend");
  }

  // The buffer is the library's until then; MPI_Finalize of MPICH over UCX misses a receive that was only let go of.
  void end_receive() {
    int done = 0;
    library_.call.Cancel(&note_);
    for (int i = 0; i < kTests && !done; i++)
      if (library_.call.Test(&note_, &done, library_.constants.status_ignore) != 0) return;
    if (!done) library_.call.Request_free(&note_);
  }

  Handle checked_type(const GroupCall& c) const {
    const bool reduces = c.what == Collective::all_reduce || c.what == Collective::reduce_scatter;
    const Handle dtype = library_.constants.dtype(reduces ? c.dtype : type_of_bytes(size_of(c.dtype)));
    if (!dtype) fail(Code::unimplemented, "mpi: there is no reduction of ", thunder::name(c.dtype));
    if (c.count > std::numeric_limits<int>::max())
      fail(Code::unimplemented, "mpi: a collective of ", c.count, " elements; it takes at most ",
           std::numeric_limits<int>::max(), ": split the tensor");
    return dtype;
  }
  struct Sent {
    std::array<char, kNoteBytes> note{};
    Handle request = 0;
  };

  const mpi::Library& library_;
  Handle communicator_;
  int rank_ = 0, ranks_ = 1;
  const bool carries_notes_;
  std::vector<uint64_t> together_;  // requests of what was begun together
  std::list<Sent> sent_;
  std::array<char, kNoteBytes> received_{};
  Handle note_ = 0;  // the request of the next one; 0: none yet
};

class MpiEngine : public Engine {
 public:
  std::string name() const override { return "mpi"; }
  std::string description() const override { return cat(library_->version, ", ", library_->file); }
  void give_up() override { given_up_ = true; }

  std::unique_ptr<Group> open(const ProcessPlace& place, const JoinOptions& how) override {
    if (!library_) library_ = mpi::open_library(place.launcher);
    start();
    const Handle all = how.communicator ? static_cast<Handle>(how.communicator) : library_->constants.world;
    Handle own = 0;
    check(*library_, library_->call.Comm_dup(all, &own), "MPI_Comm_dup");
    // An MPI that the host ends, at a moment of its own, is called while ranks wait for a collective alone.
    auto group = std::make_unique<MpiGroup>(*library_, own, ours_);
    if (!how.communicator && !place.launcher.empty())
      require(group->ranks() == place.ranks && group->rank() == place.rank, "mpi: ", description(), " says rank ",
              group->rank(), " of ", group->ranks(), ", and the variables of ", place.launcher, " rank ", place.rank,
              " of ", place.ranks, ": start the processes by the mpirun of this library (THUNDER_MPI names another)");
    return group;
  }

 private:
  void start() {
    const auto& call = library_->call;
    int there = 0, over = 0, level = 0;
    check(*library_, call.Finalized(&over), "MPI_Finalized");
    if (over) fail(Code::failed_precondition, "mpi: MPI_Finalize was called; MPI cannot be started twice");
    check(*library_, call.Initialized(&there), "MPI_Initialized");
    if (!there) {
      check(*library_, call.Init_thread(nullptr, nullptr, library_->constants.thread_multiple, &level),
            "MPI_Init_thread");
      ours_ = true;
      Progress::get().at_exit([this] { finish(); });
      return;
    }
    if (ours_) return;
    check(*library_, call.Query_thread(&level), "MPI_Query_thread");
    if (level < library_->constants.thread_multiple)
      fail(Code::failed_precondition,
           "mpi: this process started MPI without MPI_THREAD_MULTIPLE, and collectives are run "
           "by a thread of the library: start it by MPI_Init_thread with MPI_THREAD_MULTIPLE, or not at all");
  }

  // MPI_Finalize waits for all ranks.
  void finish() {
    int over = 0;
    if (!given_up_ && library_->call.Finalized(&over) == 0 && !over) library_->call.Finalize();
  }

  std::optional<mpi::Library> library_;
  bool ours_ = false;  // it was started here
  std::atomic<bool> given_up_{false};
};

}  // namespace

std::shared_ptr<Engine> mpi_engine() {
  static auto* const engine = new std::shared_ptr<Engine>(std::make_shared<MpiEngine>());
  return *engine;
}

}  // namespace thunder::scale
