#include "callbacks.h"

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "call.h"
#include "scope.h"

namespace thunder_swig {

namespace {

const char kTag[] = "thunder_swig";

std::mutex dropped_mutex;
// Never destroyed: the library drops tickets on its own threads until the process has ended.
std::vector<long long>& dropped_tickets() {
  static auto* const tickets = new std::vector<long long>;
  return *tickets;
}

bool (*runner)(long long) = nullptr;
Dispatcher* dispatcher = nullptr;
Lock lock{};

Call*& current_call() {
  static thread_local Call* call = nullptr;
  return call;
}

bool run_closure(long long ticket) {
  if (runner) return runner(ticket);
  if (!dispatcher) return false;
  dispatcher->run(ticket);
  return true;
}

void invoke_work(void* work) { (*static_cast<const std::function<void()>*>(work))(); }

// The closure's results, or its failure as a status.
thunder_status* return_results(Call& call, bool came_back, thunder_scope* scope, thunder_values* out, Results results) {
  if (!came_back) call.fail("a callback ended without returning", 0);
  if (!call.failed()) {
    Items& items = call.items();
    if (results == Results::each && !items.empty() && items[0].kind == ITEM_LIST)
      items = Items(items.begin() + 1, items.end() - 1);
    fill_values(items, out);
    return nullptr;
  }
  // An op that failed is the scope's first error and stays so; the exception that it became goes with it.
  thunder_status* status = thunder_scope_status(scope);
  if (!status) return thunder_status_retain(call.status());
  if (const long long ticket = call.ticket())
    thunder_status_set_foreign(status, kTag, ticket_create(ticket), ticket_destroy);
  return status;
}

}  // namespace

thunder_status* run_callback(long long ticket, thunder_scope* scope, const thunder_values* in, thunder_values* out,
                             Results results) {
  Call call, *const outer = current_call();
  thunder_scope* const outer_scope = current_scope();
  thunder_status* status = nullptr;
  current_call() = &call, current_scope() = scope;
  try {
    call.items() = items_of(in, thunder_scope_is_tracing(scope));
    bool came_back = false;
    const std::function<void()> work = [&] { came_back = run_closure(ticket); };
    if (lock.with)
      lock.with(invoke_work, const_cast<std::function<void()>*>(&work));
    else
      work();
    status = return_results(call, came_back, scope, out, results);
  } catch (const Refusal& refusal) {
    status = refusal.status;
  } catch (const std::exception& thrown) {
    call.fail(thrown.what(), 0);
    status = thunder_status_retain(call.status());
  } catch (...) {
    call.fail("a callback threw something unknown", 0);
    status = thunder_status_retain(call.status());
  }
  current_call() = outer, current_scope() = outer_scope;
  return status;
}

long long new_ticket() {
  static std::atomic<long long> last{0};
  return ++last;
}

long long next_dropped() {
  const std::lock_guard<std::mutex> guard(dropped_mutex);
  if (dropped_tickets().empty()) return 0;
  const long long ticket = dropped_tickets().back();
  dropped_tickets().pop_back();
  return ticket;
}

void* ticket_create(long long ticket) { return new long long(ticket); }

void ticket_destroy(void* user) {
  auto* const ticket = static_cast<long long*>(user);
  {
    const std::lock_guard<std::mutex> guard(dropped_mutex);
    dropped_tickets().push_back(*ticket);
  }
  delete ticket;
}

long long ticket_of(const thunder_status* status) {
  const void* found = thunder_status_foreign(status, kTag);
  return found ? *static_cast<const long long*>(found) : 0;
}

thunder_status* failure_of(const char* message, long long ticket) {
  const std::string text = message ? message : "";
  thunder_status* made = thunder_status_create(THUNDER_CALLBACK, text.data(), text.size());
  if (ticket) thunder_status_set_foreign(made, kTag, ticket_create(ticket), ticket_destroy);
  return made;
}

Call* callback() { return current_call(); }
void set_dispatcher(Dispatcher* given) { dispatcher = given; }
void set_runner(bool (*run)(long long)) { runner = run; }
void set_lock(const Lock& given) { lock = given; }

thunder_fn callback_function() {
  return [](thunder_scope* scope, const thunder_values* in, thunder_values* out, void* user) {
    return run_callback(*static_cast<long long*>(user), scope, in, out, Results::one);
  };
}

void without_lock(const std::function<void()>& work) {
  if (lock.without)
    lock.without(invoke_work, const_cast<std::function<void()>*>(&work));
  else
    work();
}

}  // namespace thunder_swig
