// Reports that have a line for each step.
#include "base/text.h"
#include "program/report.h"

namespace thunder {
namespace {

std::string ops_of(const Step& step) {
  if (!step.node) return "copy";
  return join(nodes_of(*step.node), ", ", [](const Node* n) { return n->op->name(); });
}

// "step 3: prims.exp, prims.sum", then what `text` says of it: "" for steps that are left out.
template <class F>
std::string describe_each_step(const Program& program, F&& text) {
  std::string out;
  const Plan& plan = program.plan();
  for (size_t i = 0; i < plan.steps.size(); i++) {
    const Step& step = plan.steps[i];
    const auto add = [&](const Step& what, std::string_view between) {
      const std::string line = text(what, i);
      if (!line.empty()) out += cat("step ", i + 1, between, ops_of(what), line, "\n");
    };
    add(step, ": ");
    if (step.epilogue >= 0) add(plan.epilogues[static_cast<size_t>(step.epilogue)], ", on each tile: ");
  }
  return out;
}

std::string_view place_name(Place place) {
  switch (place) {
    case Place::arena: return "arena";
    case Place::input: return "input";
    case Place::output: return "output";
    case Place::constant: return "constants";
  }
  return "";
}

}  // namespace

std::string kernels_report(const Program& program) {
  return describe_each_step(program, [](const Step& step, size_t) {
    return step.node ? cat(" by ", step.node->executor, step.node->where ? cat(" at ", step.node->where) : "")
                     : std::string(", to a dense tensor");
  });
}

std::string joined_report(const Program& program) {
  const std::string out = describe_each_step(program, [](const Step& step, size_t i) {
    return step.follows ? cat(" is in the launch of step ", i + 1 - step.follows) : "";
  });
  return out.empty() ? "each step has a launch of its own\n" : out;
}

std::string code_report(const Program& program) {
  return describe_each_step(program, [](const Step& step, size_t) -> std::string {
    if (!step.kernel) return "";
    if (step.follows) return " is in the launch before";
    const Kernel& kernel = step.joined ? *step.joined : *step.kernel;
    return kernel.launcher() ? " runs code that was compiled for it" : " runs code of the library, or of its executor";
  });
}

std::string steps_report(const Program& program) {
  const Plan& plan = program.plan();
  const auto buffers = [&](uint32_t first, uint32_t count) {
    return join(std::span(plan.buffers).subspan(first, count), ", ", [&](const BufferPlan& b) {
      if (b.rank < 0) return std::string("nothing");
      const bool counts = b.place == Place::input || b.place == Place::output;
      return cat(place_name(b.place), counts ? cat(" ", b.index + 1) : "", " at ", b.offset);
    });
  };
  return describe_each_step(program, [&](const Step& step, size_t) {
    return cat(" reads ", step.n_inputs ? buffers(step.first, step.n_inputs) : "nothing", "; writes ",
               buffers(step.first + step.n_inputs, step.n_outputs),
               step.scratch_bytes ? cat("; scratch ", step.scratch_bytes, " bytes at ", step.scratch) : "");
  });
}

}  // namespace thunder
