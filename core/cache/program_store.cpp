#include "cache/program_store.h"

#include "base/hash.h"

namespace thunder {

ProgramStore::ProgramStore(std::shared_ptr<RecentPrograms> recent)
    : recent_(recent ? std::move(recent) : std::make_shared<RecentPrograms>()) {}

ProgramStore::~ProgramStore() { recent_->drop_all_of(this); }

const Entry* ProgramStore::find_other(const Entry* than, const Inputs& in) const {
  const List* list = list_.load(std::memory_order_acquire);
  if (!list) return nullptr;
  for (const Entry* e : list->entries) {
    if (e == than || !fits(*e, in)) continue;
    last_hit_.store(e, std::memory_order_release);
    return e;
  }
  return nullptr;
}

std::shared_ptr<const Entry> ProgramStore::find_recent(const Inputs& in) {
  return recent_->find(this, hash_of(in), [&](const Entry& e) { return fits(e, in); });
}

std::string ProgramStore::explain_miss(const Inputs& in, std::span<const std::string> names) const {
  const Entry* e = latest();
  return e ? explain_misfit(*e, in, names) : "first call";
}

const Entry* ProgramStore::insert(std::unique_ptr<Entry> entry) {
  const std::lock_guard lock(mutex_);
  auto list = std::make_unique<List>();
  list->entries.push_back(entry.get());
  if (const List* old = list_.load())
    list->entries.insert(list->entries.end(), old->entries.begin(), old->entries.end());
  list_.store(list.get(), std::memory_order_release);
  last_hit_.store(entry.get(), std::memory_order_release);
  lists_.push_back(std::move(list));
  owned_.push_back(std::move(entry));
  return owned_.back().get();
}

void ProgramStore::insert_recent(const Inputs& in, std::shared_ptr<const Entry> entry) {
  recent_->insert(this, hash_of(in), std::move(entry));
}

size_t ProgramStore::size() const {
  const List* list = list_.load(std::memory_order_acquire);
  return list ? list->entries.size() : 0;
}

uint64_t ProgramStore::runs() const {
  const List* list = list_.load(std::memory_order_acquire);
  uint64_t sum = 0;
  for (size_t i = 0; list && i < list->entries.size(); i++) sum += list->entries[i]->program->runs();
  return sum;
}

std::vector<const Entry*> ProgramStore::entries() const {
  const List* list = list_.load(std::memory_order_acquire);
  return list ? std::vector<const Entry*>(list->entries.rbegin(), list->entries.rend()) : std::vector<const Entry*>();
}

const Entry* ProgramStore::latest() const {
  const List* list = list_.load(std::memory_order_acquire);
  return list ? list->entries.front() : nullptr;
}

size_t ProgramStore::count_all() const { return size() + recent_->all_of(this).size(); }

void ProgramStore::for_each(const std::function<void(const Entry&)>& f) const {
  for (const Entry* e : entries()) f(*e);
  for (const std::shared_ptr<const Entry>& e : recent_->all_of(this)) f(*e);
}

std::shared_ptr<const Entry> ProgramStore::find_segment(uint64_t hash, const Inputs& in,
                                                        const std::function<bool(const Entry&)>& fits, bool& kept) {
  {
    const std::lock_guard lock(mutex_);
    kept = true;
    const auto [first, last] = segments_.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (fits(*it->second)) return it->second;
  }
  kept = false;
  return recent_->find(this, mix(hash, hash_of(in)), fits);
}

void ProgramStore::insert_segment(const SegmentHash& hash, const Inputs& in, std::shared_ptr<const Entry> entry,
                                  Keep keep) {
  if (keep == Keep::recently) return recent_->insert(this, mix(hash.of_sizes, hash_of(in)), std::move(entry));
  if (keep != Keep::for_good) return;
  const std::lock_guard lock(mutex_);
  segments_.emplace(hash.of_sizes, std::move(entry));
  segments_of_any_size_[hash.of_any_size]++;
}

size_t ProgramStore::count_segments() const {
  const std::lock_guard lock(mutex_);
  return segments_.size();
}

size_t ProgramStore::count_segments_of_any_size(const SegmentHash& hash) const {
  const std::lock_guard lock(mutex_);
  const auto it = segments_of_any_size_.find(hash.of_any_size);
  return it == segments_of_any_size_.end() ? 0 : it->second;
}

void ProgramStore::for_each_segment(const std::function<void(const Entry&)>& f) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, entry] : segments_) f(*entry);
}

}  // namespace thunder
