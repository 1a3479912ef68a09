// The engine "mpi": ranks that mpirun, mpiexec or srun started, on any MPI of version 3 or later.
#pragma once

#include "scale/engine.h"

namespace thunder::scale {

// The one of the process: MPI can be started once. It is ended when the process exits, unless the host started it.
std::shared_ptr<Engine> mpi_engine();

}  // namespace thunder::scale
