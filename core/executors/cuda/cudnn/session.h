// A device's handle of cuDNN, and the library's descriptors.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "executors/cuda/cudnn/library.h"
#include "executors/cuda/cudnn/plans.h"
#include "executors/cuda/sessions.h"

namespace thunder::cudnn {

class Session : public nvidia::LibrarySession<Library> {
 public:
  // Throws backend where the handle cannot be made.
  Session(const Library& library, nvidia::CudaDevice& device);

  Handle handle() const { return handle_.get(); }
  // Makes the handle use this thread's current stream of the device. Requires: the mutex is held.
  Status* follow_stream();
  // The library allows one thread at a time to use a handle.
  std::mutex& mutex() { return mutex_; }

  // The result of `ask()`, called once for each key. Any thread.
  template <class Ask>
  bool ask_once(const std::string& key, const Ask& ask) {
    std::lock_guard lock(mutex_);
    const auto found = answers_.find(key);
    return found != answers_.end() ? found->second : (answers_[key] = ask());
  }

  // Stores the answer no for that key.
  void refuse(const std::string& key) {
    std::lock_guard lock(mutex_);
    answers_[key] = false;
  }

  // Whether these lengths, of queries and keys, have a plan of their own in the family: the first that were asked for
  // have. Any thread.
  bool has_own_plan(const std::string& family, std::pair<int64_t, int64_t> lengths) {
    std::lock_guard lock(mutex_);
    return first_lengths_.try_emplace(family, lengths).first->second == lengths;
  }

  // The plan of that key, if need be by `make`, which another thread calls while it holds the mutex. Any thread.
  std::shared_ptr<Plans::Pending> begin_plan(const std::string& key, const Plans::Make& make);
  Plans& plans() { return plans_; }

 private:
  nvidia::OwnedHandle<Handle> handle_;
  void* stream_ = nullptr;  // that the handle was given
  std::mutex mutex_;
  std::map<std::string, bool> answers_;
  std::map<std::string, std::pair<int64_t, int64_t>> first_lengths_;  // by family of attentions
  Plans plans_;  // last: it ends first, and waits for the plan that is being made
};

// Owns a descriptor. Functions throw errors that the library reports.
class Descriptor {
 public:
  Descriptor(const Session& session, Kind kind);
  ~Descriptor();
  Descriptor(Descriptor&& o) noexcept : session_(o.session_), desc_(std::exchange(o.desc_, nullptr)) {}
  Descriptor(const Descriptor&) = delete;

  Desc get() const { return desc_; }
  void set(int attribute, Type type, int64_t count, const void* values);
  void set(int attribute, Type type, int value) { set(attribute, type, 1, &value); }
  void set(int attribute, int64_t value) { set(attribute, kTypeInt64, 1, &value); }
  void set(int attribute, const Descriptor& value) { set(attribute, kTypeDescriptor, 1, &value.desc_); }
  // Up to `most` values; how many there are.
  int64_t get(int attribute, Type type, int64_t most, void* values) const;
  void finalize();
  // False if the library does not support it.
  bool try_finalize();

 private:
  const Session& session_;
  Desc desc_ = nullptr;
};

}  // namespace thunder::cudnn
