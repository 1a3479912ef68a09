#include "scale/collective.h"

#include <cstring>
#include <thread>

#include "base/hash.h"
#include "base/text.h"
#include "ir/type.h"
#include "scale/scratch.h"

namespace thunder::scale {
namespace {

constexpr std::string_view kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                       "all_to_all", "ppermute",   "barrier"};
constexpr std::string_view kReductions[] = {"sum", "max", "min"};

// Looking whether a device is done, the host first only yields: most of what it waits for is a step of training.
constexpr std::chrono::milliseconds kYieldTime{100};
constexpr std::chrono::microseconds kLookApart{50};

void check(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

}  // namespace

std::string collective_text(const CollectiveCall& call) {
  const std::string_view what = kNames[static_cast<size_t>(call.what)];
  const std::span<const int64_t> shape(call.in.shape, static_cast<size_t>(call.in.rank));
  std::string text =
      cat(what, "(", name(call.in.dtype), "[", join(shape, ", ", [](int64_t n) { return std::to_string(n); }), "]");
  if (call.what == Collective::broadcast)
    text += cat(", from rank ", call.root);
  for (size_t i = 0; i < call.sources.size(); i++)
    text += cat(", ", hint(call.sources[i]), " to ", hint(call.targets[i]));
  if (call.what == Collective::all_reduce || call.what == Collective::reduce_scatter)
    text += cat(", ", kReductions[static_cast<size_t>(call.reduction)]);
  return text + ")";
}

bool OpeningTask::step() {
  if (abandoned_) {
    if (group_) group_->abort();
    return true;
  }
  if (!group_) group_ = make_();
  return group_->ready();
}

CollectiveTask::CollectiveTask(std::shared_ptr<Group> group, std::string axis,
                               std::shared_ptr<StartedTogether> together, std::shared_ptr<const BoardLine> line,
                               std::shared_ptr<Events> events)
    : group_(std::move(group)),
      axis_(std::move(axis)),
      together_(std::move(together)),
      line_(std::move(line)),
      events_(std::move(events)) {
  headers_.resize(static_cast<size_t>(group_->ranks()));
}

void CollectiveTask::add(const std::string& text, const CollectiveCall* call) {
  if (count_++ == 0) first_ = text;
  text_ += text + "; ";
  own_.digest = hash_text(text_);
  shown_ += cat(shown_.empty() ? "" : ", ", text, call && call->where ? cat(" [at ", call->where, "]") : "");
  if (!call || call->what == Collective::barrier || call->in.elements() == 0) return;
  GroupCall one{call->what, call->reduction, static_cast<int32_t>(call->root)};
  one.dtype = call->in.dtype, one.device = call->device;
  one.in = call->in.data, one.out = call->out.data;
  one.count = call->what == Collective::reduce_scatter ? call->out.elements() : call->in.elements();
  if (call->what == Collective::all_to_all) one.count /= group_->ranks();
  one.passing = passing_of(*call, group_->rank());
  const bool passes = call->what != Collective::ppermute || one.passing.to >= 0 || one.passing.from >= 0;
  keeps_.push_back(call->keeps);
  if (call->device) {
    if (!passes) return;
    if (!end_) after_ = events_->take(*call->device), end_ = events_->take(*call->device);
    check(after_->record(call->device->native_stream()));
    one.after = after_.get(), one.over = end_.get();
  } else {
    const size_t bytes = bytes_of(call->out);
    const bool by_tree = TreeSum::makes(one, *group_);
    const size_t room = by_tree ? TreeSum::result_bytes(one, group_->ranks()) : bytes;
    const Kept& result = kept_.emplace_back(call->out.data, bytes, scratch(room));
    one.out = result.memory.get();
    if (by_tree) one = sums_.emplace_back(one, group_->ranks()).first();
    if (call->what == Collective::broadcast && call->root == group_->rank())
      std::memcpy(one.out, call->in.data, bytes);
    if (call->what == Collective::ppermute && one.passing.from < 0) std::memset(one.out, 0, bytes);
  }
  if (passes) calls_.push_back(one);
}

std::string CollectiveTask::text() const {
  return count_ > 1 ? cat(first_, " and ", count_ - 1, " more") : first_;
}

void CollectiveTask::store(const void* out) const {
  for (const Kept& result : kept_)
    if (result.place == out) std::memcpy(result.place, result.memory.get(), result.bytes);
}

bool CollectiveTask::may_run_here() const {
  return agrees_here() && (calls_.empty() || (on_device() && group_->begins_at_once(calls_)));
}

// On the board.
bool CollectiveTask::have_all_come() {
  if (!line_) return true;
  Board& board = *line_->board;
  if (!number_) number_ = board.reach(line_->line, own_.digest, shown_);
  for (const int64_t rank : line_->members)
    if (board.reached(line_->line, rank) < number_) return false;
  for (size_t i = 0; i < headers_.size(); i++)
    headers_[i].digest = board.digest(line_->line, line_->members[i], number_);
  if (agree()) return true;
  texts_.resize(headers_.size() * kTextBytes);
  for (size_t i = 0; i < headers_.size(); i++)
    board.text(line_->line, line_->members[i], number_).copy(texts_.data() + i * kTextBytes, kTextBytes - 1);
  fail_disagreeing();
}

void CollectiveTask::begin_headers() {
  begin({.what = Collective::all_gather, .in = &own_, .out = headers_.data(), .count = sizeof own_});
  phase_ = Phase::headers;
}

void CollectiveTask::begin_texts() {
  own_text_.assign(kTextBytes, 0);
  std::memcpy(own_text_.data(), shown_.data(), std::min(shown_.size(), kTextBytes - 1));
  texts_.resize(headers_.size() * kTextBytes);
  begin({.what = Collective::all_gather, .in = own_text_.data(), .out = texts_.data(), .count = kTextBytes});
  phase_ = Phase::texts;
}

void CollectiveTask::begin_calls() {
  begun_ += group_->begin_together(std::span(calls_).subspan(begun_), request_);
  phase_ = Phase::call;
}

// Whether that is all.
bool CollectiveTask::add_up() {
  calls_.clear(), begun_ = 0;
  for (TreeSum& sum : sums_)
    if (const auto rest = sum.second()) calls_.push_back(*rest);
  added_ = std::exchange(sums_, {});  // whose memory they use
  return calls_.empty();
}

bool CollectiveTask::agree() const {
  for (const Header& h : headers_)
    if (h.digest != own_.digest) return false;
  return true;
}

void CollectiveTask::fail_disagreeing() const {
  struct Ranks {
    std::string_view text;
    std::string numbers;
    size_t count;
  };
  std::vector<Ranks> by_text;
  for (size_t rank = 0; rank < headers_.size(); rank++) {
    const std::string_view text(texts_.data() + rank * kTextBytes);
    auto it = std::find_if(by_text.begin(), by_text.end(), [&](auto& t) { return t.text == text; });
    if (it == by_text.end())
      by_text.push_back({text, std::to_string(rank), 1});
    else
      it->numbers += cat(", ", rank), it->count++;
  }
  fail(Code::invalid_argument, "the ranks of axis '", axis_, "' disagree: ", join(by_text, "; ", [](auto& t) {
         return cat(t.count > 1 ? "ranks " : "rank ", t.numbers, ": ", t.text);
       }));
}

bool CollectiveTask::step() {
  if (abandoned_) return true;
  if (together_->refused) throw Error(together_->refused);
  try {
    return go_on();
  } catch (const Error& e) {
    if (e.code() == Code::invalid_argument) together_->refused = e.status();  // as on all ranks
    throw;
  }
}

bool CollectiveTask::go_on() {
  if (phase_ == Phase::start && !agrees_here()) begin_headers();
  const bool done = phase_ == Phase::start ? have_all_come() : group_->test(request_);
  if (!done) return false;
  went_on();
  if (phase_ == Phase::texts) fail_disagreeing();
  if (phase_ == Phase::headers && !agree())
    begin_texts();
  else if (begun_ == calls_.size() && (sums_.empty() || add_up()))
    return true;
  else
    begin_calls();
  return false;
}

bool CollectiveTask::wait_for_result(Clock::time_point end) {
  if (!wait_until(end)) return false;
  if (!end_) return true;
  for (const auto yields = Clock::now() + kYieldTime;;) {
    bool reached = false;
    check(end_->query(reached));
    const auto now = Clock::now();
    if (reached || now >= end) return reached;
    if (now < yields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kLookApart);
  }
}

void CollectiveTask::order_device() const {
  if (end_) check(end_->make_stream_wait(calls_.front().device->native_stream()));
}

void CollectiveTask::leave_to_device(bool left) const {
  exchange_of(*calls_.front().device).expect_stall(left);
}

void CollectiveTask::fail_device(Ref<Status> why) const {
  exchange_of(*calls_.front().device).fail_next_wait(std::move(why));
}

}  // namespace thunder::scale
