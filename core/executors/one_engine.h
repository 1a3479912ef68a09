// The one library of an engine that a process opens, and what was found.
#pragma once

#include <mutex>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder {

// Engine: made without arguments, and `std::string start(const SharedLibrary&)`, which says its version or throws.
template <class Engine>
class OneEngine {
 public:
  // `file`: the library that is wanted; "": the one that is open, or that the search finds. Null: there is none, or
  // another one is open. `found` gets its version and file, or every name that was looked for. Any thread.
  const Engine* open(const LibrarySearch& search, std::string_view file, std::string& found) {
    std::lock_guard lock(mutex_);
    const bool another = !file.empty() && file != file_ && file != path_;
    if (opened_ && another) {
      found = cat(file, " cannot be opened beside ", report_, ", which this process uses");
      return nullptr;
    }
    if (!opened_ && (report_.empty() || file != file_)) look(search, file);
    found = report_;
    return opened_ ? &engine_ : nullptr;
  }

 private:
  void look(const LibrarySearch& search, std::string_view file) {
    file_ = file;
    const char* const name = file_.c_str();
    const SharedLibrary library(file.empty() ? search : LibrarySearch{nullptr, {&name, 1}});
    if (!library.opened()) {
      report_ = library.report();
      return;
    }
    path_ = library.path();
    try {
      report_ = cat(engine_.start(library), ", ", path_);
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
