// An engine whose ranks are worlds of one process, in threads of a test. It adds up in the order of ranks, and a rank that
// does not come is waited for, as by any other engine.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "ir/elements.h"
#include "scale/world.h"

namespace thunder::test {

// What the ranks of one process have brought so far. All engines are driven by one thread.
class ThreadHub {
 public:
  struct Meeting {
    std::vector<scale::GroupCall> calls;
    std::vector<bool> came;
    size_t missing;
  };
  Meeting& meeting(const std::string& key, size_t ranks) {
    auto [it, fresh] = meetings_.try_emplace(key);
    if (fresh) it->second = {std::vector<scale::GroupCall>(ranks), std::vector<bool>(ranks), ranks};
    return it->second;
  }
  std::atomic<int> begun{0};  // collectives
  std::atomic<bool> sums_by_tree{false};
  std::atomic<int64_t> mute{-1};  // a rank that hears and says nothing
  std::map<int64_t, std::deque<std::string>> notes;  // for each rank of the world
  std::map<std::string, std::deque<std::string>> messages;  // from one rank of a group to another

 private:
  std::map<std::string, Meeting> meetings_;
};

class ThreadGroup : public scale::Group {
 public:
  ThreadGroup(ThreadHub& hub, std::string key, int64_t rank, int64_t ranks)
      : hub_(hub), key_(std::move(key)), rank_(rank), ranks_(ranks) {}
  int64_t rank() const override { return rank_; }
  int64_t ranks() const override { return ranks_; }
  std::unique_ptr<scale::Group> split(int64_t line, int64_t index, int64_t ranks) override {
    return std::make_unique<ThreadGroup>(hub_, cat(key_, "/", splits_++, ":", line), index, ranks);
  }
  uint64_t begin(const scale::GroupCall& call) override {
    hub_.begun++;
    if (call.what == Collective::ppermute) return pass(call);
    auto& all = hub_.meeting(cat(key_, "#", calls_), static_cast<size_t>(ranks_));
    all.calls[static_cast<size_t>(rank_)] = call, all.came[static_cast<size_t>(rank_)] = true;
    if (--all.missing == 0)
      for (size_t r = 0; r < all.calls.size(); r++) compute(all.calls, r);
    return calls_++;
  }
  bool carries_notes() const override { return true; }
  bool sums_by_tree() const override { return hub_.sums_by_tree; }
  void send(int64_t rank, std::string_view note) override {
    if (hub_.mute != rank_) hub_.notes[rank].emplace_back(note.substr(0, kNoteBytes));
  }
  std::optional<std::string> receive() override {
    auto& mine = hub_.notes[rank_];
    if (mine.empty() || hub_.mute == rank_) return std::nullopt;
    std::string first = std::move(mine.front());
    mine.pop_front();
    return first;
  }
  bool test(uint64_t& request) override {
    if (request == kPassing) return has_received();
    return hub_.meeting(cat(key_, "#", request), static_cast<size_t>(ranks_)).missing == 0;
  }

 private:
  static constexpr uint64_t kPassing = UINT64_MAX;
  uint64_t pass(const scale::GroupCall& call) {
    const size_t bytes = static_cast<size_t>(call.count) * size_of(call.dtype);
    if (call.passing.to >= 0)
      hub_.messages[cat(key_, "#", rank_, ">", call.passing.to)].emplace_back(static_cast<const char*>(call.in), bytes);
    passing_ = call;
    return kPassing;
  }
  bool has_received() {
    if (passing_.passing.from < 0) return true;
    auto& waiting = hub_.messages[cat(key_, "#", passing_.passing.from, ">", rank_)];
    if (waiting.empty()) return false;
    waiting.front().copy(static_cast<char*>(passing_.out), waiting.front().size());
    waiting.pop_front();
    return true;
  }
  static void compute(const std::vector<scale::GroupCall>& calls, size_t rank) {
    const scale::GroupCall& own = calls[rank];
    const size_t bytes = static_cast<size_t>(own.count) * size_of(own.dtype);
    auto* out = static_cast<std::byte*>(own.out);
    if (own.what == Collective::all_gather)
      for (size_t r = 0; r < calls.size(); r++) std::memcpy(out + r * bytes, calls[r].in, bytes);
    else if (own.what == Collective::broadcast)
      std::memmove(out, calls[static_cast<size_t>(own.root)].out, bytes);
    else if (own.what == Collective::all_to_all)
      for (size_t r = 0; r < calls.size(); r++)
        std::memcpy(out + r * bytes, static_cast<const std::byte*>(calls[r].in) + rank * bytes, bytes);
    else
      by_element(own.dtype, [&](auto zero) {
        using T = decltype(zero);
        const int64_t from = own.what == Collective::reduce_scatter ? static_cast<int64_t>(rank) * own.count : 0;
        for (int64_t i = 0; i < own.count; i++) {
          T sum = static_cast<const T*>(calls[0].in)[from + i];
          for (size_t r = 1; r < calls.size(); r++) {
            const T x = static_cast<const T*>(calls[r].in)[from + i];
            if (own.reduction == RankReduction::sum) sum = static_cast<T>(sum + x);
            else if (own.reduction == RankReduction::max) sum = x > sum ? x : sum;
            else sum = x < sum ? x : sum;
          }
          static_cast<T*>(own.out)[i] = sum;
        }
      });
  }

  ThreadHub& hub_;
  const std::string key_;
  const int64_t rank_, ranks_;
  int splits_ = 0;
  uint64_t calls_ = 0;
  scale::GroupCall passing_{};
};

class ThreadEngine : public scale::Engine {
 public:
  explicit ThreadEngine(ThreadHub& hub) : hub_(hub) {}
  std::string name() const override { return "threads"; }
  std::string description() const override { return "of a test"; }
  std::unique_ptr<scale::Group> open(const scale::ProcessPlace& place, const scale::JoinOptions&) override {
    return std::make_unique<ThreadGroup>(hub_, "", place.rank, place.ranks);
  }

 private:
  ThreadHub& hub_;
};

inline std::shared_ptr<scale::World> thread_world(ThreadHub& hub, int64_t rank, int64_t ranks, double timeout = 20) {
  scale::WorldOptions options;
  options.timeout = timeout;
  return std::make_shared<scale::World>(std::make_shared<ThreadEngine>(hub),
                                        scale::ProcessPlace{"a test", rank, ranks, rank}, options);
}

// Runs `body(rank)` in a thread for each rank, and gives what each threw: "" where it did not.
template <class F>
std::vector<std::string> on_ranks(int64_t ranks, F&& body) {
  std::vector<std::string> failures(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; rank++)
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const Error& e) {
        failures[static_cast<size_t>(rank)] = e.message();
      }
    });
  for (auto& thread : threads) thread.join();
  return failures;
}

}  // namespace thunder::test
