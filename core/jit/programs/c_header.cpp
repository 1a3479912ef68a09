// The header of an exported program.
#include <algorithm>

#include "base/text.h"
#include "jit/programs/c_source.h"
#include "program/plan_steps.h"

namespace thunder {
namespace {

int64_t elements_of(const Sizes& sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

// The tensors of the interface: a line of the comment for each, and its number of elements.
struct Interface {
  const CProgram& program;
  std::string lines, constants;

  void add_constant(std::string_view of, int64_t value) {
    std::string upper = program.name;
    for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    append(constants, cat("#define ", upper, "_", of, " ", value, "\n"));
  }
  void add(std::string_view in_or_out, size_t i, const TensorType& type, const std::string& what) {
    append(lines, cat(" * ", in_or_out, i, ": ", c_comment(what), ", ", name(type), "\n"));
    add_constant(cat(in_or_out == "in" ? "IN" : "OUT", i, "_ELEMENTS"), elements_of(concrete(type.shape)));
  }
  void add_all() {
    const Plan& plan = program.entry.program->plan();
    for (size_t i = 0; i < plan.inputs.size(); i++) {
      const InputPlan& in = plan.inputs[i];
      if (program.entry.bindings[i].captured) continue;
      require(is_dense(concrete(in.type.shape), in.strides), "export: argument ", i,
              " is strided; call it with a dense one");
      add("in", i, in.type,
          cat("argument ", program.paths[program.entry.bindings[i].leaf], in.written ? ", which is written" : ""));
    }
    for (size_t i = 0; i < plan.outputs.size(); i++) add("out", i, plan.outputs[i].type, cat("result ", i));
    add_constant("WORKSPACE_BYTES", std::max<int64_t>(64, aligned(plan.arenas[0].bytes)));
  }
};

}  // namespace

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::i64:
      return "int64_t";
    case DType::i32:
      return "int32_t";
    case DType::u8:
    case DType::boolean:
      return "uint8_t";
    default:
      fail(Code::unimplemented, "export: there is no type for ", name(dtype), " in C");
  }
}

std::string c_comment(std::string text) {
  for (size_t at = text.find("*/"); at != text.npos; at = text.find("*/", at)) text.insert(at + 1, " ");
  return text;
}

std::string c_signature(const CProgram& program) {
  const Plan& plan = program.entry.program->plan();
  std::string out = cat("int ", program.name, "(");
  for (size_t i = 0; i < plan.inputs.size(); i++)
    if (!program.entry.bindings[i].captured)
      append(out, cat(plan.inputs[i].written ? "" : "const ", c_type(plan.inputs[i].type.dtype), " *in", i, ", "));
  for (size_t i = 0; i < plan.outputs.size(); i++)
    append(out, cat(c_type(plan.outputs[i].type.dtype), " *out", i, ", "));
  return out + "void *workspace)";
}

std::string c_seed_signature(const CProgram& program) {
  return cat("void ", program.name, "_seed(int64_t seed)");
}

std::string c_header(const CProgram& program, bool holds_data, bool data_changes, bool draws) {
  const std::string& name = program.name;
  Interface interface { program, "", "" };
  interface.add_all();
  return cat("/* ", name, ": written by `thunder export --c`. In this folder\n *     cc -O3 -c ", name, ".c",
             holds_data ? cat(" ", name, "_data.S") : "", "\n * makes what is linked with ", name,
             "_kernel_*.o and -lm; elsewhere -I says where the folder is. With -fopenmp, here and when it is linked, "
             "threads\n",
             " * share the work, and results are the same. The kernels are for ", program.cpu, ".\n *\n",
             interface.lines, " * All are dense, rows first.",
             draws ? " The function draws random numbers, those of seed 0 until another is given: one call at a time."
             : data_changes ? " The function changes tensors of its own, such as a cache: one call at a time."
                            : " Several threads may call at a time, each with a workspace of its own.",
             "\n * Gives 0, or the number of the step, as ", name,
             ".c counts them, that met an index which is out of range. */\n#ifndef ", name, "_h\n#define ", name,
             "_h\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
             "/* The workspace begins at a multiple of 64 bytes; what it holds is nothing to a call. */\n",
             interface.constants, "\n", c_signature(program), ";\n", draws ? cat(c_seed_signature(program), ";\n") : "",
             "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

}  // namespace thunder
