#include "jit/programs/program_file.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "ir/print.h"
#include "jit/programs/compiled_programs.h"
#include "jit/programs/cache_artifacts.h"
#include "jit/programs/program_json.h"
#include "loops/kernels.h"
#include "tensor/safetensors.h"
#include "tracer/trace_reader.h"

namespace thunder {
namespace {

constexpr std::string_view kFormat = "thunder program";
// The key of the metadata that names the tensor with the machine code of kernels.
constexpr const char* kKernels = "kernels";

// The tensors of several programs: what is one view of one memory is one tensor in the file.
class Tensors {
 public:
  std::string add(const Ref<Tensor>& t, const Input& input) {
    const bool one = views_.count(key(*t));
    std::string& name = views_[key(*t)];
    if (one) return name;
    const std::string base = !input.name.empty()                 ? input.name
                             : input.source == Source::parameter ? "parameter"
                                                                 : "constant";
    name = base;
    for (int n = 2; !names_.insert({name, true}).second; n++) name = cat(base, "#", n);
    list.push_back({name, t});
    return name;
  }

  // Bytes that are no tensor of a program's.
  std::string add(std::string_view bytes, const Allocator& allocator) {
    TensorType type;
    type.dtype = DType::u8;
    type.shape = {static_cast<int64_t>(bytes.size())};
    Ref<Tensor> made = Tensor::empty(allocator, type);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(made->data()));
    Input named;
    named.name = "compiled kernels";
    return add(made, named);
  }

  // Memory that a call writes would show through in two tensors; in the file they are apart.
  void refuse_overlap(const Tensor& written) const {
    for (const NamedTensor& other : list)
      require(key(*other.tensor) == key(written) || !overlap(*other.tensor, written),
              "it writes a tensor that shares memory with '", other.name, "'; a file would hold them apart");
  }

  std::vector<NamedTensor> list;

 private:
  using Key = std::pair<const std::byte*, std::vector<int64_t>>;
  static Key key(const Tensor& t) {
    std::vector<int64_t> layout(t.sizes(), t.sizes() + t.type().rank());
    layout.insert(layout.end(), t.strides().begin(), t.strides().end());
    layout.push_back(static_cast<int64_t>(t.type().dtype));
    return {t.data(), std::move(layout)};
  }
  static bool overlap(const Tensor& a, const Tensor& b) {
    const auto range = [](const Tensor& t) {
      const Extent e = extent({t.sizes(), t.type().rank()}, t.strides(), size_of(t.type().dtype));
      return std::pair(t.data() + e.begin, t.data() + e.end);
    };
    return range(a).first < range(b).second && range(b).first < range(a).second;
  }
  std::map<Key, std::string> views_;
  std::map<std::string, bool> names_;
};

std::vector<std::string> symbol_names(std::string_view json, size_t most) {
  std::vector<std::string> names = read_names(json);
  require(names.size() <= most, "it names ", names.size(), " symbols, the trace has ", most);
  for (auto it = names.begin(); it != names.end(); ++it)
    require(it->empty() || std::find(names.begin(), it, *it) == it, "two symbols have the name '", *it, "'");
  return names;
}

class Loader {
 public:
  Loader(const Ref<Context>& context, const InputFile& file)
      : context_(context), path_(file.path()), file_(load_safetensors(file, context->allocator())) {
    for (auto& [key, value] : file_.metadata) metadata_.emplace(key, value);
    for (auto& t : file_.tensors) tensors_.emplace(t.name, t.tensor);
  }
  LoadedProgram load(const CompileOptions* given);

 private:
  template <class... T>
  [[noreturn]] void fail_data_lost(const T&... what) const {
    fail(Code::data_lost, "'", path_, "' is not a program that can be loaded: ", what...);
  }
  // Turns errors in a part into errors that name the file and the part.
  template <class F>
  auto read_part(std::string_view part, F&& read) const {
    try {
      return read();
    } catch (const Error& e) {
      if (e.code() == Code::out_of_memory || e.code() == Code::internal || e.code() == Code::data_lost) throw;
      if (e.code() == Code::unimplemented) fail(e.code(), "'", path_, "': ", part, ": ", e.message());
      fail_data_lost(part, ": ", e.message());
    }
  }

  std::string_view text(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) fail_data_lost("its metadata has no '", key, "'");
    return found->second;
  }

  void check_version() const {
    if (!metadata_.count("format") || text("format") != kFormat)
      fail_data_lost("its metadata does not say \"format\": \"", kFormat, "\"");
    const std::string_view version = text("version");
    int64_t number = 0;
    const auto read = std::from_chars(version.data(), version.data() + version.size(), number);
    if (read.ec != std::errc() || read.ptr != version.data() + version.size() || number < 1)
      fail_data_lost("its version is '", version.substr(0, 40), "'");
    if (number > kProgramFileVersion)
      fail(Code::unimplemented, "'", path_, "' is a program of version ", number,
           "; this library reads those up to version ", kProgramFileVersion);
  }

  SavedProgram program(size_t n) const {
    SavedProgram p;
    const std::string description = cat("program.", n), trace = cat("trace.", n);
    const std::vector<std::string> names = read_part(description, [&] { return read_program(text(description), p); });
    p.trace = read_part(trace, [&] { return read_trace(text(trace), context_->registry()); });
    read_part(description, [&] { return restore_memory_roots(p), 0; });
    p.formulas = collect_integer_formulas(p);
    if (const std::string symbols = cat("symbols.", n); metadata_.count(symbols))
      p.symbol_names = read_part(symbols, [&] { return symbol_names(text(symbols), p.trace.store->dims().symbols()); });
    if (names.size() != p.trace.inputs.size())
      fail_data_lost(description, ": it names ", names.size(), " tensors, the trace has ", p.trace.inputs.size(),
                     " inputs");
    for (const std::string& name : names) {
      const auto found = tensors_.find(name);
      if (!name.empty() && found == tensors_.end()) fail_data_lost(description, ": there is no tensor '", name, "'");
      p.captured.push_back(name.empty() ? nullptr : found->second);
    }
    return p;
  }

  void take_kernels(bool run) const;

  const Ref<Context>& context_;
  const std::string& path_;
  const SafeTensors file_;
  std::unordered_map<std::string, std::string_view> metadata_;
  std::unordered_map<std::string, Ref<Tensor>> tensors_;
};

// Machine code of a file runs as soon as a program is called, so it is taken only when the caller says so.
void Loader::take_kernels(bool run) const {
  const bool holds = metadata_.count(kKernels);
  if (!run) {
    if (holds && !loops::can_compile())
      context_->log(LogLevel::warning, LogName::perf_hints,
                    cat("'", path_, "' holds compiled kernels, which are not run, and there is no LLVM: ",
                        "set the option ", kRunKernels, " if you trust the file"));
    return;
  }
  require(holds, "'", path_, "' holds no compiled kernels for the option ", kRunKernels, "; compile_ahead writes them");
  const auto found = tensors_.find(std::string(text(kKernels)));
  if (found == tensors_.end() || found->second->type().dtype != DType::u8)
    fail_data_lost("its compiled kernels are not there");
  const Tensor& bytes = *found->second;
  Artifacts kernels = unpack({reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(bytes.elements())},
                             cat("'", path_, "'"));
  const std::string differs = mismatch(kernels, context_->machine());
  std::string why;
  if (differs.empty()) add_to_caches(std::move(kernels));
  else if (loops::can_compile(&why))
    context_->log(LogLevel::warning, LogName::perf_hints,
                  cat("'", path_, "': its kernels are compiled anew: ", differs));
  else
    fail(Code::failed_precondition, "'", path_, "': its compiled kernels cannot run here: ", differs,
         "; and there is no LLVM to compile others: ", why);
}

LoadedProgram Loader::load(const CompileOptions* given) {
  check_version();
  take_kernels(given && given->flag(kRunKernels, false));
  std::vector<SavedProgram> programs;
  const int64_t wanted = given ? given->integer(kProgram, 0) : 0;
  size_t n = 1;
  for (; metadata_.count(cat("program.", n)); n++)
    if (!wanted || wanted == static_cast<int64_t>(n)) programs.push_back(program(n));
  require(!wanted || !programs.empty(), "there is no program ", wanted, " in '", path_, "', which holds ", n - 1);
  auto function = read_part("its programs", [&] {
    return Ref<Function>::adopt(new SavedFunction(std::string(text("function")), std::move(programs)));
  });
  auto options = without_file_options(given);
  read_part("options", [&] {
    CompileOptions saved;
    read_options(text("options"), saved);
    saved.check(compile_options(), "compile");
    for (auto& [name, leaf] : saved.all())
      if (!options->find(name)) options->set(name, leaf);
    return 0;
  });
  return {std::move(function), std::move(options)};
}

}  // namespace

namespace {

// Whether the program needs version 2: features of symbols that readers of version 1 do not know.
bool has_symbols_of_version_2(const SavedProgram& p) {
  const auto stands_for_any = [](const SavedInput& in) { return in.symbol.has_value(); };
  return !p.conditions.empty() || !p.ranges.empty() || !p.roots.empty() ||
         std::any_of(p.inputs.begin(), p.inputs.end(), stands_for_any);
}

// Refuses to write what reading would refuse.
void check_ranks(const Trace& trace) {
  const auto check = [&](ValueId value) {
    const size_t rank = trace.type(value).rank();
    require(rank <= kMaxRank, "it has a tensor of ", rank, " dims; files hold those of at most ", kMaxRank);
  };
  for (const Input& in : trace.inputs) check(in.value);
  for (const Node* n : trace.nodes)
    for (const ValueId result : n->results) check(result);
}

}  // namespace

void save_program(const Compiled& compiled, const std::string& path, SaveKernels kernels) {
  const std::string& function = compiled.function().name();
  const auto refuse = [&](const Error& e) { fail(e.code(), "cannot save ", function, ": ", e.message()); };
  Tensors tensors;
  Metadata metadata = {{"format", std::string(kFormat)}, {"version", "1"}, {"function", function}};
  try {
    require(compiled.options().executors().empty(),
            "it was compiled with executors of its own; add them to the context, and name them");
    require(compiled.options().passes().empty(), "it was compiled with passes of its own, which a file cannot hold");
    metadata.emplace_back("options", options_json(compiled.options()));
    const std::vector<SavedProgram> programs = saved_programs(compiled);
    require(!programs.empty(), "nothing is compiled that could be saved; call it, or prepare it, first");
    if (std::any_of(programs.begin(), programs.end(), has_symbols_of_version_2)) metadata[1].second = "2";
    std::vector<const Tensor*> written;
    for (size_t n = 0; n < programs.size(); n++) {
      const SavedProgram& p = programs[n];
      check_ranks(p.trace);
      std::vector<std::string> names(p.trace.inputs.size());
      for (size_t i = 0; i < names.size(); i++)
        if (p.captured[i]) names[i] = tensors.add(p.captured[i], p.trace.inputs[i]);
      for (const Write& w : p.trace.writes)
        if (p.captured[w.input]) written.push_back(p.captured[w.input].get());
      metadata.emplace_back(cat("program.", n + 1), program_json(p, names));
      metadata.emplace_back(cat("trace.", n + 1), print(p.trace));
      if (!p.symbol_names.empty()) metadata.emplace_back(cat("symbols.", n + 1), names_json(p.symbol_names));
    }
    for (const Tensor* t : written) tensors.refuse_overlap(*t);
    if (kernels == SaveKernels::yes) {
      std::string why;
      if (!loops::can_run(&why)) fail(Code::failed_precondition, "there is nothing that compiles kernels: ", why);
      const std::string code = pack(collect_artifacts(compiled.context()->machine(), kernel_texts(compiled)));
      metadata.emplace_back(kKernels, tensors.add(code, compiled.context()->allocator()));
    }
  } catch (const Error& e) {
    refuse(e);
  }
  save_safetensors(path, tensors.list, metadata);
}

Ref<CompileOptions> without_file_options(const CompileOptions* given) {
  auto out = make<CompileOptions>();
  if (!given) return out;
  for (auto& [name, leaf] : given->all())
    if (name != kRunKernels && name != kProgram && name != kOutputs) out->set(name, leaf);
  for (const Ref<Executor>& e : given->executors()) out->add_executor(e);
  for (const Ref<CustomPass>& p : given->passes()) out->add_pass(p);
  return out;
}

LoadedProgram load_saved_program(const Ref<Context>& context, const InputFile& file, const CompileOptions* options) {
  return Loader(context, file).load(options);
}

}  // namespace thunder
