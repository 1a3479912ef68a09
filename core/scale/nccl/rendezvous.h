// How the ranks of a new world come to have one unique id of NCCL's.
#pragma once

#include <memory>

#include "scale/engine.h"
#include "scale/nccl/library.h"

namespace thunder::scale::nccl {

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // Whether the id is there; it is then written. Called again until it is, and waits for nobody.
  virtual bool step(UniqueId& id) = 0;
  // This rank has begun to open its communicator; and all ranks have opened theirs.
  virtual void begun() {}
  virtual void end() {}
  // A group of these ranks that carries notes; null: there is none.
  virtual Group* beside() { return nullptr; }
};

// By the folder that the options name; where one process is the world, alone; by an address (NCCL_COMM_ID, or
// torchrun's MASTER_ADDR and MASTER_PORT); else by MPI. Throws where none of them can be had, naming all.
std::unique_ptr<Rendezvous> make_rendezvous(const Library& library, const ProcessPlace& place, const JoinOptions& how);

}  // namespace thunder::scale::nccl
