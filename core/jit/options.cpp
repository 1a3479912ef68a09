#include "jit/options.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "jit/context.h"
#include "compile/run_stages.h"

namespace thunder {
namespace {

constexpr int64_t kRecompileLimit = 8, kAccumulatedRecompileLimit = 256;

constexpr std::array kOptions = {
    OptionRow{"executors", ArgKind::string, "",
              "Executors by name, highest priority first; host always ends the list. Without it: the built-in ones."},
    OptionRow{"engine_library", ArgKind::string, "",
              "The file of the library of the engine that `backend` or `executors` names, in place of what is looked "
              "for (docs/engines.md). A process opens one of each engine, when it is first named."},
    OptionRow{"disable_passes", ArgKind::string, "", "Optional passes to leave out, by name."},
    OptionRow{"float32_matmul_precision", ArgKind::string, "highest",
              "What matmul and linear of float32 may do to be faster: \"highest\" keeps float32, \"high\" takes a "
              "number as the sum of two bfloat16 (16 bits of 24 count), \"medium\" as one. Sums are float32. On CUDA "
              "devices both round a number to TF32 (10 bits after the point) where that is faster. Without the "
              "instructions for it, and beside `executors`: highest."},
    OptionRow{"allow_reciprocal", ArgKind::boolean, "false",
              "Whether a division by numbers that repeat, such as one for each row, may be a multiplication by their "
              "reciprocals, which is faster and may be off by one rounding: x / x need not be 1, and a divisor whose "
              "reciprocal overflows gives inf. LLVM's flag of that name."},
    OptionRow{"cudnn_allow_tf32", ArgKind::boolean, "false",
              "Whether convolutions of float32 on CUDA devices may round a number to TF32 (10 bits after the point), "
              "which tensor cores multiply. Sums are float32. Beside `executors`: no effect. PyTorch's setting of that "
              "name is true by default."},
    OptionRow{"backend", ArgKind::string, "thunder",
              "A name for executors that are asked before those of `executors`, or before the built-in ones, and for "
              "passes that are left out: \"thunder\", \"cudagraphs\", \"eager\", \"aot_eager\", \"host\", or one that "
              "was registered. docs/compile_options.md."},
    OptionRow{"mode", ArgKind::string, "default",
              "A name for several options, as in PyTorch: \"reduce-overhead\" is use_cudagraphs, "
              "\"max-autotune-no-cudagraphs\" is max_autotune, \"max-autotune\" both, \"lite\" is backend = "
              "\"eager\"."},
    OptionRow{"use_cudagraphs", ArgKind::boolean, "false",
              "Steps on a CUDA device are recorded at the second call and launched as one graph from then on, which "
              "costs the host a few microseconds, whatever the number of kernels. docs/cuda.md says which "
              "tensors are copied for it and what cannot be recorded; the memory report says what was, or why not."},
    OptionRow{"freezing", ArgKind::boolean, "false",
              "Captured tensors that the function does not write are constants: what depends on them alone is computed "
              "once, and again after they were written."},
    OptionRow{"max_autotune", ArgKind::boolean, "false",
              "Each product of float32, and of all dtypes on CUDA devices, is timed once in several ways when it is "
              "compiled, and computed in the fastest; what was found is kept on disk. On CUDA devices these are the "
              "first eight algorithms that cuBLASLt proposes. Results may differ in rounding. Beside `executors`: no "
              "effect."},
    OptionRow{"donate_argnums", ArgKind::string, "",
              "Arguments, by number, in whose memory the program may keep what it computes once it has read them: less "
              "memory is in use at one time. It is taken where nobody else holds the tensor, as in C where its handle "
              "was released when the values had it; another's is copied first. What was taken is gone when the call "
              "ends. JAX's option of that name."},
    OptionRow{"verify", ArgKind::boolean, "false", "Check the trace after every pass."},
    OptionRow{"cache", ArgKind::string, "constant values",
              "When a program is used again: \"constant values\" where sizes, dtypes, layouts and plain values are "
              "what they were; \"symbolic values\" also where sizes of 2 and more and integers are others, which is "
              "`dynamic` = true; \"same input\" always: the caller promises that only the elements of tensors change, "
              "and a call whose tensors have another dtype, rank, layout or number of bytes is an error; \"no "
              "caching\" never."},
    OptionRow{"always_trace", ArgKind::boolean, "false", "An older name of `cache` = \"no caching\"."},
    OptionRow{"use_last_executed", ArgKind::boolean, "false", "An older name of `cache` = \"same input\"."},
    OptionRow{"use_static_caching", ArgKind::boolean, "false", "An older name of `cache` = \"constant values\"."},
    OptionRow{
        "dynamic", ArgKind::boolean, "null",
        "Which sizes of 2 and more stand for any: without it, those that have been seen to vary, from the second call "
        "on; true: all, from the first call on; false: none, marked ones neither. The function is traced once, and "
        "compiled of that trace for other sizes, unless it looks at them or writes tensors in place. docs/dynamic.md."},
    OptionRow{"dynamic_shapes", ArgKind::string, "",
              "Names of sizes by argument: \"0:s0,*;1:(s0*s1),64\" says that the first size of argument 0 stands for "
              "any, and that the first one of argument 1 is it times another. \"*\" and numbers say nothing. Sizes of "
              "one name must be equal. torch.export's option of that name, as text."},
    OptionRow{"automatic_dynamic_shapes", ArgKind::boolean, "true",
              "false: without `dynamic` none but those that are marked."},
    OptionRow{"recompile_limit", ArgKind::integer, "8",
              "Programs kept for good for one function, at least 1. Past it, after one warning, all sizes of 2 and "
              "more stand for any, and of the programs beyond these those used last are kept; with `dynamic` = false a "
              "call that no program fits is compiled for itself alone, without executors that fuse."},
    OptionRow{"accumulated_recompile_limit", ArgKind::integer, "256",
              "How often one function is compiled at all, but for other sizes of one trace. Past it, after one "
              "warning, a call that no program fits runs op by op."},
    OptionRow{"fail_on_recompile_limit", ArgKind::boolean, "false", "An error instead, naming what differed."},
    OptionRow{
        "fullgraph", ArgKind::boolean, "true",
        "Whether the function must be one program. false: where it reads a value of a tensor, what it has recorded is "
        "compiled and run, and it goes on with the value; such a function runs again at each call. docs/segments.md."},
    OptionRow{"disable", ArgKind::boolean, "false", "Nothing is compiled: each call runs the function op by op."},
    OptionRow{"progress", ArgKind::none, "null",
              "A function of (stage, done, total) that each compile calls: at \"trace\", before each pass, by its "
              "name, and as steps are prepared (\"prepare\"), and libraries' (\"plan\") and our kernels (\"compile\") "
              "are finished. What it raises cancels the compile and is the call's error; the next call compiles anew.",
              true},
    OptionRow{"guard_filter_fn", ArgKind::none, "null",
              "A function of a list of guards, each with `name`, `guard_type` and `value`, that gives whether to keep "
              "each, once for each program. The guards are those that cannot harm memory: of integers that are "
              "constants (\"CONSTANT_MATCH\") and of floats that were read as numbers (\"FLOAT_MATCH\"). Without its "
              "guard another value runs the program that was made for the first one.",
              true},
};

struct ModeName {
  std::string_view name;
  CacheMode mode;
};
constexpr std::array kModes = {
    ModeName{"constant values", CacheMode::constant_values}, ModeName{"symbolic values", CacheMode::symbolic_values},
    ModeName{"same input", CacheMode::same_input}, ModeName{"no caching", CacheMode::no_caching},
    // What thunder called them before.
    ModeName{"use_static_caching", CacheMode::constant_values}, ModeName{"use_last_executed", CacheMode::same_input},
    ModeName{"always_trace", CacheMode::no_caching},
};

CacheMode cache_mode(const CompileOptions& options) {
  std::vector<std::string_view> given;
  const std::string text = options.text("cache", "");
  if (options.find("cache")) given.push_back(text);
  for (const ModeName& m : kModes)
    if (options.flag(m.name, false)) given.push_back(m.name);
  if (given.empty()) return CacheMode::constant_values;
  const auto found = [](std::string_view name) {
    return std::find_if(kModes.begin(), kModes.end(), [&](auto& m) { return m.name == name; });
  };
  require(found(given[0]) != kModes.end(),
          "compile: option 'cache' must be \"constant values\", \"symbolic values\", \"same input\" or \"no caching\", "
          "got \"", given[0], "\"");
  for (std::string_view other : given)
    require(found(other)->mode == found(given[0])->mode, "compile: options '", given[0], "' and '", other,
            "' say different things about the cache");
  return found(given[0])->mode;
}

int64_t limit(const CompileOptions& options, std::string_view name, int64_t otherwise) {
  const int64_t n = options.integer(name, otherwise);
  require(n >= 1, "compile: option '", name, "' must be at least 1, got ", n);
  return n;
}

DynamicSizes dynamic_sizes(const CompileOptions& options, CacheMode cache) {
  const bool asks = options.find("dynamic"), wants = options.flag("dynamic", false);
  const bool symbolic = cache == CacheMode::symbolic_values;
  require(!symbolic || !asks || wants,
          "compile: options cache = \"symbolic values\" and dynamic = false say different things about sizes");
  const bool varies = symbolic || cache == CacheMode::constant_values;  // the other modes know nothing of sizes
  require(varies || !wants,
          "compile: option 'dynamic' = true needs the option cache = \"constant values\" or \"symbolic values\"");
  if (wants || symbolic) return DynamicSizes::all;
  if (asks || !varies) return DynamicSizes::no;
  return options.flag("automatic_dynamic_shapes", true) ? DynamicSizes::automatic : DynamicSizes::marked;
}

}  // namespace

std::span<const OptionRow> compile_options() { return kOptions; }

void CompileOptions::set_function(std::string_view name, Ref<Function> f) {
  std::vector<std::string_view> known;
  for (const OptionRow& row : kOptions)
    if (row.function) known.push_back(row.name);
  require(name == "progress" || name == "guard_filter_fn", "compile: option '", name, "' cannot be a function",
          suggest(name, known));
  (name == "progress" ? progress_ : guard_filter_) = std::move(f);
}

CallSettings call_settings(const CompileOptions& options, const Context& context) {
  options.check(kOptions, "compile");
  context.executors(split_list(options.text("executors", "")), {});
  check_places(context.passes(options.passes()));
  const std::string precision = options.text("float32_matmul_precision", "highest");
  require(precision == "highest" || precision == "high" || precision == "medium",
          "compile: option 'float32_matmul_precision' must be \"highest\", \"high\" or \"medium\", got \"", precision,
          "\"");
  CallSettings out;
  out.cache = cache_mode(options);
  out.recompile_limit = limit(options, "recompile_limit", kRecompileLimit);
  out.accumulated_limit = limit(options, "accumulated_recompile_limit", kAccumulatedRecompileLimit);
  out.fail_on_limit = options.flag("fail_on_recompile_limit", false);
  out.fullgraph = options.flag("fullgraph", true);
  out.disable = options.flag("disable", false);
  out.dynamic = dynamic_sizes(options, out.cache);
  return out;
}

}  // namespace thunder
