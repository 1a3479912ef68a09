// From claimed lines to steps that run.
#pragma once

#include "executors/claim.h"
#include "program/program.h"

namespace thunder {

// Asks the executor that claimed a line; one that declines hands over to the next that claims it too.
std::unique_ptr<Preparer> preparer(Executors executors);

}  // namespace thunder
