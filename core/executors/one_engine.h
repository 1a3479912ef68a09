// The one library of an engine that a process opens, and what was found.
#pragma once

#include <mutex>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder {

// The library that is wanted, or else what the search finds.
inline SharedLibrary find_library(const LibrarySearch& search, std::string_view file) {
  const std::string text(file);
  const char* const name = text.c_str();
  return SharedLibrary(file.empty() ? search : LibrarySearch{nullptr, {&name, 1}});
}

// Engine: made without arguments, and `std::string start(const Place&)`, which says its version or throws. A place is
// where it was looked for, as SharedLibrary is one: opened(), path(), report().
template <class Engine>
class OneEngine {
 public:
  // `file`: the one that is wanted; "": the one that is open, or that `find`, a function from `file` to a place, finds.
  // Null: there is none, or another one is open. `found` gets its version and file, or every name that was looked for.
  // Any thread.
  template <class Find>
  const Engine* open(const Find& find, std::string_view file, std::string& found) {
    std::lock_guard lock(mutex_);
    const bool another = !file.empty() && file != file_ && file != path_;
    if (opened_ && another) {
      found = cat(file, " cannot be opened beside ", report_, ", which this process uses");
      return nullptr;
    }
    if (!opened_ && (report_.empty() || file != file_)) look(find, file);
    found = report_;
    return opened_ ? &engine_ : nullptr;
  }

 private:
  template <class Find>
  void look(const Find& find, std::string_view file) {
    file_ = file;
    const auto place = find(file);
    if (!place.opened()) {
      report_ = place.report();
      return;
    }
    path_ = place.path();
    try {
      report_ = cat(engine_.start(place), ", ", path_);
      opened_ = true;
    } catch (const Error& e) {
      report_ = cat(path_, ": ", e.message());
    }
  }

  std::mutex mutex_;
  Engine engine_;
  bool opened_ = false;
  std::string file_, path_, report_;
};

}  // namespace thunder
