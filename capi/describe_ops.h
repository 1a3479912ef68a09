// The ops of a context, and schemas, as JSON.
#pragma once

#include <cjson/cJSON.h>

#include "jit/context/context.h"

namespace thunder::capi {

// Adds a schema's text to an object, and facts that bindings would have to parse. Throws std::bad_alloc.
void describe_schema(const Schema& schema, cJSON* object);
// Adds an object for each op to the array. Throws std::bad_alloc.
void describe_ops(Context& context, cJSON* array);

}  // namespace thunder::capi
