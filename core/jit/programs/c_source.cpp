#include "jit/programs/c_source.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "jit/programs/c_ops.h"
#include "loops/cpu/launcher.h"

namespace thunder {
namespace {

class Writer {
 public:
  explicit Writer(const CProgram& program)
      : program_(program), plan_(program.entry.program->plan()), places_(program) {}

  CSource write() {
    std::string body;
    for (size_t i = plan_.constant_steps; i < plan_.steps.size(); i++) {
      const Step& step = plan_.steps[i];
      number_ = i + 1 - plan_.constant_steps;
      const Node* n = step.node;
      append(body, cat("    /* ", number_, ": ", n ? comment_for(*n) : "a copy", " */\n"));
      append(body, statement(step));
    }
    out_.data = places_.data(), out_.data_changes = places_.data_changes();
    out_.header = c_header(program_, !out_.data.empty(), out_.data_changes, places_.random_at().has_value());
    out_.source = cat("/* Written by `thunder export --c`. */\n#include \"", program_.name, ".h\"\n\n",
                      "#include <math.h>\n#include <string.h>\n", kCRuntime,
                      join(calls_, "", [](auto* c) { return c; }), declarations(), seed_function(), "\n",
                      c_signature(program_), "\n{\n", silence_unused(), body, "    return 0;\n}\n");
    return std::move(out_);
  }

 private:
  // ---- the steps ----

  static std::string comment_for(const Node& n) {
    std::string ops = std::string(n.op->name());
    if (!n.body.empty() && n.op->name() == "region")
      ops = cat("a kernel of ", join(n.body, ", ", [](const Node* line) { return line->op->name(); }));
    return c_comment(n.where ? cat(ops, " [at ", n.where, "]") : ops);
  }

  [[noreturn]] void refuse(const Node& n, std::string_view why) const {
    fail(Code::unimplemented, "export: ", n.op->name(), " cannot be written as C: ", why,
         n.where ? cat(" [at ", n.where, "]") : "");
  }

  std::string statement(const Step& step) {
    if (!step.node) return places_.copy(places_.buffer(step, 0), places_.result(step));
    const Node& n = *step.node;
    if (step.epilogue >= 0) refuse(n, "another step runs inside it");
    if (auto* kernel = dynamic_cast<const loops::CpuLauncher*>(step.kernel->launcher()))
      return call(step, *kernel);
    std::optional<CStatement> made = c_statement(places_, step, number_);
    if (!made) refuse(n, "it is neither part of a kernel nor an op that C is written for");
    if (made->calls && std::find(calls_.begin(), calls_.end(), made->calls) == calls_.end())
      calls_.push_back(made->calls);
    return std::move(made->text);
  }

  std::string call(const Step& step, const loops::CpuLauncher& kernel) {
    std::string buffers;
    for (size_t i = 0; i < size_t{step.n_inputs} + step.n_outputs; i++)
      append(buffers, cat(i ? ", " : "", places_.place(places_.buffer(step, i))));
    const bool refuses = std::any_of(kernel.nest().exprs.begin(), kernel.nest().exprs.end(),
                                     [](const loops::Expr& e) { return e.fn == loops::Fn::gather; });
    const std::string name = cat(program_.name, "_kernel_", number_of(kernel.nest()));
    const std::string begin = cat("    {\n        static const int64_t parameters[] = ", c_list(kernel.arguments()),
                                  ";\n        int refused = 0;\n");
    const std::string end =
        refuses ? cat("        if (refused) return ", number_, ";\n    }\n") : "        (void)refused;\n    }\n";
    if (kernel.partials().chunks()) return cat(begin, call_by_chunks(step, kernel, name, buffers), end);
    return cat(begin, "        void *const buffers[] = { ", buffers, " };\n        refused = run(", name,
               ", buffers, parameters, ", kernel.items(), ", ", kernel.grain(), ");\n", end);
  }

  // As the library does it, in the order of loops::PartialSums: each chunk of the work sums for itself, then neighbours
  // are added up, then pairs of pairs. The first chunk's sums are in the result where that has their type.
  std::string call_by_chunks(const Step& step, const loops::CpuLauncher& kernel, const std::string& name,
                             const std::string& buffers) const {
    const loops::PartialSums& partials = kernel.partials();
    const int64_t chunks = partials.chunks(), items = kernel.items();
    std::string zero, add;
    for (size_t i = 0; i < partials.sums().size(); i++) {
      const loops::ColumnSum& sum = partials.sums()[i];
      const BufferPlan& out = places_.buffer(step, sum.argument);
      const std::string_view type = c_type(sum.dtype);
      const std::string scratch = cat("workspace_ + ", step.scratch + static_cast<int64_t>(partials.offset(i)));
      const auto at = [&](std::string_view chunk) {
        return cat("sums(", chunk, ", ", out.dtype == sum.dtype ? places_.place(out) : scratch, ", ", scratch, ", ",
                   partials.chunk_bytes(), ")");
      };
      append(zero, cat("            buffers[", sum.argument, "] = memset(", at("c"), ", 0, ",
                       sum.elements * static_cast<int64_t>(size_of(sum.dtype)), ");\n"));
      append(add, cat("        for (int64_t many = 1; many < ", chunks, "; many *= 2)\n            for (int64_t c = 0;",
                      " c + many < ", chunks, "; c += 2 * many) {\n                ", type, " *to = ", at("c"), ";\n",
                      "                const ", type, " *more = ", at("c + many"), ";\n                ",
                      "for (int64_t i = 0; i < ", sum.elements, "; i++) to[i] += more[i];\n            }\n"));
      if (out.dtype != sum.dtype)
        append(add, cat("        for (int64_t i = 0; i < ", sum.elements, "; i++) (", places_.elements(out), ")[i] = (",
                        c_type(out.dtype), ")((", type, " *)(", at("0"), "))[i];\n"));
    }
    return cat("        PARALLEL_OR(refused)\n        for (int64_t c = 0; c < ", chunks,
               "; c++) {\n            void *buffers[] = { ", buffers,
               " };\n            struct refusal found = { -1, 0 };\n", zero, "            ", name,
               "(buffers, parameters, ", items, " * c / ", chunks, ", ", items, " * (c + 1) / ", chunks,
               ", &found);\n            refused |= found.expr >= 0;\n        }\n", add);
  }

  // The number of a nest's kernel; equal nests share one.
  size_t number_of(const loops::CpuNest& nest) {
    const auto [at, is_new] = kernels_.try_emplace(print(nest), kernels_.size() + 1);
    if (is_new) out_.kernels.push_back(&nest);
    return at->second;
  }

  // ---- around the steps ----

  std::string silence_unused() const {
    std::string out = "    unsigned char *const workspace_ = workspace;\n    (void)workspace_;\n";
    for (size_t i = 0; i < plan_.inputs.size(); i++)
      if (places_.is_argument(i)) append(out, cat("    (void)in", i, ";\n"));
    return out;
  }

  std::string declarations() const {
    std::string out;
    if (!out_.data.empty())
      append(out, cat("\nextern ", out_.data_changes ? "" : "const ", "unsigned char ", program_.name, "_data_[];\n",
                      "#define ", program_.name, "_data ((unsigned char *)", program_.name, "_data_)\n"));
    for (size_t k = 1; k <= out_.kernels.size(); k++)
      append(out, cat("void ", program_.name, "_kernel_", k,
                      "(void *const *buffers, const int64_t *parameters, int64_t begin, int64_t end, ",
                      "struct refusal *refused);\n"));
    return out;
  }

  std::string seed_function() const {
    if (!places_.random_at()) return "";
    return cat("\n", c_seed_signature(program_), "\n{\n    int64_t *const state = (int64_t *)(", program_.name,
               "_data + ", *places_.random_at(), ");\n    state[0] = seed, state[1] = 0;\n}\n");
  }

  const CProgram& program_;
  const Plan& plan_;
  const CPlaces places_;
  CSource out_;
  size_t number_ = 0;                      // of the step that is written
  std::vector<const char*> calls_;         // what statements call, each once
  std::map<std::string, size_t> kernels_;  // by text
};

}  // namespace

CSource c_source(const CProgram& program) {
  return Writer(program).write();
}

}  // namespace thunder
