// OpenXLA as an executor: it claims regions of what StableHLO has ops for, and runs each as a program of a PJRT plugin.
#include "base/text.h"
#include "executors/openxla/executable.h"
#include "executors/openxla/rows.h"

namespace thunder {
namespace {

using openxla::Executable;
using openxla::Module;
using openxla::Plugin;
using openxla::Val;

class OpenxlaRegion final : public Kernel {
 public:
  using Engine = Plugin;
  static constexpr std::string_view kName = "openxla";
  static bool claims(const NodeView& view) { return openxla::can_write(view.node, view.store); }

  // How many threads a region runs on is the plugin's affair.
  OpenxlaRegion(const Plugin& plugin, const Machine&, const NodeView& view)
      : Kernel(this),
        module_(openxla::write_module(view, plugin.is_on_host())),
        inputs_(count_inputs(view.node)),
        executable_(plugin, module_, inputs_, view.node.results.size(), plugin.is_on_host()) {}

  Status* run(const Launch* l) const {
    if (l->n_inputs == inputs_) return executable_.run({l->inputs, l->n_inputs}, {l->outputs, l->n_outputs});
    const SmallVector<Buffer, 8> in = present_inputs(*l);
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

EngineRow openxla_engine() { return engine_row<OpenxlaRegion>(); }

}  // namespace thunder
