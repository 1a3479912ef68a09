#include "rows.h"

#include <cjson/cJSON.h>

#include "call.h"
#include "scope.h"

namespace thunder_swig {

std::string Row::text(const char* key) const {
  const char* found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
  return found ? found : "";
}

bool Row::flag(const char* key) const { return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key)); }

size_t Row::count(const char* key) const {
  return static_cast<size_t>(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key)));
}

std::vector<Row> Row::list(const char* key) const {
  std::vector<Row> rows;
  const cJSON* child = nullptr;
  cJSON_ArrayForEach(child, cJSON_GetObjectItemCaseSensitive(object, key)) rows.push_back({child});
  return rows;
}

Description::Description(const std::string& what) {
  const Values values(context());
  check(thunder_context_describe(context(), what.c_str(), values));
  const char* text = thunder_values_str(values, 0, nullptr);
  array = text ? cJSON_Parse(text) : nullptr;
  if (!array) refuse(THUNDER_OUT_OF_MEMORY, "a description cannot be read");
  const cJSON* object = nullptr;
  cJSON_ArrayForEach(object, array) rows.push_back({object});
}

Description::~Description() { cJSON_Delete(array); }

namespace {

Item text_item(const std::string& name, const std::string& text) { return {ITEM_TEXT, name, text, 0, 0, {}}; }
Item whole_item(int kind, const std::string& name, long long value) { return {kind, name, "", value, 0, {}}; }
Item make_marker(int kind, const std::string& name = "") { return {kind, name, "", 0, 0, {}}; }

void add_json(Items& out, const std::string& name, const cJSON* json) {
  if (cJSON_IsArray(json) || cJSON_IsObject(json)) {
    out.push_back(make_marker(cJSON_IsArray(json) ? ITEM_LIST : ITEM_MAP, name));
    const cJSON* child = nullptr;
    cJSON_ArrayForEach(child, json) add_json(out, child->string ? child->string : "", child);
    out.push_back(make_marker(ITEM_CLOSE));
  } else if (cJSON_IsBool(json)) {
    out.push_back(whole_item(ITEM_BOOLEAN, name, cJSON_IsTrue(json)));
  } else if (cJSON_IsString(json)) {
    out.push_back(text_item(name, json->valuestring));
  } else if (cJSON_IsNumber(json)) {
    out.push_back(whole_item(ITEM_INTEGER, name, static_cast<long long>(json->valuedouble)));  // counts
  } else {
    out.push_back(make_marker(ITEM_NONE, name));
  }
}

}  // namespace

Items describe_rows(const std::string& what) {
  Items out{make_marker(ITEM_LIST)};
  for (const Row& row : rows_of(what)) {
    if (row.flag("hidden") || row.flag("prim")) continue;
    add_json(out, "", row.object);
  }
  out.push_back(make_marker(ITEM_CLOSE));
  return out;
}

}  // namespace thunder_swig
