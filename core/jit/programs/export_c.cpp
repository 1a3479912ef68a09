#include "jit/programs/export_c.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "executors/cpu/products/batched_product.h"
#include "executors/cpu/table_executor.h"
#include "ir/symbols.h"
#include "jit/compile/compile.h"
#include "jit/context/resolve.h"
#include "jit/programs/c_source.h"
#include "loops/kernels.h"
#include "program/plan_steps.h"

namespace thunder {
namespace {

constexpr std::array kRows = {
    OptionRow{"name", ArgKind::string, "", "Of the function and the files; without it: that of the program's file."},
    OptionRow{"cpu", ArgKind::string, "",
              "The processor that kernels are for, as LLVM names it; \"native\" is this one. Without it: x86-64-v3 "
              "(AVX2 and FMA), or \"generic\" on AArch64."},
    OptionRow{"program", ArgKind::integer, "1", "Which of a file's programs, where it holds several."},
};

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string file_stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  return std::string(path.substr(0, path.find('.')));
}

// A matrix product that is only written as C, never run here.
class CProduct : public Kernel {
 public:
  CProduct() : Kernel(this) {}
  Status* run(const Launch*) const {
    return make<Status>(Code::unimplemented, "a product of tensors that never change is not written as C").detach();
  }
};

ExecutorDesc c_products() {
  ExecutorDesc d;
  d.name = "c";
  for (const ProductRow<float>& row : kProductRows<float>) d.ops.emplace_back(row.op);
  d.flags = kStrided;
  d.claim = all_tensors_are<DType::f32>;
  d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<CProduct>(); };
  return d;
}

const SavedProgram& choose_program(const SavedFunction& function, const Options& options, std::string_view file) {
  const std::vector<SavedProgram>& all = function.programs();
  const int64_t number = options.integer("program", 1);
  require(options.find("program") || all.size() == 1, "export: '", file, "' holds ", all.size(),
          " programs; the option 'program' says which");
  require(number >= 1 && static_cast<size_t>(number) <= all.size(), "export: there is no program ", number, " in '",
          file, "', which holds ", all.size());
  const SavedProgram& p = all[static_cast<size_t>(number) - 1];
  if (!used_symbols(p.trace).empty())
    fail(Code::unimplemented, "export: program ", number, " of '", file,
         "' is for sizes that vary; compile it with dynamic = false");
  return p;
}

// Values of a call that this program was made for; elements do not matter.
Ref<Values> make_example_values(const SavedProgram& p, const Allocator& allocator) {
  std::vector<Leaf> leaves;
  for (const SavedInput& in : p.inputs) {
    leaves.push_back(in.constant);
    if (in.argument == SavedInput::kConstant) continue;
    const TensorType& type = p.trace.type(p.trace.inputs[in.argument].value);
    require(!type.weak, "export: argument ", in.argument + 1,
            " is a plain number that may vary; give a tensor in its place");
    leaves.back().kind = ArgKind::value;
    leaves.back().tensor = Tensor::empty(allocator, type);
    std::memset(leaves.back().tensor->data(), 0, dense_bytes(type));
  }
  auto out = make<Values>();
  out->assign(std::move(leaves), p.structure);
  return out;
}

struct Target {
  std::string triple, cpu, features;
};
Target target_of(const Machine& machine, const Options& options) {
  const loops::HostTarget host = loops::host_target();
  const std::string cpu = options.text("cpu", "");
  if (cpu == "native") return {host.triple, host.cpu, host.features};
  const bool x86 = host.triple.starts_with("x86_64"), small = machine.instructions == Instructions::none;
  return {host.triple, !cpu.empty() ? cpu : !x86 ? "generic" : small ? "x86-64" : "x86-64-v3", ""};
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return;
  fail(Code::failed_precondition, "export: cannot make the folder '", path,
       "': ", std::generic_category().message(errno));
}

std::string format_data_assembly(const std::string& name, bool changes) {
  return cat("/* Written by `thunder export --c`: the tensors that the program captured. */\n    .section ",
             changes ? ".data" : ".rodata", "\n    .balign 64\n    .globl ", name, "_data_\n", name,
             "_data_:\n    .incbin \"", name, "_data.bin\"\n    .section .note.GNU-stack,\"\",%progbits\n");
}

void write_all(const std::string& folder, const CProgram& program, const Target& target) {
  const CSource source = c_source(program);
  const std::string base = cat(folder, "/", program.name);
  std::vector<std::string> objects;
  for (size_t k = 0; k < source.kernels.size(); k++) {
    const loops::TargetOptions options{target.triple.c_str(), target.cpu.c_str(), target.features.c_str()};
    const loops::Object made =
        loops::compile_for(options, *source.kernels[k], cat(program.name, "_kernel_", k + 1).c_str());
    require(made.error.empty(), "export: ", made.error);
    objects.emplace_back(made.code.begin(), made.code.end());
  }
  make_folder(folder);
  for (size_t k = 0; k < objects.size(); k++) write_file(cat(base, "_kernel_", k + 1, ".o"), objects[k]);
  if (!source.data.empty()) {
    write_file(base + "_data.bin", source.data);
    write_file(base + "_data.S", format_data_assembly(program.name, source.data_changes));
  }
  write_file(base + ".h", source.header);
  write_file(base + ".c", source.source);
}

}  // namespace

std::span<const OptionRow> export_options() {
  return kRows;
}

void export_c(const Ref<Context>& context, const std::string& program, const std::string& folder,
              const Options* given) {
  const Options none, &options = given ? *given : none;
  options.check(kRows, "export");
  const std::string name = options.find("name") ? options.text("name", "") : file_stem(program);
  require(is_name(name), "export: '", name, "' is no name of a function in C; the option 'name' gives one");
  require(!is_taken_in_c(name), "export: '", name,
          "' means something else in C, in its headers or in the source that is ",
          "written; the option 'name' gives another");
  std::string why;
  if (!loops::can_compile(&why))
    fail(Code::failed_precondition, "export: there is nothing that compiles kernels: ", why);
  const LoadedProgram loaded = load_program(context, program, nullptr);
  const SavedProgram& p = choose_program(static_cast<const SavedFunction&>(*loaded.function), options, program);
  const Ref<Function> function = Ref<Function>::adopt(new SavedFunction(name, {p}));
  const Ref<Values> in = make_example_values(p, context->allocator());
  CompileOptions chosen;
  chosen.set("executors", Any::string("fusion"));
  chosen.add_executor(make<Executor>(c_products()));
  const Ref<CompileOptions> resolved = resolve_options(chosen, *context);
  InterruptCheck check(context->interrupts());
  const RecordEntry recording = recording_of(*context, *function, *in);
  const CompileSetup setup{context, resolved};
  const std::unique_ptr<Entry> entry = compile({setup, *in, check, recording});
  const Target target = target_of(context->machine(), options);
  write_all(folder, {name, target.cpu, *entry, context->random().get(), in->paths()}, target);
}

}  // namespace thunder
