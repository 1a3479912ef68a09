#include "scale/nccl/group.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "base/text.h"
#include "scale/progress.h"

namespace thunder::scale::nccl {
namespace {

// For the end of what a communicator still does when it is closed, or of its kernels when it is aborted.
constexpr std::chrono::seconds kEndTime{1};
constexpr std::chrono::milliseconds kLook{1};

void check(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

template <class F>
bool comes_true(F&& f) {
  for (const auto end = Clock::now() + kEndTime; !f(); std::this_thread::sleep_for(kLook))
    if (Clock::now() > end) return false;
  return true;
}

size_t bytes_in(const GroupCall& c, int64_t ranks) {
  const size_t bytes = static_cast<size_t>(c.count) * size_of(c.dtype);
  const bool of_each = c.what == Collective::reduce_scatter || c.what == Collective::all_to_all;
  return of_each ? bytes * static_cast<size_t>(ranks) : bytes;
}
size_t bytes_out(const GroupCall& c, int64_t ranks) {
  const size_t bytes = static_cast<size_t>(c.count) * size_of(c.dtype);
  if (c.what == Collective::ppermute && c.passing.from < 0) return 0;
  const bool of_each = c.what == Collective::all_gather || c.what == Collective::all_to_all;
  return of_each ? bytes * static_cast<size_t>(ranks) : bytes;
}

}  // namespace

NcclGroup::NcclGroup(const Library& library, Ref<nvidia::CudaDevice> device, int64_t rank, int64_t ranks,
                     std::unique_ptr<Rendezvous> rendezvous)
    : library_(library),
      device_(std::move(device)),
      rank_(rank),
      ranks_(ranks),
      rendezvous_(std::move(rendezvous)),
      state_(State::meets),
      has_root_(true),
      done_(*device_, false) {
  open_stream();
}

NcclGroup::NcclGroup(const Library& library, Ref<nvidia::CudaDevice> device, int64_t rank, int64_t ranks, Comm parent,
                     int64_t line, bool splits)
    : library_(library),
      device_(std::move(device)),
      rank_(rank),
      ranks_(ranks),
      parent_(parent),
      state_(State::opens),
      has_root_(splits),
      done_(*device_, false) {
  open_stream();
  split_from(parent_, line, !has_root_, has_root_ ? &root_ : &comm_);
}

void NcclGroup::split_from(Comm parent, int64_t line, bool blocks, Comm* out) {
  Config config;
  config.blocking = blocks;
  library_.check(library_.split(parent, static_cast<int>(line), static_cast<int>(rank_), out, &config),
                 "ncclCommSplit", parent);
}

void NcclGroup::open_stream() {
  check(device_->enter());
  free_before_ = free_bytes();
  check(device_->status(device_->driver().stream_create(&stream_, nvidia::kNonBlockingStream), "cuStreamCreate"));
}

size_t NcclGroup::free_bytes() const {
  size_t free = 0, total = 0;
  check(device_->free_memory(free, total));
  return free;
}

// Whether what the library was asked for is no longer in progress. Throws what went wrong with it.
bool NcclGroup::is_settled() {
  for (const Comm comm : {parent_, root_, comm_}) {
    if (!comm) continue;
    int result = kSuccess;
    library_.check(library_.async_error(comm, &result), "ncclCommGetAsyncError", comm);
    if (library_.check(result, "ncclCommGetAsyncError", comm)) return false;
  }
  return root_ || comm_;
}

bool NcclGroup::ready() {
  if (state_ == State::is_open) return true;
  check(device_->enter());
  if (state_ == State::meets) {
    UniqueId id{};
    if (!rendezvous_->step(id)) return false;
    const Config config;
    library_.check(library_.init(&root_, static_cast<int>(ranks_), id, static_cast<int>(rank_), &config),
                   "ncclCommInitRankConfig", nullptr);
    rendezvous_->begun();
    state_ = State::opens;
  }
  if (!is_settled()) return false;
  if (!comm_ && state_ == State::opens) {
    if (rendezvous_) rendezvous_->end();
    state_ = State::splits;
    split_from(root_, 0, true, &comm_);
  }
  if (!comm_ || !is_settled()) return false;
  state_ = State::is_open;
  const size_t free = free_bytes();
  bytes_ = free < free_before_ ? free_before_ - free : 0;
  return true;
}

std::unique_ptr<Group> NcclGroup::split(int64_t line, int64_t index, int64_t ranks) {
  check_open();
  return std::make_unique<NcclGroup>(library_, device_, index, ranks, root_, line, false);
}

void NcclGroup::check_open() const {
  if (state_ != State::is_open) fail(Code::failed_precondition, "nccl: the communicator was given up");
  check(device_->enter());
}

void* NcclGroup::staged(Staged& in, size_t bytes) {
  if (in.bytes < bytes) in.memory = Storage::allocate(device_->allocator(), bytes), in.bytes = bytes;
  return in.memory ? in.memory->data() : nullptr;
}

uint64_t NcclGroup::begin(const GroupCall& c) {
  const std::lock_guard lock(mutex_);
  check_open();
  check_type(c);
  const void* in = c.in;
  void* out = c.out;
  if (!c.device) {
    const size_t bytes = bytes_in(c, ranks_);
    out = staged(out_, bytes_out(c, ranks_));
    in = c.what == Collective::broadcast ? out : staged(in_, bytes);
    const void* from = c.what == Collective::broadcast ? c.out : c.in;
    check(device_->status(
        device_->driver().copy_in(reinterpret_cast<nvidia::Pointer>(in), from, bytes, stream_), "cuMemcpyHtoDAsync"));
  } else {
    wait_for_operand(c);
  }
  call_ = c, recorded_ = false;
  launch(c, in, out);
  note({&c, 1});
  return 1;
}

// On the device they are one launch, and run at a time.
size_t NcclGroup::begin_together(std::span<const GroupCall> calls, uint64_t& request) {
  const auto here = [](const GroupCall& c) { return !c.device; };
  if (calls.size() == 1 || std::any_of(calls.begin(), calls.end(), here)) return Group::begin_together(calls, request);
  const std::lock_guard lock(mutex_);
  check_open();
  for (const GroupCall& c : calls) check_type(c);
  for (const GroupCall& c : calls) wait_for_operand(c);
  call_ = calls.back(), recorded_ = false, request = 1;
  launch_together(calls);
  note(calls);
  return calls.size();
}

namespace {

// NCCL chooses by these how ranks pass values, and connects them when it first does.
uint64_t way_of(const GroupCall& c) {
  const auto size = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(c.count) * size_of(c.dtype)));
  return (static_cast<uint64_t>(c.passing.to + 1) << 40) | (static_cast<uint64_t>(c.passing.from + 1) << 16) |
         (size << 8) | static_cast<uint64_t>(c.what);
}

}  // namespace

void NcclGroup::note(std::span<const GroupCall> calls) {
  for (const GroupCall& c : calls) begun_.insert(way_of(c));
}

// A call that connects ranks waits for them.
bool NcclGroup::begins_at_once(std::span<const GroupCall> calls) {
  const std::lock_guard lock(mutex_);
  return std::all_of(calls.begin(), calls.end(), [&](auto& c) { return begun_.count(way_of(c)) > 0; });
}

void NcclGroup::wait_for_operand(const GroupCall& c) {
  require(c.device == device_.get(), "nccl: the tensor is on ", thunder::name(c.device->id()),
          ", and this process drives ", thunder::name(device_->id()));
  check(c.after ? c.after->make_stream_wait(stream_) : device_->make_stream_wait(stream_));
}

bool NcclGroup::test(uint64_t& /*request*/) {
  const std::lock_guard lock(mutex_);
  check_open();
  if (!is_settled()) return false;
  if (call_.over) {
    check(call_.over->record(stream_));
    return true;
  }
  if (!recorded_) {
    check(done_.record(stream_));
    recorded_ = true;
  }
  bool reached = false;
  check(done_.query(reached));
  const size_t bytes = bytes_out(call_, ranks_);
  if (!reached || call_.device || bytes == 0) return reached;
  const auto from = reinterpret_cast<nvidia::Pointer>(out_.memory->data());
  check(device_->status(device_->driver().copy_out(call_.out, from, bytes, stream_),
                        "cuMemcpyDtoHAsync"));
  check(device_->status(device_->driver().stream_wait(stream_), "cuStreamSynchronize"));
  return true;
}

bool NcclGroup::is_idle() {
  bool done = false;
  check(device_->query(stream_, done));
  return done;
}

// Its kernels end without a result, and only then does anyone go on: they wrote to memory of others.
void NcclGroup::abort() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(state_, State::given_up) == State::given_up) return;
  check(device_->enter());
  for (Comm* const comm : {&comm_, &root_})
    if (Comm given_up = std::exchange(*comm, nullptr))
      library_.check(library_.abort(given_up), "ncclCommAbort", nullptr);
  comes_true([&] { return is_idle(); });
}

// Waits until what it began is done, as far as that takes no time: false where it is not. Throws.
bool NcclGroup::close(Comm& comm) {
  if (!comm) return true;
  if (!comes_true([&] { return is_idle(); })) return false;
  library_.check(library_.finalize(comm), "ncclCommFinalize", comm);
  if (!comes_true([&] { return is_settled(); })) return false;
  library_.check(library_.destroy(std::exchange(comm, nullptr)), "ncclCommDestroy", nullptr);
  return true;
}

NcclGroup::~NcclGroup() {
  const auto attempt = [](auto&& f) {
    try {
      f();
    } catch (const Error&) {  // it is lost, and what it holds of the device with it
    }
  };
  const auto close_both = [&] {
    check(device_->enter());
    if (close(comm_)) close(root_);
  };
  if (state_ == State::is_open) attempt(close_both);
  attempt([&] { abort(); });
  if (stream_) device_->driver().stream_destroy(stream_);
}

}  // namespace thunder::scale::nccl
