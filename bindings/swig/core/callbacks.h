// Functions of the language that the library calls.
//
// A language keeps its closures and its exceptions in a table of its own, by ticket, and the library knows the tickets
// alone. When it has no more use for one, on whichever thread, the ticket is put aside; the language asks next_dropped()
// when it gives out new ones. So nothing here ever touches an object of a collector.
#pragma once

namespace thunder_swig {

class Call;

long long new_ticket();
long long next_dropped();  // 0: none

// The call of the innermost callback that this thread runs: its arguments, and later its results; borrowed.
Call* callback();

// Where directors exist: the one object whose run() is called with the ticket of a closure. It must not raise.
class Dispatcher {
 public:
  virtual ~Dispatcher() {}
  virtual void run(long long ticket) = 0;
};
void set_dispatcher(Dispatcher* dispatcher);

#ifndef SWIG
// For languages without directors, a C function; it returns false when the closure was left by an exception or a jump.
void set_runner(bool (*run)(long long ticket));

// How a language gives up its lock around what may take long, and takes it again inside a callback.
struct Lock {
  void (*without)(void (*work)(void*), void* arg);
  void (*with)(void (*work)(void*), void* arg);
};
void set_lock(const Lock& lock);
#endif

}  // namespace thunder_swig
