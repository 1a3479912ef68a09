// The one library of an engine that a process opens, what was found, and the executor that runs regions on it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/shared_library.h"
#include "base/text.h"
#include "executors/engines.h"

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
    if (!opened_ && (report_.empty() || file != file_)) find_and_open(find, file);
    found = report_;
    return opened_ ? &engine_ : nullptr;
  }

 private:
  template <class Find>
  void find_and_open(const Find& find, std::string_view file) {
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

// Region: a kernel made of (Engine, Machine, NodeView), with the name of its executor, kName, and `bool claims(const
// NodeView&)`, which is asked for what suits_engine. Engine: has `open`, as OneEngine's.
template <class Region>
const typename Region::Engine& opened_engine() {
  std::string found;
  const typename Region::Engine* engine = Region::Engine::open(found);
  if (!engine) fail(Code::not_found, "executors: ", Region::kName, " is not available here: ", found);
  return *engine;
}

template <class Region>
ExecutorDesc engine_executor(const Machine& machine) {
  ExecutorDesc d;
  d.name = Region::kName;
  d.user = const_cast<Machine*>(&machine);
  d.flags = kMayFail;
  d.claim = [](const NodeView& view, void*) { return suits_engine(view) && Region::claims(view); };
  d.claim_region = claim_all;
  d.prepare = [](const NodeView& view, void* user) -> KernelPtr {
    return std::make_unique<Region>(opened_engine<Region>(), *static_cast<const Machine*>(user), view);
  };
  return d;
}

template <class Region>
EngineRow engine_row() {
  return {Region::kName, engine_executor<Region>,
          [](std::string_view file, std::string& found) { return Region::Engine::open(found, file) != nullptr; }};
}

// Objects that one call at a time uses, kept for later calls. Any thread.
template <class T>
class Idle {
 public:
  // An object that was given back, or a new one that `make` makes.
  template <class Make>
  std::unique_ptr<T> take(Make&& make) {
    {
      std::lock_guard lock(mutex_);
      if (!kept_.empty()) {
        std::unique_ptr<T> out = std::move(kept_.back());
        kept_.pop_back();
        return out;
      }
    }
    return make();
  }
  void give_back(std::unique_ptr<T> one) {
    std::lock_guard lock(mutex_);
    kept_.push_back(std::move(one));
  }
  void clear() { kept_.clear(); }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> kept_;
};

}  // namespace thunder
