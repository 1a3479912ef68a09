#include "executors/openxla/openxla.h"

#include "base/text.h"
#include "executors/engines.h"
#include "executors/openxla/executable.h"
#include "executors/openxla/rows.h"

namespace thunder {
namespace {

using openxla::Executable;
using openxla::Module;
using openxla::Plugin;
using openxla::Val;

bool claims(const NodeView& view, void*) {
  return suits_engine(view) && openxla::writes(view.node, view.store);
}

class OpenxlaRegion final : public Kernel {
 public:
  OpenxlaRegion(const Plugin& plugin, const NodeView& view)
      : Kernel(this),
        module_(openxla::module_of(view, plugin.on_host())),
        inputs_(count_inputs(view.node)),
        executable_(plugin, module_, inputs_, view.node.results.size(), plugin.on_host()) {}

  Status* run(const Launch* l) const {
    if (l->n_inputs == inputs_) return executable_.run({l->inputs, l->n_inputs}, {l->outputs, l->n_outputs});
    const SmallVector<Buffer, 8> in = given_inputs(*l);
    return executable_.run({in.data(), in.size()}, {l->outputs, l->n_outputs});
  }
  std::string explain() const override { return module_; }

 private:
  static size_t count_inputs(const Node& n) {
    size_t out = 0;
    for_each_value(n.args, [&](ValueId) { out++; });
    return out;
  }

  const std::string module_;
  const size_t inputs_;
  const Executable executable_;
};

}  // namespace

ExecutorDesc openxla_executor(const Machine&) {
  ExecutorDesc d;
  d.name = "openxla";
  d.flags = kMayFail;
  d.claim = claims;
  d.claim_region = claims_all;
  d.prepare = [](const NodeView& view, void*) -> KernelPtr {
    std::string found;
    const Plugin* plugin = Plugin::open(found);
    if (!plugin) fail(Code::not_found, "executors: openxla is not available here: ", found);
    return std::make_unique<OpenxlaRegion>(*plugin, view);
  };
  return d;
}

bool openxla_opens(std::string_view file, std::string& found) {
  return Plugin::open(found, file) != nullptr;
}

}  // namespace thunder
