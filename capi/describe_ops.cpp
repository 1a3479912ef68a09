// The ops of a context as JSON, with facts that bindings would otherwise have to parse from schemas.
#include "capi/describe_ops.h"

#include <utility>

#include "capi/describe_json.h"

namespace thunder::capi {
namespace {

std::string_view kind_text(ParamKind kind) {
  constexpr std::string_view names[] = {"tensor", "tensor[]", "int",     "float", "bool",
                                        "str",    "int[]",    "float[]", "dtype", "device"};
  return names[static_cast<size_t>(kind)];
}

// A default as JSON has it; an absent one, and what JSON has no word for, is null.
cJSON* json_default(const Arg& a) {
  switch (a.kind) {
    case ArgKind::boolean:
      return cJSON_CreateBool(a.i != 0);
    case ArgKind::integer:
      return cJSON_CreateNumber(static_cast<double>(a.i));
    case ArgKind::real:
      return cJSON_CreateNumber(a.f);
    case ArgKind::string:
      return cJSON_CreateString(std::string(a.text()).c_str());
    case ArgKind::reals:
      return cJSON_CreateDoubleArray(a.fs, static_cast<int>(a.count));
    case ArgKind::dims:
      break;
    default:
      return cJSON_CreateNull();
  }
  Json list(cJSON_CreateArray());
  for (const Dim& d : a.dim_list())
    if (!cJSON_AddItemToArray(list.item, cJSON_CreateNumber(static_cast<double>(d.value())))) throw std::bad_alloc();
  return std::exchange(list.item, nullptr);
}

}  // namespace

void describe_schema(const Schema& schema, cJSON* o) {
  add_text(o, "schema", schema.text);
  cJSON* parameters = add_array(o, "parameters");
  for (const Param& param : schema.params) {
    cJSON* p = add_row(parameters, {{"name", param.name}, {"kind", kind_text(param.kind)}});
    add_flag(p, "optional", param.optional);        // may be None
    if (param.text) add_flag(p, "text", true);      // a string may stand for the list
    add_flag(p, "has_default", param.has_default);  // may be left out, and is "default" then
    if (param.has_default) Json(json_default(param.fallback)).add_to(p, "default");
  }
  const size_t results = schema.variadic() ? 0 : schema.results.size();  // 0: the arguments say how many
  if (!cJSON_AddNumberToObject(o, "results", static_cast<double>(results))) throw std::bad_alloc();
  add_flag(o, "list", schema.lists());  // the results are a list, also where there is one
  if (schema.result_names.empty()) return;
  cJSON* names = add_array(o, "result_names");
  for (const std::string& name : schema.result_names)
    if (!cJSON_AddItemToArray(names, cJSON_CreateString(name.c_str()))) throw std::bad_alloc();
}

void describe_ops(Context& context, cJSON* array) {
  for (auto& op : context.registry().all()) {
    cJSON* o = add_row(array, {{"name", op->name()}});
    describe_schema(op->schema, o);
    add_text(o, "doc", op->doc);
    add_flag(o, "prim", op->prim);
    add_flag(o, "inplace", op->has(kInplace));
    add_flag(o, "random", op->has(kRandom));
    add_flag(o, "hidden", op->has(kHidden));  // only in traces; not for users to call
    if (!op->nondiff.empty()) add_text(o, "not_differentiable", op->nondiff);
    if (!op->alias_of.empty()) add_text(o, "alias_of", op->alias_of);
    if (op->variant.flag.empty()) continue;
    add_text(o, "variant_flag", op->variant.flag);  // a last argument, which asks for another op
    add_text(o, "variant", op->variant.op);
  }
}

}  // namespace thunder::capi
