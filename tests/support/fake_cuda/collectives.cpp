// A stand-in for NCCL, whose ranks are processes or threads with the stand-in for the driver. Collectives run on the streams of
// that: each waits there until all ranks have brought their operands.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "collectives.h"
#include "control.h"

using fake_nccl::Board;
using fake_nccl::Call;
using fake_nccl::Kind;

namespace {

enum Result { kSuccess = 0, kSystemError = 2, kInvalidArgument = 4, kInvalidUsage = 5, kInProgress = 7 };

struct State {
  std::mutex mutex;
  std::string complaints;
  std::atomic<int64_t> late{1}, communicators{0}, launches{0};
  std::atomic<int32_t> never{0};
};
State& state() {
  static State* const s = [] {
    auto* made = new State;
    if (const char* late = std::getenv("THUNDER_FAKE_NCCL_LATE")) made->late = std::atoll(late);
    return made;
  }();
  return *s;
}

// Shared by what is on streams and graphs, which may outlive the handle.
struct Communicator {
  std::string name;
  int rank = 0, ranks = 0;
  Board* board = nullptr;
  Communicator* parent = nullptr;  // while it is split
  int color = 0, key = 0;
  uint64_t split_number = 0, splits = 0, executed = 0;
  std::atomic<int64_t> questions{0}, captured{0};
  std::atomic<bool> aborted{false}, launch_never{false}, complained{false};
  int stage = FAKE_NCCL_INIT;
  bool is_open = false, finalized = false, blocking = false;

  Communicator() { state().communicators++; }
  ~Communicator() {
    if (board) Board::detach(board, ranks);
    state().communicators--;
  }
  void complain(const std::string& what) {
    if (complained.exchange(true)) return;
    const std::string line = "fake_nccl: rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ": " + what + "\n";
    const std::lock_guard lock(state().mutex);
    state().complaints += line;
    std::fputs(line.c_str(), stderr);
  }
  void asked_for(int what) { stage = what, questions = blocking ? 0 : state().late.load(); }
  // A collective; what it is on its way as.
  int launch() {
    asked_for(FAKE_NCCL_LAUNCH), state().launches++;
    return blocking && state().never != FAKE_NCCL_LAUNCH ? kSuccess : kInProgress;
  }
  bool open();
};

// Goes on with what ranks do together to open it, as far as that is possible now.
bool Communicator::open() {
  if (is_open) return true;
  if (parent) {
    int found = 0, place = 0;
    for (int r = 0; r < parent->ranks; r++) {
      Board::Rank& other = parent->board->rank[r];
      if (other.splits < split_number) return false;
      const size_t at = split_number - 1;
      if (other.color[at] != color) continue;
      found++;
      place += other.key[at] < key || (other.key[at] == key && r < parent->rank);
    }
    rank = place, ranks = found, parent = nullptr;
  }
  if (!board) board = Board::attach(name, ranks);
  is_open = board && board->attached >= ranks;
  return is_open;
}

struct Handle {
  std::shared_ptr<Communicator> of = std::make_shared<Communicator>();
};

uint64_t digest(const void* data, size_t bytes) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  return hash;
}

// A collective on a stream: first its operand is put on the board, then its result is made.
struct Operation {
  std::shared_ptr<Communicator> of;
  Call call;
  const void* in;
  void* out;
  size_t bytes_in;
  bool captured = false;
  uint64_t before = 0;
  ~Operation() {
    if (captured) of->captured--;
  }
};
using Shared = std::shared_ptr<Operation>;

int32_t can_post(void* arg) {
  Communicator& c = *(*static_cast<Shared*>(arg))->of;
  for (int r = 0; r < c.ranks && !c.aborted; r++)
    if (c.board->rank[r].done < c.executed) return 0;
  return 1;
}
void post(void* arg) {
  Operation& o = **static_cast<Shared*>(arg);
  Communicator& c = *o.of;
  if (c.aborted) return;
  const bool brings = o.call.kind != Kind::broadcast || o.call.root == c.rank;
  if (brings) std::memcpy(c.board->area(c.rank), o.in, o.bytes_in), o.before = digest(o.in, o.bytes_in);
  c.board->rank[c.rank].call = o.call;
  c.board->rank[c.rank].posted = ++c.executed;
}
int32_t can_finish(void* arg) {
  Operation& o = **static_cast<Shared*>(arg);
  Communicator& c = *o.of;
  if (c.aborted) return 1;
  if (state().never == FAKE_NCCL_RUN) return 0;
  for (int r = 0; r < c.ranks; r++)
    if (c.board->rank[r].posted < c.executed) return 0;
  for (int r = 0; r < c.ranks; r++) {
    const Call& other = c.board->rank[r].call;
    if (other == o.call) continue;
    c.complain("ranks do different things: " + o.call.text() + ", and rank " + std::to_string(r) + " " + other.text());
    return 0;  // as NCCL does: nothing
  }
  return 1;
}
void finish(void* arg) {
  Operation& o = **static_cast<Shared*>(arg);
  Communicator& c = *o.of;
  if (c.aborted) return;
  const bool brings = o.call.kind != Kind::broadcast || o.call.root == c.rank;
  if (brings && o.in != o.out && digest(o.in, o.bytes_in) != o.before)
    c.complain("the operand of " + o.call.text() + " was written before it was over");
  fake_nccl::compute(*c.board, o.call, c.rank, c.ranks, o.out);
  c.board->rank[c.rank].done = c.executed;
}
void drop(void* arg) { delete static_cast<Shared*>(arg); }

// What one rank sends to another, or gets from it, on a stream. What was sent stays until it is received.
struct Message {
  std::shared_ptr<Communicator> of;
  int peer;
  size_t bytes;
  const void* in = nullptr;
  void* out = nullptr;
  uint64_t number = 0, before = 0;
  Board::Rank& sender() const { return of->board->rank[in ? of->rank : peer]; }
  int receiver() const { return in ? peer : of->rank; }
  uint64_t sent() const { return sender().sent[receiver()]; }
  uint64_t received() const { return sender().received[receiver()]; }
};
using SharedMessage = std::shared_ptr<Message>;
Message& message_of(void* arg) { return **static_cast<SharedMessage*>(arg); }
void drop_message(void* arg) { delete static_cast<SharedMessage*>(arg); }

int32_t can_send(void* arg) {
  const Message& m = message_of(arg);
  return m.of->aborted || m.sent() == m.received();
}
void send(void* arg) {
  Message& m = message_of(arg);
  if (m.of->aborted) return;
  std::memcpy(m.of->board->message(m.of->rank, m.peer), m.in, m.bytes);
  m.before = digest(m.in, m.bytes);
  m.sender().message_bytes[m.peer] = m.bytes;
  m.number = ++m.sender().sent[m.peer];
}
int32_t is_received(void* arg) {
  const Message& m = message_of(arg);
  return m.of->aborted || m.received() >= m.number;
}
void end_send(void* arg) {
  const Message& m = message_of(arg);
  if (!m.of->aborted && digest(m.in, m.bytes) != m.before)
    m.of->complain("what was sent to rank " + std::to_string(m.peer) + " was written before it was over");
}
int32_t can_receive(void* arg) {
  const Message& m = message_of(arg);
  if (m.of->aborted) return 1;
  if (state().never == FAKE_NCCL_RUN || m.sent() == m.received()) return 0;
  if (m.sender().message_bytes[m.of->rank] == m.bytes) return 1;
  m.of->complain("rank " + std::to_string(m.peer) + " sent another number of bytes than was to be received");
  return 0;
}
void receive(void* arg) {
  const Message& m = message_of(arg);
  if (m.of->aborted) return;
  std::memcpy(m.out, m.of->board->message(m.peer, m.of->rank), m.bytes);
  m.sender().received[m.of->rank]++;
}

// What a thread began since ncclGroupStart. Messages go together: none waits for the end of another.
struct Grouped {
  int depth = 0;
  std::set<std::shared_ptr<Communicator>> of;
  std::vector<std::pair<void*, SharedMessage>> messages;  // with their streams
};
Grouped& grouped() {
  thread_local Grouped one;
  return one;
}

extern "C" int cuStreamIsCapturing(void* stream, int* out);

int enqueue(Handle* handle, Call call, const void* in, void* out, void* stream) {
  if (const int failed = fake_cuda_called()) return static_cast<void>(failed), kSystemError;
  Communicator& c = *handle->of;
  const size_t item = fake_nccl::size_of_type(call.type);
  if (!item || call.reduction == 1 || call.reduction > 3) return kInvalidArgument;
  const bool goes_on = grouped().depth > 0 && grouped().of.count(handle->of);  // what a group begins is asked for at its end
  if (!c.is_open || (c.questions > 0 && !goes_on) || c.finalized) return kInvalidUsage;
  const size_t bytes = call.count * item * (call.kind == Kind::reduce_scatter ? static_cast<size_t>(c.ranks) : 1);
  if (bytes > fake_nccl::kAreaBytes) return kInvalidArgument;
  int capturing = 0;
  cuStreamIsCapturing(stream, &capturing);
  auto operation = std::make_shared<Operation>(handle->of, call, in, out, bytes, capturing != 0);
  if (capturing) c.captured++;
  fake_cuda_enqueue_when(stream, can_post, post, drop, new Shared(operation));
  fake_cuda_enqueue_when(stream, can_finish, finish, drop, new Shared(operation));
  if (grouped().depth == 0) return c.launch();
  return grouped().of.insert(handle->of), kSuccess;
}

void enqueue_messages(const std::vector<std::pair<void*, SharedMessage>>& messages) {
  for (auto& [stream, m] : messages)
    if (m->in) fake_cuda_enqueue_when(stream, can_send, send, drop_message, new SharedMessage(m));
  for (auto& [stream, m] : messages)
    if (!m->in) fake_cuda_enqueue_when(stream, can_receive, receive, drop_message, new SharedMessage(m));
  for (auto& [stream, m] : messages)
    if (m->in) fake_cuda_enqueue_when(stream, is_received, end_send, drop_message, new SharedMessage(m));
}

int pass(Handle* handle, int peer, size_t count, int type, const void* in, void* out, void* stream) {
  if (fake_cuda_called()) return kSystemError;
  Communicator& c = *handle->of;
  const size_t item = fake_nccl::size_of_type(type);
  if (!item || peer < 0 || peer >= c.ranks || count * item > fake_nccl::kMessageBytes) return kInvalidArgument;
  const bool goes_on = grouped().depth > 0 && grouped().of.count(handle->of);
  if (!c.is_open || (c.questions > 0 && !goes_on) || c.finalized) return kInvalidUsage;
  const auto message = std::make_shared<Message>(handle->of, peer, count * item, in, out);
  if (grouped().depth > 0) {
    grouped().of.insert(handle->of), grouped().messages.emplace_back(stream, message);
    return kSuccess;
  }
  enqueue_messages({{stream, message}});
  return c.launch();
}

// As ncclConfig_t begins; blocking is INT_MIN where it was not said.
struct Config {
  size_t size;
  unsigned magic, version;
  int blocking;
};

// `waits`: the call itself does not return before it is open.
int opened(Handle* made, const Config* config, int stage, bool waits) {
  made->of->asked_for(stage);
  if (config && config->magic != 0xcafebeef) return kInvalidArgument;
  made->of->blocking = !config || config->blocking != 0;
  if (!waits) return kInProgress;
  while (!made->of->open()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  return made->of->questions = 0, kSuccess;
}

int end(Handle* handle, const char* how) {
  Communicator& c = *handle->of;
  if (c.captured > 0) c.complain(std::string(how) + " under a live graph that captured it");
  delete handle;
  return kSuccess;
}

}  // namespace

extern "C" {

struct UniqueId {
  char bytes[128];
};

void fake_nccl_late(int64_t questions) { state().late = questions; }
void fake_nccl_never(int32_t what) { state().never = what; }
const char* fake_nccl_complaints() {
  const std::lock_guard lock(state().mutex);
  static std::string text;
  return (text = state().complaints).c_str();
}
int64_t fake_nccl_communicators() { return state().communicators; }
int64_t fake_nccl_launches() { return state().launches; }

int ncclGetVersion(int* out) { return *out = 22809, kSuccess; }
const char* ncclGetErrorString(int result) {
  return result == kSystemError ? "unhandled system error" : result == kInvalidUsage ? "invalid usage" : "invalid argument";
}
const char* ncclGetLastError(Handle* handle) {
  return handle && handle->of->complained ? fake_nccl_complaints() : "a stand-in was told to fail";
}
int ncclGetUniqueId(UniqueId* out) {
  if (fake_cuda_called()) return kSystemError;
  static std::atomic<int> number{0};
  const char* address = std::getenv("NCCL_COMM_ID");
  std::string name = "/thunder-fake-nccl-";
  name += address ? address : std::to_string(::getpid()) + "-" + std::to_string(number++) + "-" +
                    std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  for (char& c : name) c = c == ':' ? '-' : c;
  return std::strncpy(out->bytes, name.c_str(), sizeof out->bytes), kSuccess;
}
int ncclCommInitRankConfig(Handle** out, int ranks, UniqueId id, int rank, const Config* config) {
  if (fake_cuda_called()) return kSystemError;
  if (ranks < 1 || ranks > fake_nccl::kMostRanks || rank < 0 || rank >= ranks) return kInvalidArgument;
  *out = new Handle;
  Communicator& c = *(*out)->of;
  c.name = id.bytes, c.rank = rank, c.ranks = ranks;
  return opened(*out, config, FAKE_NCCL_INIT, !config || config->blocking != 0);
}
int ncclCommSplit(Handle* of, int color, int key, Handle** out, const Config* config) {
  if (fake_cuda_called()) return kSystemError;
  Communicator& parent = *of->of;
  if (!parent.is_open || parent.splits == fake_nccl::kMostSplits) return kInvalidUsage;
  Board::Rank& own = parent.board->rank[parent.rank];
  own.color[parent.splits] = color, own.key[parent.splits] = key;
  own.splits = ++parent.splits;
  *out = new Handle;
  Communicator& c = *(*out)->of;
  c.name = parent.name + "." + std::to_string(parent.splits) + "." + std::to_string(color);
  c.parent = &parent, c.color = color, c.key = key, c.split_number = parent.splits;
  return opened(*out, config, FAKE_NCCL_SPLIT, parent.blocking);
}
int ncclCommGetAsyncError(Handle* of, int* out) {
  if (fake_cuda_called()) return kSystemError;
  Communicator& c = *of->of;
  *out = kSuccess;
  if (c.complained) *out = kInvalidUsage;
  else if (c.stage && state().never == c.stage) *out = kInProgress;
  else if (!c.open() || c.questions > 0) c.questions -= c.questions > 0, *out = kInProgress;
  else c.stage = 0;
  return kSuccess;
}
int ncclCommFinalize(Handle* of) {
  if (fake_cuda_called()) return kSystemError;
  of->of->finalized = true, of->of->asked_for(FAKE_NCCL_FINALIZE);
  return kInProgress;
}
int ncclCommDestroy(Handle* of) { return fake_cuda_called() ? kSystemError : end(of, "the communicator was destroyed"); }
int ncclCommAbort(Handle* of) {
  of->of->aborted = true;
  return end(of, "the communicator was aborted");
}
int ncclGroupStart() {
  if (fake_cuda_called()) return kSystemError;
  return grouped().depth++, kSuccess;
}
int ncclGroupEnd() {
  if (grouped().depth == 0) return kInvalidUsage;
  if (--grouped().depth > 0) return kSuccess;
  const auto begun = std::exchange(grouped().of, {});
  enqueue_messages(std::exchange(grouped().messages, {}));
  int result = kSuccess;
  for (const auto& c : begun) result = std::max(result, c->launch());
  return fake_cuda_called() ? kSystemError : result;
}
int ncclCommUserRank(Handle* of, int* out) { return *out = of->of->rank, kSuccess; }
int ncclCommCount(Handle* of, int* out) { return *out = of->of->ranks, kSuccess; }
int ncclCommCuDevice(Handle*, int* out) { return *out = 0, kSuccess; }

int ncclAllReduce(const void* in, void* out, size_t count, int type, int reduction, Handle* of, void* stream) {
  return enqueue(of, {Kind::all_reduce, type, reduction, 0, count}, in, out, stream);
}
int ncclAllGather(const void* in, void* out, size_t count, int type, Handle* of, void* stream) {
  return enqueue(of, {Kind::all_gather, type, 0, 0, count}, in, out, stream);
}
int ncclReduceScatter(const void* in, void* out, size_t count, int type, int reduction, Handle* of, void* stream) {
  return enqueue(of, {Kind::reduce_scatter, type, reduction, 0, count}, in, out, stream);
}
int ncclBroadcast(const void* in, void* out, size_t count, int type, int root, Handle* of, void* stream) {
  return enqueue(of, {Kind::broadcast, type, 0, root, count}, in, out, stream);
}
int ncclSend(const void* in, size_t count, int type, int to, Handle* of, void* stream) {
  return pass(of, to, count, type, in, nullptr, stream);
}
int ncclRecv(void* out, size_t count, int type, int from, Handle* of, void* stream) {
  return pass(of, from, count, type, nullptr, out, stream);
}
}
