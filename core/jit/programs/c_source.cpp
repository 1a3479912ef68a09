#include "jit/programs/c_source.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "executors/cpu/products.h"
#include "loops/cpu/launcher.h"
#include "program/plan_steps.h"

namespace thunder {
namespace {

std::string list(std::span<const int64_t> numbers) {
  return numbers.empty() ? "{ 0 }" : cat("{ ", join(numbers, ", ", [](int64_t n) { return n; }), " }");
}

// "for (int64_t x0 = 0; x0 < 4; x0++) for ..." over these sizes, and the sum of their indices times strides.
std::string loops_over(std::span<const int64_t> sizes) {
  std::string out;
  for (size_t i = 0; i < sizes.size(); i++)
    append(out, cat("for (int64_t x", i, " = 0; x", i, " < ", sizes[i], "; x", i, "++) "));
  return out;
}
std::string along(std::span<const int64_t> strides) {
  std::string out;
  for (size_t i = 0; i < strides.size(); i++)
    if (strides[i]) append(out, cat(" + x", i, " * ", strides[i]));
  return out;
}

class Writer {
 public:
  explicit Writer(const CProgram& program) : program_(program), plan_(program.entry.program->plan()) {
    place_data();
  }

  CSource write() {
    std::string body;
    for (size_t i = plan_.constant_steps; i < plan_.steps.size(); i++) {
      const Step& step = plan_.steps[i];
      number_ = i + 1 - plan_.constant_steps;
      const Node* n = step.node;
      append(body, cat("    /* ", number_, ": ", n ? said(*n) : "a copy", " */\n"));
      append(body, statement(step));
    }
    out_.header = c_header(program_, !out_.data.empty(), out_.data_changes);
    out_.source = cat("/* Written by `thunder export --c`. */\n#include \"", program_.name,
                      ".h\"\n\n#include <string.h>\n", kCRuntime, declarations(), "\n", c_signature(program_), "\n{\n",
                      unused(), body, "    return 0;\n}\n");
    return std::move(out_);
  }

 private:
  // ---- where things lie ----

  bool is_argument(size_t input) const { return !program_.entry.bindings[input].captured; }

  void place_data() {
    for (size_t i = 0; i < program_.entry.bindings.size(); i++) {
      data_at_.push_back(static_cast<int64_t>(out_.data.size()));
      const Ref<Tensor>& t = program_.entry.bindings[i].captured;
      if (!t) continue;
      require(t->contiguous(), "export: a captured tensor is strided");
      out_.data_changes |= plan_.inputs[i].written;
      add_data({t->data(), dense_bytes(t->type())});
    }
    constants_at_ = static_cast<int64_t>(out_.data.size());
    add_data(program_.entry.program->constants());
  }
  // From a multiple of 64 bytes on.
  void add_data(std::span<const std::byte> bytes) {
    out_.data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    out_.data.resize(static_cast<size_t>(aligned(out_.data.size())), '\0');
  }

  std::span<const int64_t> sizes(const BufferPlan& b) const {
    return std::span(plan_.layouts).subspan(b.layout, static_cast<size_t>(b.rank));
  }
  std::span<const int64_t> strides(const BufferPlan& b) const {
    return std::span(plan_.layouts).subspan(b.layout + static_cast<size_t>(b.rank), static_cast<size_t>(b.rank));
  }
  std::vector<int64_t> byte_strides(const BufferPlan& b, size_t from = 0) const {
    std::vector<int64_t> out;
    for (const int64_t s : strides(b).subspan(from)) out.push_back(s * static_cast<int64_t>(size_of(b.dtype)));
    return out;
  }

  // Its first byte.
  std::string place(const BufferPlan& b) const {
    const auto at = [&](const std::string& base, int64_t offset) {
      return offset ? cat("(", base, " + ", offset, ")") : base;
    };
    switch (b.place) {
      case Place::arena: return at("workspace_", b.offset);
      case Place::constant: return at(cat(program_.name, "_data"), constants_at_ + b.offset);
      case Place::output: return at(cat("(unsigned char *)out", b.index), b.offset);
      case Place::input: break;
    }
    return is_argument(b.index) ? at(cat("(unsigned char *)in", b.index), b.offset)
                                : at(cat(program_.name, "_data"), data_at_[b.index] + b.offset);
  }
  std::string elements(const BufferPlan& b) const { return cat("(", c_type(b.dtype), " *)", place(b)); }

  const BufferPlan& buffer(const Step& s, size_t i) const { return plan_.buffers[s.first + i]; }
  const BufferPlan& result(const Step& s) const { return plan_.buffers[s.first + s.n_inputs]; }

  // ---- the steps ----

  static std::string said(const Node& n) {
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
    if (!step.node) return copy(buffer(step, 0), result(step));
    const Node& n = *step.node;
    if (step.epilogue >= 0) refuse(n, "another step runs inside it");
    if (auto* kernel = dynamic_cast<const loops::CpuLauncher*>(program_.entry.program->launcher(step)))
      return call(step, *kernel);
    for (const ProductRow<float>& row : kProductRows<float>)
      if (n.op->name() == row.op && result(step).dtype == DType::f32) return product(step, row);
    if (n.op->name() == "prims.index_put" && !n.args[3].i) return index_put(step);
    refuse(n, "it is neither part of a kernel nor a product of f32 nor an index_put without accumulate");
  }

  std::string copy(const BufferPlan& from, const BufferPlan& to) const {
    return cat("    {\n        static const int64_t sizes[] = ", list(sizes(from)), ", to[] = ", list(byte_strides(to)),
               ", from[] = ", list(byte_strides(from)), ";\n        copy(", from.rank, ", sizes, ", place(to), ", to, ",
               place(from), ", from, ", size_of(from.dtype), ");\n    }\n");
  }

  std::string call(const Step& step, const loops::CpuLauncher& kernel) {
    std::string buffers;
    for (size_t i = 0; i < size_t{step.n_inputs} + step.n_outputs; i++)
      append(buffers, cat(i ? ", " : "", place(buffer(step, i))));
    const bool refuses = std::any_of(kernel.nest().exprs.begin(), kernel.nest().exprs.end(),
                                     [](const loops::Expr& e) { return e.fn == loops::Fn::gather; });
    const std::string name = cat(program_.name, "_kernel_", number_of(kernel.nest()));
    const std::string begin = cat("    {\n        void *buffers[] = { ", buffers,
                                  " };\n        static const int64_t parameters[] = ", list(kernel.arguments()),
                                  ";\n        struct refusal refused = { -1, 0 };\n");
    const std::string end = refuses ? cat("        if (refused.expr >= 0) return ", number_, ";\n") : "";
    if (kernel.partials().chunks()) return cat(begin, call_by_chunks(step, kernel, name), end, "    }\n");
    return cat(begin, "        ", name, "(buffers, parameters, 0, ", kernel.items(), ", &refused);\n", end, "    }\n");
  }

  // As the library does it, in the order of loops::PartialSums: each chunk of the work sums for itself, then neighbours
  // are added up, then pairs of pairs. The first chunk's sums are in the result where that has their type.
  std::string call_by_chunks(const Step& step, const loops::CpuLauncher& kernel, const std::string& name) const {
    const loops::PartialSums& partials = kernel.partials();
    const int64_t chunks = partials.chunks(), items = kernel.items();
    std::string zero, add;
    for (size_t i = 0; i < partials.sums().size(); i++) {
      const loops::ColumnSum& sum = partials.sums()[i];
      const BufferPlan& out = buffer(step, sum.argument);
      const std::string_view type = c_type(sum.dtype);
      const std::string scratch = cat("workspace_ + ", step.scratch + static_cast<int64_t>(partials.offset(i)));
      const auto at = [&](std::string_view chunk) {
        return cat("sums(", chunk, ", ", out.dtype == sum.dtype ? place(out) : scratch, ", ", scratch, ", ",
                   partials.chunk_bytes(), ")");
      };
      append(zero, cat("            buffers[", sum.argument, "] = memset(", at("c"), ", 0, ",
                       sum.elements * static_cast<int64_t>(size_of(sum.dtype)), ");\n"));
      append(add, cat("        for (int64_t many = 1; many < ", chunks, "; many *= 2)\n            for (int64_t c = 0;",
                      " c + many < ", chunks, "; c += 2 * many) {\n                ", type, " *to = ", at("c"), ";\n",
                      "                const ", type, " *more = ", at("c + many"), ";\n                ",
                      "for (int64_t i = 0; i < ", sum.elements, "; i++) to[i] += more[i];\n            }\n"));
      if (out.dtype != sum.dtype)
        append(add, cat("        for (int64_t i = 0; i < ", sum.elements, "; i++) (", elements(out), ")[i] = (",
                        c_type(out.dtype), ")((", type, " *)(", at("0"), "))[i];\n"));
    }
    return cat("        for (int64_t c = 0; c < ", chunks, "; c++) {\n", zero, "            ", name,
               "(buffers, parameters, ", items, " * c / ", chunks, ", ", items, " * (c + 1) / ", chunks,
               ", &refused);\n        }\n", add);
  }

  // Equal nests are one kernel.
  size_t number_of(const loops::CpuNest& nest) {
    const auto [at, is_new] = kernels_.try_emplace(print(nest), kernels_.size() + 1);
    if (is_new) out_.kernels.push_back(&nest);
    return at->second;
  }

  // Operands are told apart by addresses that are none.
  std::string product(const Step& step, const ProductRow<float>& row) const {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < size_t{step.n_inputs} + step.n_outputs; i++) {
      const BufferPlan& b = buffer(step, i);
      Buffer made;
      made.rank = b.rank, made.dtype = b.dtype;
      if (b.rank >= 0) made.shape = sizes(b).data(), made.strides = strides(b).data(), made.data = fake(i);
      buffers.push_back(made);
    }
    Launch launch;
    launch.inputs = buffers.data(), launch.n_inputs = step.n_inputs;
    launch.outputs = buffers.data() + step.n_inputs, launch.n_outputs = step.n_outputs;
    BatchedProduct<float> all = row.products(&launch);
    all.simplify();
    const Product& p = all.each;
    std::vector<int64_t> batch, a, b, c;
    for (size_t i = 0; i < all.rank; i++) {
      batch.push_back(all.batch[i].size);
      a.push_back(all.batch[i].a), b.push_back(all.batch[i].b), c.push_back(all.batch[i].c);
    }
    const auto operand = [&](const float* data, std::span<const int64_t> by) {
      for (size_t i = 0; i < buffers.size(); i++)
        if (data == fake(i)) return cat(elements(buffer(step, i)), along(by));
      fail(Code::internal, "a product reads what is none of its operands");
    };
    return cat("    ", loops_over(batch), "product(", p.m, ", ", p.n, ", ", p.k, ", ", operand(p.a.data, a), ", ",
               p.a.row, ", ", p.a.column, ", ", operand(p.b.data, b), ", ", p.b.row, ", ", p.b.column, ", ",
               all.bias ? operand(all.bias, {}) : "NULL", ", ", all.bias_step, ", ", operand(p.c, c), ", ", p.c_row,
               ");\n");
  }
  static float* fake(size_t i) { return reinterpret_cast<float*>((i + 1) << 20); }

  // As the op's kernel does it: all indices are looked at before anything is stored.
  std::string index_put(const Step& step) const {
    const BufferPlan &in = buffer(step, 0), &values = buffer(step, step.n_inputs - 1), &out = result(step);
    const size_t count = step.n_inputs - 2, lead = static_cast<size_t>(buffer(step, 1).rank);
    std::string reads, checks, offset;
    for (size_t k = 0; k < count; k++) {
      const BufferPlan& index = buffer(step, k + 1);
      const int64_t size = sizes(out)[k];
      append(reads, cat("const int64_t n", k, " = *(", elements(index), along(strides(index)), "); "));
      append(checks, cat("if (n", k, " < ", -size, " || n", k, " >= ", size, ") return ", number_, "; "));
      append(offset, cat(" + (n", k, " < 0 ? n", k, " + ", size, " : n", k, ") * ", byte_strides(out)[k]));
    }
    const std::string loops = loops_over(sizes(buffer(step, 1)));
    std::vector<int64_t> by = byte_strides(values);
    by.resize(lead);
    return cat(place(in) == place(out) ? "" : copy(in, out), "    ", loops, "{ ", reads, checks, "}\n    {\n",
               "        static const int64_t sizes[] = ", list(sizes(out).subspan(count)), ", to[] = ",
               list(byte_strides(out, count)), ", from[] = ", list(byte_strides(values, lead)), ";\n        ", loops,
               "{ ", reads, "copy(", static_cast<size_t>(out.rank) - count, ", sizes, ", place(out), offset, ", to, ",
               place(values), along(by), ", from, ", size_of(out.dtype), "); }\n    }\n");
  }

  // ---- around the steps ----

  std::string unused() const {
    std::string out = "    unsigned char *const workspace_ = workspace;\n    (void)workspace_;\n";
    for (size_t i = 0; i < plan_.inputs.size(); i++)
      if (is_argument(i)) append(out, cat("    (void)in", i, ";\n"));
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

  const CProgram& program_;
  const Plan& plan_;
  CSource out_;
  size_t number_ = 0;  // of the step that is written
  std::vector<int64_t> data_at_;  // by input
  int64_t constants_at_ = 0;
  std::map<std::string, size_t> kernels_;  // by text
};

}  // namespace

CSource c_source(const CProgram& program) { return Writer(program).write(); }

}  // namespace thunder
