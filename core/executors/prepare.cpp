#include "executors/prepare.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

class ExecutorPreparer : public Preparer {
 public:
  explicit ExecutorPreparer(Executors executors) : executors_(std::move(executors)) {}

  Prepared prepare(const Node& node, const Store& store) override {
    auto it = std::find_if(executors_.begin(), executors_.end(), [&](auto& e) { return node.executor && e->name() == node.executor; });
    for (; it != executors_.end(); ++it) {
      const ExecutorDesc& d = (*it)->desc();
      const NodeView view{node, store};
      if (!(*it)->claims(view)) continue;
      Prepared p{d.run, nullptr, d.drop, 0};
      Ref<Status> failed = Ref<Status>::adopt(d.prepare(view, &p.state, &p.scratch_bytes, d.user));
      if (failed && failed->code() == Code::declined) continue;
      if (failed) fail(Code::backend, "executor '", (*it)->name(), "' could not prepare ", node.op->name(), ": ", failed->message());
      return p;
    }
    fail(Code::unimplemented, node.op->name(), ": every executor that claimed it declined to prepare it");
  }

 private:
  Executors executors_;
};

}  // namespace

std::unique_ptr<Preparer> preparer(Executors executors) { return std::make_unique<ExecutorPreparer>(std::move(executors)); }

}  // namespace thunder
