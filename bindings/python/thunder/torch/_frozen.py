"""Parameters that are constants of a program (`freezing`): other tensors in their places, such as those of load_state_dict(assign=True)
or of another module that shares the code, have a program of their own."""
import weakref


class Programs:
    """The programs of one graph, by the tensors that are constants in them. They live as long as these."""

    def __init__(self, graph, constants, program, compile):
        self.graph, self.compile, self.made = graph.with_frozen(()), compile, {}
        self._keep(program, constants)

    def _keep(self, program, constants):
        made, key = self.made, tuple(map(id, constants))

        def forget(_):
            made.pop(key, None)
        made[key] = program, [weakref.ref(one, forget) for one in constants]

    def of(self, *arguments):
        """(the program for these arguments of the graph, its constants)"""
        constants = tuple(arguments[at] for at in self.graph.frozen)
        found = self.made.get(tuple(map(id, constants)))
        if found is not None:
            return found[0], constants
        program = self.compile(self.graph.with_frozen(constants))
        self._keep(program, constants)
        return program, constants
