#include "base/handle_history.h"

#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/handle_table.h"
#include "base/text.h"

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

namespace thunder {
namespace {

constexpr size_t kReleasedAtMost = size_t{1} << 20;
constexpr int kOwnFrames = 3, kFrames = 12;  // the first are the table's own

struct Frames {
  void* at[kFrames];
  int count = 0;

  static Frames here() {
    Frames f;
#if __has_include(<execinfo.h>)
    f.count = backtrace(f.at, kFrames);
#endif
    return f;
  }
  std::string text() const {
    std::string out;
#if __has_include(<execinfo.h>)
    const std::unique_ptr<char*, void (*)(void*)> names(backtrace_symbols(at, count), std::free);
    for (int i = kOwnFrames; names && i < count; i++) out += cat(i == kOwnFrames ? "" : ", ", names.get()[i]);
#endif
    return out.empty() ? "an unknown place" : out;
  }
};

struct Life {
  Frames made, released;
};

struct Record {
  std::mutex mutex;
  std::unordered_map<uint32_t, Life> lives;  // by place
  std::deque<uint32_t> released;             // from the oldest
};

// Never destroyed: handles may be released while the process ends.
Record& record() {
  static Record& made = *new Record;
  return made;
}

}  // namespace

bool HandleHistory::is_kept() noexcept {
  static const char* const told = std::getenv("THUNDER_DEBUG_HANDLES");
  static const bool kept = told && std::string_view(told) == "1";
  return kept;
}

void HandleHistory::note_made(uintptr_t handle) noexcept {
  if (!is_kept()) return;
  try {
    const Frames frames = Frames::here();
    const std::lock_guard lock(record().mutex);
    record().lives[HandleTable::place_in(handle)] = {frames, {}};
  } catch (...) {  // without memory one place stays unknown
  }
}

void HandleHistory::note_released(uint32_t place) noexcept {
  try {
    const Frames frames = Frames::here();
    const std::lock_guard lock(record().mutex);
    record().lives[place].released = frames;
    record().released.push_back(place);
    if (record().released.size() <= kReleasedAtMost) return;
    record().lives.erase(record().released.front());
    HandleTable::give_back(record().released.front());
    record().released.pop_front();
  } catch (...) {
  }
}

std::string HandleHistory::text(uint32_t place) {
  if (!is_kept()) return "";
  const std::lock_guard lock(record().mutex);
  const auto found = record().lives.find(place);
  if (found == record().lives.end()) return "";
  const Life& life = found->second;
  return cat("made by ", life.made.text(), life.released.count ? cat("; released by ", life.released.text()) : "");
}

}  // namespace thunder
