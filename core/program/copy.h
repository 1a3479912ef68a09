// The step that copies a tensor to another place.
#pragma once

#include "program/launch.h"

namespace thunder {

Status* run_copy(const Launch* launch, void* state);

}  // namespace thunder
