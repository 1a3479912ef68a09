// The context that a language uses, and the scope in which an op of this thread runs.
#pragma once
#include <thunder.h>

#include <functional>

namespace thunder_swig {

thunder_context* context();  // one for the process, never released; throws Refusal

// The scope of the innermost callback, or none.
thunder_scope*& current_scope();
// That, or the thread's own eager scope.
thunder_scope* scope_now();
// Throws what went wrong in it.
void scope_check(thunder_scope* scope);
// Frees what an eager scope made, once the results are retained.
void scope_done(thunder_scope* scope);

// "file:line" in storage that is never freed, or NULL of "".
const char* intern_place(const char* where);

// Runs with the language's lock released, when nothing is being recorded.
void without_lock(const std::function<void()>& work);

thunder_fn callback_function();  // runs the closure whose ticket `user` is
enum class Results { one, each };  // what a closure returned is one result, or a list of them
thunder_status* run_callback(long long ticket, thunder_scope* scope, const thunder_values* in, thunder_values* out,
                             Results results);
void* ticket_create(long long ticket);
void ticket_destroy(void* user);
// A status for a failure in the language's code; `ticket` names its exception, 0 if there is none.
thunder_status* failure_of(const char* message, long long ticket);
// The ticket of the exception that a callback raised; 0: none.
long long ticket_of(const thunder_status* status);

}  // namespace thunder_swig
