// What the sweep of allocations runs: scenarios, short programs of a user that check what every call says.
#pragma once

#include <cstddef>
#include <utility>

#include "thunder.h"
#include "thunder/ops.h"

namespace faults {

// One run of a scenario: its context, and the first failure that a call reported.
class Trial {
 public:
  thunder_context* context = nullptr;
  const char* folder = nullptr;  // of the trial's own
  int round = 0;                 // what is registered under a name in the context needs another one each time
  int given = 0, destroyed = 0;  // users handed over with a destroy function, and destroyed

  // Takes the status over. False after a failure: the scenario then returns.
  bool ok(thunder_status* status, const char* call);
  // What must hold whatever failed; a wrong value is never an answer.
  bool right(bool holds, const char* claim);

  bool failed() const { return failed_; }
  thunder_code code() const { return code_; }
  const char* message() const { return message_; }
  const char* wrong() const { return wrong_; }
  void start() { *this = Trial(context, folder, round + 1); }

  Trial() = default;

 private:
  Trial(thunder_context* c, const char* f, int r) : context(c), folder(f), round(r) {}
  bool failed_ = false;
  thunder_code code_ = THUNDER_OK;
  char message_[240] = "";
  const char* wrong_ = nullptr;
};

// For destroy(user) with the trial as the user.
inline void* take(Trial& t) {
  t.given++;
  return &t;
}
inline void destroy(void* user) { static_cast<Trial*>(user)->destroyed++; }

#define FAULTS_OK(call)                   \
  do {                                    \
    if (!trial.ok(call, #call)) return;   \
  } while (0)
#define FAULTS_RIGHT(holds)                     \
  do {                                          \
    if (!trial.right(holds, #holds)) return;    \
  } while (0)

// Owns a handle; its address is what `out` parameters take.
template <class T, void (*release)(T*)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* handle) : handle_(handle) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { release(handle_); }
  operator T*() const { return handle_; }
  T** out() { return &handle_; }

 private:
  T* handle_ = nullptr;
};
using Context = Owned<thunder_context, thunder_context_release>;
using Tensor = Owned<thunder_tensor, thunder_tensor_release>;
using Values = Owned<thunder_values, thunder_values_release>;
using Scope = Owned<thunder_scope, thunder_scope_release>;
using Function = Owned<thunder_function, thunder_function_release>;
using Compiled = Owned<thunder_compiled, thunder_compiled_release>;
using Options = Owned<thunder_options, thunder_options_release>;
using Trace = Owned<thunder_trace, thunder_trace_release>;
using Executor = Owned<thunder_executor, thunder_executor_release>;
using Pass = Owned<thunder_pass, thunder_pass_release>;
using Module = Owned<thunder_module, thunder_module_release>;
using Optimizer = Owned<thunder_optimizer, thunder_optimizer_release>;
using Schedule = Owned<thunder_schedule, thunder_schedule_release>;
using Batches = Owned<thunder_batches, thunder_batches_release>;

struct Scenario {
  const char* name;
  void (*run)(Trial& trial);
  bool own_context = false;  // makes its context itself
};
// In the order in which they are swept.
struct Scenarios {
  const Scenario* first;
  size_t count;
};
Scenarios basic_scenarios();
Scenarios compile_scenarios();
Scenarios module_scenarios();
Scenarios setter_scenarios();
Scenarios extend_scenarios();

// A dense f32 tensor with the elements 1, 2, 3 ..., times `scale`.
thunder_status* counting(thunder_context* context, size_t rank, const int64_t* shape, float scale, thunder_tensor** out);
// The first elements of an f32 tensor.
thunder_status* first_of(thunder_tensor* tensor, float* to, size_t count);
bool near(float a, float b);
// Programs without the executors that are libraries of others: what LLVM and oneDNN do without memory is theirs.
thunder_status* own_code_only(thunder_context* context, thunder_options** out);

}  // namespace faults
