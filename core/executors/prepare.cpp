#include "executors/prepare.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

class ExecutorPreparer : public Preparer {
 public:
  explicit ExecutorPreparer(Executors executors) : executors_(std::move(executors)) {}

  bool takes_strided(const Node& node) const override {
    // A line may pass on to a later executor, so all that could get it must take strides.
    for (auto it = claimant(node); it != executors_.end(); ++it)
      if (!((*it)->desc().flags & kStrided)) return false;
    return true;
  }

  Prepared prepare(const Node& node, const Store& store) override {
    for (auto it = claimant(node); it != executors_.end(); ++it) {
      const ExecutorDesc& d = (*it)->desc();
      const NodeView view{node, store};
      // Who claimed it is asked as it is (a region is no op that `claims` knows); the next ones must want it too.
      if (it != claimant(node) && !(*it)->claims(view)) continue;
      Prepared p{d.run, nullptr, d.drop, 0};
      Ref<Status> failed = Ref<Status>::adopt(d.prepare(view, &p.state, &p.scratch_bytes, d.user));
      if (failed && failed->code() == Code::declined) continue;
      if (failed) fail(Code::backend, "executor '", (*it)->name(), "' could not prepare ", node.op->name(), ": ", failed->message());
      return p;
    }
    fail(Code::unimplemented, node.op->name(), ": every executor that claimed it declined to prepare it");
  }

 private:
  Executors::const_iterator claimant(const Node& node) const {
    return std::find_if(executors_.begin(), executors_.end(), [&](auto& e) { return node.executor && e->name() == node.executor; });
  }
  Executors executors_;
};

}  // namespace

std::unique_ptr<Preparer> preparer(Executors executors) { return std::make_unique<ExecutorPreparer>(std::move(executors)); }

}  // namespace thunder
