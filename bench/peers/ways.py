"""The ways in which a function of PyTorch's is run here: as it is, or as a compiler makes it."""
import dataclasses
import typing

import torch


@dataclasses.dataclass
class Way:
    peer: str
    prepare: typing.Callable
    version: str = f"torch {torch.__version__}"

    def reported(self, *notes):
        """What a report names it by."""
        return {"peer": self.peer, "note": ", ".join([self.version, f"{torch.get_num_threads()} threads", *notes])}


EAGER = Way("torch", lambda f: f)
COMPILED = Way("torch compile", lambda f: torch.compile(f, dynamic=False))


def lightning_thunder():
    """With its defaults, which on a CPU run the lines of its trace by PyTorch."""
    import thunder  # that package, which not every environment has; ours is not found from here
    return Way("lightning-thunder", thunder.jit, f"lightning-thunder {thunder.__version__}, {EAGER.version}")
