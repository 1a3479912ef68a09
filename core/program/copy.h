// The steps that copy a tensor to another place.
#pragma once

#include "program/launch.h"

namespace thunder {

Status* run_copy(const Launch* launch, void* state);
// Copies in the memory of one device; `state` is its Accelerator.
Status* run_copy_on_device(const Launch* launch, void* state);

}  // namespace thunder
