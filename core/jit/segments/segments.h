// Calls of functions that read values while they run: segment by segment, each found by its lines and its inputs.
#pragma once

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "cache/recent_programs.h"
#include "tracer/segments.h"

namespace thunder {

// How often the same break was met.
struct CountedBreak {
  GraphBreak at;
  uint64_t times = 0;
};

// The segments of one compiled function, and where it breaks. Any thread.
class Segments {
 public:
  // The program with these lines for these inputs, or null. `kept`: whether insert() keeps it.
  std::shared_ptr<const Entry> find(const Segment& segment, const Inputs& in, bool& kept);
  void insert(const Segment& segment, std::shared_ptr<const Entry> entry);
  // Inserts a program among those used last, for functions of many sizes.
  void insert_recent(const Segment& segment, const Inputs& in, std::shared_ptr<const Entry> entry);
  // Those that insert() keeps, and as many of them as differ from this one by sizes alone.
  size_t size() const;
  size_t count_of_other_sizes(const Segment& segment) const;

  // What later calls may follow: what segments recorded, by the segment before. They are kept as long as this.
  std::shared_ptr<const SegmentScripts> scripts_after(const SegmentScript* segment) const;
  // Keeps what this one recorded, or that the script which it followed has this program, too. What stands for it then.
  const SegmentScript* keep_script(Segment& segment, const std::shared_ptr<const Entry>& entry);

  // Notes which numbers alone tell this segment from one that is kept: later they are inputs.
  void note_varying_numbers(const Segment& segment);
  bool varies(const char* where, const Op& op, size_t param) const;

  // Whether any call has read a value: then no call is a single program.
  bool broken() const { return broken_.load(std::memory_order_acquire); }
  void set_broken() { broken_.store(true, std::memory_order_release); }
  void count_break(GraphBreak at);
  std::vector<CountedBreak> breaks() const;
  // Whether the limit was warned of before; from now on it was.
  bool mark_warned() { return warned_.exchange(true); }

 private:
  // The limit for one function and one place in it; beyond it each call records line by line.
  static constexpr size_t kMostScripts = 256, kMostInOnePlace = 8;
  struct KeptScript : SegmentScript {
    explicit KeptScript(SegmentScript&& s) : SegmentScript(std::move(s)) {}
    std::vector<std::shared_ptr<const Entry>> entries;  // of segments with its lines
    std::shared_ptr<const SegmentScripts> next;
  };
  const SegmentScript* script_of(SegmentScript& recorded, const std::shared_ptr<const Entry>& entry);
  std::shared_ptr<const Entry> find_followed(const Segment& segment, const Inputs& in) const;

  mutable std::mutex mutex_;
  std::deque<KeptScript> scripts_;
  std::shared_ptr<const SegmentScripts> first_;
  std::unordered_multimap<uint64_t, std::shared_ptr<const Entry>> entries_;
  std::unordered_map<uint64_t, size_t> of_any_size_;  // how many of the entries, by what they are but for sizes
  RecentPrograms recent_;
  std::vector<CountedBreak> breaks_;
  std::unordered_set<uint64_t> numbers_;  // by place, op and argument
  std::atomic<bool> any_number_{false};
  std::atomic<bool> broken_{false}, warned_{false};
};

// What a break is told apart by, and of how many a report tells at most.
constexpr size_t kMostBreaks = 100;

// The function, which fails where it reads a value though its errors are caught: for scopes that are tried before a
// call's own.
Ref<Function> without_reads(Ref<Function> f);

}  // namespace thunder
