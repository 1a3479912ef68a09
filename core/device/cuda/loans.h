// Device memory lent by other libraries: it is given back when the library's work on it has finished.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "device/cuda/driver.h"

namespace thunder::nvidia {

// Any thread. Callbacks at the end of a loan are called by threads that call this, without any lock of ours.
class Loans {
 public:
  explicit Loans(const Driver& driver) : driver_(driver) {}
  // The lender of this memory works on that stream. Throws std::bad_alloc.
  void follow(const void* memory, Stream stream);
  // Returns the stream named for this memory, and forgets it; null: none was named.
  Stream followed(const void* memory) noexcept;
  // `end(user)` is called when what the stream holds by now is done: at once if there is nothing, else by a settle().
  // Requires, of all: the device's context is current; the stream is always the same.
  void end_behind(Stream stream, void (*end)(void*), void* user) noexcept;
  // Ends those whose work is done.
  void settle() noexcept;
  // Requires: the stream is idle.
  void settle_all() noexcept;

 private:
  struct Loan {
    Event done;
    void (*end)(void*);
    void* user;
  };
  bool keep(Stream stream, void (*end)(void*), void* user) noexcept;
  void end_first(bool all) noexcept;
  bool take_first(bool all, Loan& out) noexcept;

  const Driver& driver_;
  std::mutex mutex_;
  std::deque<Loan> kept_;  // in the order of the stream
  std::map<const void*, Stream> followed_;
};

}  // namespace thunder::nvidia
