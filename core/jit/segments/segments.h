// Functions that read values while they run: where they break, and which lines followed each other so far.
#pragma once

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "cache/program_store.h"
#include "tracer/segments.h"

namespace thunder {

// How often the same break was met.
struct CountedBreak {
  GraphBreak at;
  uint64_t times = 0;
};

// Of one compiled function. Any thread.
class Segments {
 public:
  // The program of the script that the segment followed, for these inputs; null: it followed none, or none fits.
  std::shared_ptr<const Entry> find_followed(const Segment& segment, const Inputs& in) const;

  // What later calls may follow: what segments recorded, by the segment before. They are kept as long as this.
  std::shared_ptr<const SegmentScripts> scripts_after(const SegmentScript* segment) const;
  // Keeps what this one recorded, or that the script which it followed has this program, too. What stands for it then.
  const SegmentScript* keep_script(Segment& segment, const std::shared_ptr<const Entry>& entry);

  // Notes which numbers alone tell this segment from one whose lines are kept: later they are inputs.
  void note_varying_numbers(const Trace& kept, const Segment& segment);
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

  mutable std::mutex mutex_;
  std::deque<KeptScript> scripts_;
  std::shared_ptr<const SegmentScripts> first_;
  std::vector<CountedBreak> breaks_;
  std::unordered_set<uint64_t> numbers_;  // by place, op and argument
  std::atomic<bool> any_number_{false};
  std::atomic<bool> broken_{false}, warned_{false};
};

// What a break is told apart by, and of how many a report tells at most.
constexpr size_t kMostBreaks = 100;

// A hash that equal lines have; and with one of them that lines have that differ in sizes alone.
uint64_t hash_with_sizes(const Segment& segment);
ProgramStore::SegmentHash hash_of(const Segment& segment);
// Whether the program has the lines of the segment, and takes its inputs.
bool has_lines_of(const Entry& program, const Segment& segment, const Inputs& in);

// The function, which fails where it reads a value though its errors are caught: for scopes that are tried before a
// call's own.
Ref<Function> without_reads(Ref<Function> f);

}  // namespace thunder
