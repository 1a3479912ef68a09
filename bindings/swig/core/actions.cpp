// What a call can do: tensors, ops, functions and compiled functions.

#include "action.h"
#include "call.h"
#include "names.h"
#include "rows.h"

namespace thunder_swig {

static std::vector<int64_t> shape_of(const Items& items) {
  std::vector<int64_t> shape;
  for (const Item& item : items) shape.push_back(item.kind == ITEM_REAL ? static_cast<int64_t>(item.real) : item.integer);
  return shape;
}

static thunder_dtype checked_dtype(const char* dtype) {
  const thunder_dtype named = dtype_named(dtype);
  if (!named) refuse(THUNDER_NOT_FOUND, std::string("there is no dtype '") + dtype + "'");
  return named;
}

bool Call::create(const char* dtype, const Bytes& data) {
  return perform([&] {
    const std::vector<int64_t> shape = shape_of(items_);
    const thunder_dtype named = checked_dtype(dtype ? dtype : "");
    return make_tensor_item([&](thunder_tensor** out) {
      return thunder_tensor_create(context(), named, shape.size(), shape.data(), THUNDER_CPU, data.data.data(),
                                   data.data.size(), out);
    });
  });
}

bool Call::make_tensor(const char* dtype) {
  const std::unique_ptr<Nested> elements = std::move(elements_);
  return perform([&] {
    if (!elements) refuse(THUNDER_FAILED_PRECONDITION, "tensor: no elements were given");
    if (!elements->mistake().empty()) refuse(THUNDER_INVALID_ARGUMENT, elements->mistake());
    const thunder_dtype made = dtype && *dtype ? checked_dtype(dtype) : elements->dtype();
    const std::string data = elements->packed(made);
    const std::vector<int64_t> shape = items_.empty() ? elements->shape() : shape_of(items_);
    return make_tensor_item([&](thunder_tensor** out) {
      return thunder_tensor_create(context(), made, shape.size(), shape.data(), THUNDER_CPU, data.data(), data.size(), out);
    });
  });
}

bool Call::tensor_text(const Tensor& tensor) {
  return perform([&] {
    const Values out(context());
    check(thunder_tensor_text(context(), tensor.handle, nullptr, out));
    return items_of(out, false);
  });
}

bool Call::read(const Tensor& tensor) {
  return perform([&] {
    std::string read(thunder_tensor_nbytes(tensor.handle), '\0');
    check(thunder_tensor_read(tensor.handle, read.data(), read.size()));
    data_ = std::move(read);
    return Items{};
  });
}

bool Call::write(const Tensor& tensor, const Bytes& data) {
  return perform([&] {
    check(thunder_tensor_write(tensor.handle, data.data.data(), data.data.size()));
    return Items{};
  });
}

bool Call::op(const char* name, const char* where) {
  return perform([&] {
    const std::string op = name ? name : "";
    const Schema* schema = find_schema("ops", op);
    const Arguments arguments(items_, schema);
    const char* const* names = arguments.names.empty() ? nullptr : arguments.names.data();
    thunder_scope* scope = scope_now();
    Items made;
    if (schema && schema->results == 0) {
      const thunder_values* all = thunder_op_invoke_all(scope, op.c_str(), arguments.any.data(), arguments.any.size(),
                                                        names, intern_place(where));
      scope_check(scope);
      made = items_of(all, false);
      if (made.empty() || made[0].kind != ITEM_LIST) {
        made.insert(made.begin(), Item{ITEM_LIST, "", "", 0, 0, {}});
        made.push_back({ITEM_CLOSE, "", "", 0, 0, {}});
      }
    } else {
      std::vector<thunder_tensor*> results(schema ? schema->results : 1);
      thunder_op_invoke(scope, op.c_str(), arguments.any.data(), arguments.any.size(), names, results.data(),
                        results.size(), intern_place(where));
      scope_check(scope);
      for (thunder_tensor* result : results) made.push_back({ITEM_TENSOR, "", "", 0, 0, {Tensor(result)}});
    }
    scope_done(scope);
    return made;
  });
}

Function* Call::make_function(const char* name, long long ticket) {
  Function* made = nullptr;
  perform([&] {
    thunder_function* handle = nullptr;
    check(thunder_function_create(context(), name && *name ? name : "function", callback_function(),
                                  ticket_create(ticket), ticket_destroy, &handle));
    made = new Function(handle);
    return Items{};
  });
  return made;
}

Function* Call::value_and_grad(const Compiled& compiled, const char* wrt) {
  Function* made = nullptr;
  perform([&] {
    const Values captured(context());
    fill_values(items_, captured);
    thunder_function* handle = nullptr;
    check(thunder_function_value_and_grad(compiled.function, wrt && *wrt ? wrt : nullptr,
                                          items_.empty() ? nullptr : captured.handle, &handle));
    made = new Function(handle);
    return Items{};
  });
  return made;
}

Compiled* Call::compile(const Function& function) {
  Compiled* made = nullptr;
  perform([&] {
    const Options options(context(), items_);
    thunder_compiled* handle = nullptr;
    check(thunder_compile(function.handle, options.handle, &handle));
    made = new Compiled(handle);
    return Items{};
  });
  return made;
}

bool Call::call(const Compiled& compiled) {
  return perform([&] {
    const Values in(context());
    fill_values(items_, in);
    if (thunder_scope* scope = current_scope()) {
      const thunder_values* results = thunder_function_apply(scope, compiled.function, in);
      scope_check(scope);
      return items_of(results, thunder_scope_is_tracing(scope));
    }
    const Values out(context());
    thunder_status* status = nullptr;
    without_lock([&] { status = thunder_compiled_call(compiled.handle, nullptr, in, out); });
    check(status);
    return items_of(out, false);
  });
}

bool Call::compiled_prepare(const Compiled& self) {
  return perform([&] {
    const Values in(context());
    fill_values(items_, in);
    thunder_status* status = nullptr;
    without_lock([&] { status = thunder_compiled_prepare(self.handle, in); });
    check(status);
    return Items{};
  });
}

bool Call::compiled_stats(const Compiled& self) {
  return perform([&] {
    thunder_statistics s{};
    s.size = sizeof s;
    check(thunder_compiled_statistics(self.handle, &s));
    const std::pair<const char*, uint64_t> rows[] = {
        {"calls", s.calls},       {"hits", s.hits},           {"misses", s.misses},
        {"entries", s.entries},   {"trace_ns", s.trace_ns},   {"transform_ns", s.transform_ns},
        {"compile_ns", s.compile_ns}, {"plan_ns", s.plan_ns},       {"peak_arena_bytes", s.peak_arena_bytes}};
    Items made{{ITEM_MAP, "", "", 0, 0, {}}};
    for (const auto& [name, value] : rows) made.push_back({ITEM_INTEGER, name, "", static_cast<long long>(value), 0, {}});
    made.push_back({ITEM_CLOSE, "", "", 0, 0, {}});
    return made;
  });
}

namespace {
// One stage of a program, or "".
std::string stage_text(const thunder_compiled* compiled, size_t stage) {
  thunder_trace* trace = nullptr;
  check(thunder_compiled_trace(compiled, stage, &trace));
  std::string text = thunder_trace_text(trace);
  thunder_trace_release(trace);
  return text;
}
}  // namespace

bool Call::compiled_trace(const Compiled& self, long long stage) {
  return perform([&] {
    const bool there = stage >= 0 && static_cast<size_t>(stage) < thunder_compiled_trace_count(self.handle);
    return text_item(there ? stage_text(self.handle, static_cast<size_t>(stage)) : "");
  });
}

bool Call::compiled_traces(const Compiled& self) {
  return perform([&] {
    Items made;
    for (size_t i = 0; i < thunder_compiled_trace_count(self.handle); i++) made = joined(made, text_item(stage_text(self.handle, i)));
    return listed(made);
  });
}

bool Call::grad_of(const Tensor& loss) {
  return perform([&] {
    thunder_scope* scope = current_scope();
    if (!scope) refuse(THUNDER_FAILED_PRECONDITION, "grad_of: nothing is recorded here; call it in a compiled function");
    const Values wrt(context());
    fill_values(items_, wrt);
    const thunder_values* gradients = thunder_scope_grad(scope, loss.handle, wrt);
    scope_check(scope);
    return items_of(gradients, true);
  });
}

bool Call::describe(const char* what) {
  return perform([&] { return describe_rows(what ? what : ""); });
}

bool Call::doc(const char* op) {
  return perform([&] {
    const std::string name = op ? op : "";
    for (const Row& row : rows_of("ops"))
      if (const std::string known = row.text("name"); name == known || name == known + "_")
        return text_item(row.text("schema") + "\n" + row.text("doc"));
    refuse(THUNDER_NOT_FOUND, "there is no op '" + name + "'");
  });
}

bool Call::seed(long long seed) {
  return perform([&] {
    const int64_t state[2] = {seed, 0};
    check(thunder_tensor_write(thunder_context_random(context()), state, sizeof state));
    return Items{};
  });
}

static void add_counts(const thunder_cache_info& info, Items& made) {
  made.push_back({ITEM_MAP, "", "", 0, 0, {}});
  const std::pair<const char*, uint64_t> rows[] = {{"cpu_kernels", info.cpu_kernels},
                                                   {"cuda_kernels", info.cuda_kernels},
                                                   {"product_choices", info.product_choices}};
  for (const auto& [name, value] : rows) made.push_back({ITEM_INTEGER, name, "", static_cast<long long>(value), 0, {}});
  made.push_back({ITEM_CLOSE, "", "", 0, 0, {}});
}

bool Call::save_cache_artifacts() {
  return perform([&] {
    thunder_cache_info info{};
    info.size = sizeof info;
    Items made = make_tensor_item(
        [&](thunder_tensor** out) { return thunder_context_save_cache_artifacts(context(), out, &info); });
    add_counts(info, made);
    return made;
  });
}

bool Call::load_cache_artifacts(const Tensor& artifacts) {
  return perform([&] {
    std::string data(thunder_tensor_nbytes(artifacts.handle), '\0');
    check(thunder_tensor_read(artifacts.handle, data.data(), data.size()));
    thunder_cache_info info{};
    info.size = sizeof info;
    check(thunder_context_load_cache_artifacts(context(), data.data(), data.size(), &info));
    Items made;
    add_counts(info, made);
    return made;
  });
}

}  // namespace thunder_swig
