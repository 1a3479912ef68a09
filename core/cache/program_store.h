// The programs of a compiled function and of its segments: found, kept, bounded and counted here. The functions of one
// tape, a forward and the gradients of it, have a store each, and one bound of what they keep recently.
#pragma once

#include "cache/recent_programs.h"

namespace thunder {

// How long a program is kept: for good, as long as it is among those used last, or for one call.
enum class Keep : uint8_t { for_good, recently, for_one_call };

// Programs of whole calls are told apart by inputs, those of segments by what they compute, too. Any thread.
class ProgramStore {
 public:
  // `recent`: shared with other stores; null: its own.
  explicit ProgramStore(std::shared_ptr<RecentPrograms> recent);
  ~ProgramStore();
  const std::shared_ptr<RecentPrograms>& recent() const { return recent_; }

  // Of those that are kept for good, the one used last first; takes no lock. Null: none fits.
  const Entry* find(const Inputs& in) const {
    const Entry* last = last_hit_.load(std::memory_order_acquire);
    return last && fits(*last, in) ? last : find_other(last, in);
  }
  std::shared_ptr<const Entry> find_recent(const Inputs& in);
  // Why none that is kept for good fits, told of the one that was compiled last.
  std::string explain_miss(const Inputs& in, std::span<const std::string> names) const;
  const Entry* insert(std::unique_ptr<Entry> entry);
  void insert_recent(const Inputs& in, std::shared_ptr<const Entry> entry);
  // Of those kept for good.
  size_t size() const;
  uint64_t runs() const;
  const Entry* latest() const;
  std::vector<const Entry*> entries() const;  // oldest first
  // Of all that are kept.
  size_t count_all() const;
  void for_each(const std::function<void(const Entry&)>& f) const;

  // What a segment is told apart by, before its lines are compared: hashes with its sizes, and without them.
  struct SegmentHash {
    uint64_t of_sizes = 0, of_any_size = 0;
  };
  // Null: none of this hash and for these inputs fits. `kept`: whether it is kept for good.
  std::shared_ptr<const Entry> find_segment(uint64_t hash_of_sizes, const Inputs& in,
                                            const std::function<bool(const Entry&)>& fits, bool& kept);
  void insert_segment(const SegmentHash& hash, const Inputs& in, std::shared_ptr<const Entry> entry, Keep keep);
  // Of those kept for good: all, and those that differ from this one by sizes alone.
  size_t count_segments() const;
  size_t count_segments_of_any_size(const SegmentHash& hash) const;
  void for_each_segment(const std::function<void(const Entry&)>& f) const;

 private:
  struct List {
    std::vector<const Entry*> entries;
  };
  const Entry* find_other(const Entry* than, const Inputs& in) const;

  std::atomic<const List*> list_{nullptr};
  mutable std::atomic<const Entry*> last_hit_{nullptr};
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<const List>> lists_;  // readers may still hold an old one
  std::vector<std::unique_ptr<Entry>> owned_;
  std::unordered_multimap<uint64_t, std::shared_ptr<const Entry>> segments_;
  std::unordered_map<uint64_t, size_t> segments_of_any_size_;
  const std::shared_ptr<RecentPrograms> recent_;
};

}  // namespace thunder
