// The user's message of a step's failure, or of an interrupt before it.
#include "base/text.h"
#include "program/origins.h"
#include "program/program.h"

namespace thunder {

// A step's failure in the user's terms: the op, its source location, and the executor. A binding's own exception is
// handed back as it is.
Status* Program::add_location(Status* failed, const Step& step) const noexcept {
  if (!step.node || !step.node->executor || failed->has_foreign()) return failed;
  try {
    if (failed->code() == Code::ok) {
      failed->release();
      failed =
          make<Status>(Code::callback, "it returned a status whose code is OK; NULL says that all went well").detach();
    }
    const Ref<Status> owned = Ref<Status>::adopt(failed);
    const Node& n = *step.node;
    const Origin origin = origin_of(written_trace(), n, owned->message());
    const std::string_view op = origin.written ? origin.written->op->name() : origin.line->op->name();
    const char* const where = origin.line->where ? origin.line->where : n.where;
    std::string_view says = owned->message();
    if (const std::string inner = cat(origin.line->op->name(), ": "); says.starts_with(inner))
      says.remove_prefix(inner.size());
    return make<Status>(owned->code(), cat(says.starts_with(op) ? "" : cat(op, ": "), says, " [",
                                           where ? cat("at ", where, ", ") : "", "run by executor '", n.executor, "']"))
        .detach();
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  }
}

// An exception of the host's language is handed back as it is.
Status* Program::describe_stop(Status* why, const Step& next) noexcept {
  if (why->has_foreign() || why->code() != kCancelled) return why;
  try {
    const Ref<Status> owned = Ref<Status>::adopt(why);
    const Node* n = next.node;
    return make<Status>(kCancelled, cat(owned->message(), n ? cat(" before ", n->op->name()) : "",
                                        "; no tensor was changed", n && n->where ? cat(" [at ", n->where, "]") : ""))
        .detach();
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  }
}

}  // namespace thunder
