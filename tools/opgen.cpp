// opgen header|docs|examples: prints include/thunder/ops.h, docs/ops.md or, as JSON, calls of ops from the op registry.
//
// The first two files are checked in. After an op was added or changed: `tools/check --build BUILD --write`.
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "ops/batch.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "passes/jvp.h"
#include "op_examples.h"

namespace thunder {
namespace {

// Ops for users, by name. Prims are below them, and hidden ones are written by passes.
std::vector<const OpDef*> offered(const Registry& registry, bool prims) {
  std::vector<const OpDef*> ops;
  for (auto& op : registry.all())
    if (!op->has(kHidden) && op->name().starts_with("prims.") == prims) ops.push_back(op);
  std::sort(ops.begin(), ops.end(), [](auto* a, auto* b) { return a->name() < b->name(); });
  return ops;
}

// A parameter's name in C and C++.
std::string c_name(const Param& p) {
  constexpr std::array reserved{"default", "register", "int",      "float", "bool", "double", "signed", "unsigned",
                                "static",  "union",    "and",      "or",    "not",  "xor",    "new",    "delete",
                                "this",    "operator", "template", "where", "s",    "r",      "a"};
  return std::find(reserved.begin(), reserved.end(), p.name) == reserved.end() ? p.name : p.name + "_arg";
}

// How a parameter is declared, and how it becomes a leaf.
struct CParam {
  std::string declaration, leaf;
};

CParam c_param(const Param& p) {
  const std::string n = c_name(p);
  auto scalar = [&](const char* type, const char* make) {
    if (!p.optional) return CParam{cat(type, n), cat(make, "(", n, ")")};
    return CParam{cat("const ", type, "*", n), cat(n, " ? ", make, "(*", n, ") : thunder_any_none()")};
  };
  auto list = [&](const char* type, const char* make) {
    const std::string leaf = cat(make, "(", n, ", n_", n, ")");
    return CParam{cat(type, "*", n, ", size_t n_", n),
                  p.optional ? cat(n, " ? ", leaf, " : thunder_any_none()") : leaf};
  };
  switch (p.kind) {
    case ParamKind::tensor:
      return {cat("thunder_tensor *", n), cat("thunder_any_tensor(", n, ")")};
    case ParamKind::tensors:
      return list("thunder_tensor *const ", "thunder_any_tensors");
    case ParamKind::integer:
      return scalar("int64_t ", "thunder_any_i64");
    case ParamKind::real:
      return scalar("double ", "thunder_any_f64");
    case ParamKind::boolean:
      return scalar("int32_t ", "thunder_any_bool");
    case ParamKind::string:
      return {cat("const char *", n), cat(n, " ? thunder_any_str(", n, ", strlen(", n, ")) : thunder_any_none()")};
    case ParamKind::dims:
      return list("const thunder_dim ", "thunder_any_dims");
    case ParamKind::reals:
      return list("const double ", "thunder_any_floats");
    case ParamKind::dtype:
      return {cat("thunder_dtype ", n), cat("thunder_any_dtype(", n, ")")};
    case ParamKind::device:
      return {cat("thunder_device ", n), cat("thunder_any_device(", n, ")")};
  }
  return {};
}

// One static inline function and the macro that adds the place of the call. Several results go to `results`.
void print_call(std::ostream& out, const OpDef& op, std::span<const Param> params, const std::string& op_name,
                const std::string& c) {
  const size_t n = params.size();
  const size_t n_results = op.schema.results.size();
  const bool many = op.schema.variadic() || n_results > 1;
  out << "static inline thunder_tensor *th_at_" << c << "(const char *where, thunder_scope *s";
  for (auto& p : params) out << ", " << c_param(p).declaration;
  if (op.schema.variadic())
    out << ", thunder_tensor **results, size_t n_results";
  else if (many)
    out << ", thunder_tensor *results[" << n_results << "]";
  out << ")\n{\n";
  if (n) {
    out << "    const thunder_any a[" << n << "] = {";
    for (size_t i = 0; i < n; i++) out << (i ? ", " : " ") << c_param(params[i]).leaf;
    out << " };\n";
  }
  if (!many) out << "    thunder_tensor *r = NULL;\n";
  out << "    return thunder_op_invoke(s, \"" << op_name << "\", " << (n ? "a" : "NULL") << ", " << n << ", NULL, ";
  if (op.schema.variadic())
    out << "results, n_results";
  else if (many)
    out << "results, results ? " << n_results << " : 0";
  else
    out << "&r, 1";
  out << ", where);\n}\n";
  out << "#define th_" << c << "(...) th_at_" << c << "(THUNDER_HERE, __VA_ARGS__)\n";
}

void print_op(std::ostream& out, const OpDef& op) {
  const auto& params = op.schema.params;
  const auto required = static_cast<size_t>(
      std::find_if(params.begin(), params.end(), [](auto& p) { return p.has_default; }) - params.begin());
  const std::string name(op.name());
  out << "\n/* " << op.schema.text << "\n * " << op.doc << " */\n";
  for (const bool in_place : {false, true}) {
    if (in_place && !op.has(kInplace)) continue;
    const std::string tail = in_place ? "_" : "";
    print_call(out, op, {params.data(), required}, name + tail, name + tail);
    if (required < params.size()) print_call(out, op, params, name + tail, name + "_opt" + tail);
  }
  // Where a string may stand for a list, a function with that string.
  for (size_t i = 0; i < params.size(); i++) {
    if (!params[i].text) continue;
    std::vector<Param> named;
    for (size_t k = 0; k < params.size(); k++) {
      Param& p = named.emplace_back();
      p.name = params[k].name, p.kind = k == i ? ParamKind::string : params[k].kind, p.optional = params[k].optional;
    }
    print_call(out, op, named, name, name + "_" + params[i].name);
  }
}

constexpr std::string_view kHead =
    R"(/* thunder/ops.h: one function for each op. @generated by tools/opgen; `tools/check --write` refreshes it.
 *
 * th_NAME(s, ...) takes the scope and the arguments that have no default, th_NAME_opt(s, ...) every argument in the
 * schema's order; th_NAME_ and th_NAME_opt_ write the result into the first argument. th_NAME_PARAMETER is th_NAME_opt
 * with a string for a list of integers: th_conv2d_padding(..., "same", ...). Nothing here is a symbol of the library:
 * an op may get more arguments without a change of its ABI.
 *
 * A list takes two arguments, its elements and their number. What may be None: a tensor, list or string that is NULL;
 * a number by pointer, NULL for none; a dtype or device that is 0. Ops with several results return the first and
 * write all of them to `results` unless it is NULL; one that makes a list writes the first n_results.
 */
#ifndef THUNDER_OPS_H
#define THUNDER_OPS_H
#include <string.h>

#include "thunder/any.h"

#define THUNDER_TEXT_OF_(x) #x
#define THUNDER_TEXT_OF(x) THUNDER_TEXT_OF_(x)
#define THUNDER_HERE (__FILE__ ":" THUNDER_TEXT_OF(__LINE__))

/* Plain numbers as tensors: they promote by category only, as in f32 + 2.0. */
static inline thunder_tensor *th_f64(thunder_scope *s, double value)
{
    const thunder_any a = thunder_any_f64(value);
    return thunder_scope_number(s, &a);
}
static inline thunder_tensor *th_i64(thunder_scope *s, int64_t value)
{
    const thunder_any a = thunder_any_i64(value);
    return thunder_scope_number(s, &a);
}
static inline thunder_tensor *th_u64(thunder_scope *s, uint64_t value)
{
    const thunder_any a = thunder_any_u64(value);
    return thunder_scope_number(s, &a);
}
)";

void print_header(std::ostream& out, const Registry& registry) {
  out << kHead;
  for (const OpDef* op : offered(registry, false)) print_op(out, *op);
  out << "#endif\n";
}

// What the reader of a table must know beyond the sentence.
std::string notes(const OpDef& op) {
  std::vector<std::string> notes;
  if (op.has(kInplace)) notes.push_back(cat("in place: `", op.name(), "_`"));
  if (op.tags & kView) notes.push_back("a view");
  if (op.tags & kMayView) notes.push_back("may be a view");
  if (op.has(kEager)) notes.push_back("eager where its shape depends on values");
  if (!op.variant.flag.empty()) notes.push_back(cat("`", op.variant.flag, "=True` is `", op.variant.op, "`"));
  if (op.has(kRandom)) notes.push_back("draws from the random state");
  if (!op.alias_of.empty()) notes.push_back(cat("an alias of `", op.alias_of, "`"));
  if (!op.nondiff.empty()) notes.push_back("no gradient: " + op.nondiff);
  return join(notes, "; ", [](auto& n) -> const std::string& { return n; });
}

// A bar would end a table's cell.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string_view gradient(const OpDef& op) { return !op.nondiff.empty() ? "" : op.vjp ? "rule" : "lines"; }

std::string_view tangent(const OpDef& op) {
  switch (tangent_rule(op)) {
    case TangentRule::none: return "";
    case TangentRule::diagonal: return "slopes";
    case TangentRule::linear: return "itself";
    case TangentRule::vjp_of_vjp: return "vjp twice";
    case TangentRule::body: return "lines";
  }
  return "";
}

// What is eager on all inputs has no batch.
std::string_view batch(const OpDef& op) {
  const Samples samples = samples_of(op);
  const bool eager = std::all_of(samples.all.begin(), samples.all.end(), [](const Sample& s) { return s.eager; });
  if (eager && op.has(kEager)) return "";
  switch (batch_way(op)) {
    case BatchWay::rule: return "rule";
    case BatchWay::lines: return "lines";
    case BatchWay::unrolled: return "unrolled";
  }
  return "";
}

// Inputs that the battery draws: what works, and what is refused.
size_t cases(const OpDef& op) {
  const Samples samples = samples_of(op);
  return samples.all.size() + samples.refused.size();
}

void print_table(std::ostream& out, Context& context, const std::vector<const OpDef*>& ops, bool aliases) {
  out << "| signature | result | dtypes | gradient | jvp | vmap | executors | cases | notes |\n"
         "|---|---|---|---|---|---|---|---|---|\n";
  for (const OpDef* op : ops)
    if (op->alias_of.empty() != aliases)
      out << "| `" << cell(op->schema.text) << "` | " << cell(op->doc) << " | "
          << dtypes_of(context.registry(), *op, samples_of(*op)) << " | " << gradient(*op) << " | " << tangent(*op)
          << " | " << batch(*op) << " | " << executors_of(context, *op) << " | " << cases(*op) << " | "
          << cell(notes(*op)) << " |\n";
}

// Names of lightning-thunder's torch layer that are no ops here, and why. Those of one reason share a row.
struct Absent {
  std::string_view names, why;
};
constexpr Absent kAbsent[] = {
    {"dim, numel, item, is_floating_point, is_complex, is_cuda, is_cpu, is_nested, type, long, cuda", "members of tensors in each language, no ops"},
    {"tensor, getitem, setitem", "made by each language of its own values and subscripts: `tensor`, `index`, `slice`, `index_put`"},
    {"view_as_complex, view_as_real, polar, imag", "there are no complex dtypes yet"},
    {"uniform_philox", "the prim `prims.philox_uniform`, below every random op"},
    {"log_softmax_backward, embedding_backward, nll_loss_backward, adaptive_avg_pool2d_backward", "gradients are those of decompositions, or hidden ops"},
    {"_grouped_mm, scaled_mm", "there are no f8 dtypes yet, and no ragged batches"},
    {"sym_max, sym_min", "sizes are numbers of the language while tracing"},
    {"convolution", "conv1d, conv2d, conv3d and their transposes say which it is"},
    {"checkpoint, autograd_function_apply, autocast_enter, autocast_exit, set_grad_enabled",
     "gradients are values that a function asks for; what is recomputed is decided when compiling"},
    {"wait", "a collective gives its result when it is there"},
};

void print_absent(std::ostream& out) {
  out << "\n## Not here\n\nNames of lightning-thunder's torch layer that are no ops of this library.\n\n| names | why |\n|---|---|\n";
  for (const Absent& row : kAbsent) out << "| " << row.names << " | " << row.why << " |\n";
}

void print_docs(std::ostream& out, Context& context) {
  const Registry& registry = context.registry();
  out << "# Ops\n\n<!-- @generated by tools/opgen; `tools/check --write` refreshes it -->\n\n"
         "Every op of the library. In Lua an op is `th.NAME(...)`. In C `th_NAME(scope, ...)` of\n"
         "`thunder/ops.h` takes the arguments that have no default, `th_NAME_opt(scope, ...)` all of them. Names, argument\n"
         "order, defaults, broadcasting and promotion are PyTorch's. `tensor|number` takes a plain number too, in C as\n"
         "`th_f64(scope, 0.5)` or `th_i64(scope, 2)`; `?` may be None.\n"
         "Booleans and integers promote to f32 where an op needs reals. bf16 and f16 are computed in f32 and rounded once.\n\n"
         "How an op is transformed: its gradient is a *rule* of its own or that of its *lines*. A tangent (jvp) goes\n"
         "by those of its lines, by the *slopes* that its vjp gives element by element, through a linear op by the op\n"
         "*itself*, and through others by the *vjp twice*. A batch (vmap) goes by a *rule*, by the lines, or\n"
         "*unrolled*, an example at a time; what is always eager has none. *Cases* are the inputs of its row on which\n"
         "the battery runs it; the *dtypes* are those in which one of them is taken (of its real tensors, or of all where\n"
         "none is real). *Executors* are those that know the op by name, in the order in which they are asked (an op with\n"
         "none is run by its lines, whose prims have some); which of them takes a line depends on its types, its device\n"
         "and the machine. On CUDA devices *fusion* writes CUDA C++, and what nobody takes goes by way of *host*.\n\n";
  print_table(out, context, offered(registry, false), false);
  out << "\n## Aliases\n\nOther names that PyTorch has for the ops above.\n\n";
  print_table(out, context, offered(registry, false), true);
  out << "\n## Prims\n\nWhat the ops above are made of, and what executors must run at least. They neither broadcast "
         "nor promote.\n\n";
  print_table(out, context, offered(registry, true), false);
  print_absent(out);
}

}  // namespace
}  // namespace thunder

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  const auto context = thunder::make<thunder::Context>(thunder::ContextHooks{});
  if (what == "header")
    thunder::print_header(std::cout, context->registry());
  else if (what == "docs")
    thunder::print_docs(std::cout, *context);
  else if (what == "examples")
    thunder::print_examples(std::cout, *context, thunder::offered(context->registry(), false));
  else
    return std::cerr << "usage: opgen header|docs|examples\n", 2;
  return std::cout.flush() ? 0 : 1;
}
