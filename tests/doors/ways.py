"""How doors run a program: each is a function of the program's function, its module and the library, and gives what is called in its
place. That gives (results, gradients); gradients are None where no door asks for them."""
import os
import pickle
import tempfile

import libraries


def alone(f):
    return lambda *arguments: (f(*arguments), None)


def op_by_op(f, module, library):
    return alone(f)


def compiled(**options):
    return lambda f, module, library: alone(library.compile(f, **options))


# ---- gradients ----

def _wanted(arguments, module):
    """Arguments and captured tensors that require a gradient."""
    return [one for one in (*libraries.tensors(arguments), *module["state"].parameters()) if one.requires_grad]


def _backward(results, arguments, module):
    """The gradients of what requires one, None where there is none."""
    wanted = _wanted(arguments, module)
    for one in wanted:
        one.grad = None
    loss = libraries.loss(results)
    try:
        if loss is not None:
            loss.backward()
    except RuntimeError as error:
        if not any(text in str(error) for text in ("depends on nothing that requires grad", "does not require grad")):
            raise
    return [one.grad for one in wanted]


def taped(f, module, tape, backward=True):
    def run(*arguments):
        with tape():
            results = f(*arguments)
            return results, _backward(results, arguments, module) if backward else None
    return run


def on_a_tape(f, module, library):
    return taped(f, module, library.tape)


def forward_on_a_tape(f, module, library):
    return taped(f, module, library.tape, False)


def compiled_on_a_tape(**options):
    return lambda f, module, library: taped(library.compile(f, **options), module, library.tape)


def _with_loss(f):
    """The loss of the results, or of nothing that depends on the arguments where no result is real."""
    def whole(*arguments):
        results = f(*arguments)
        loss = libraries.loss(results)
        return libraries.loss(arguments) * 0 if loss is None else loss, results
    return whole


def value_and_grad(compiled=False):
    """value_and_grad() by the arguments."""
    def open(f, module, library):
        made = {}

        def run(*arguments):
            numbers = tuple(at for at, one in enumerate(arguments) if libraries.is_tensor(one) and one.requires_grad)
            if numbers not in made:
                both = library.value_and_grad(_with_loss(f), argnums=numbers, has_aux=True)
                made[numbers] = library.compile(both) if compiled else both
            (_, results), gradients = made[numbers](*arguments)
            return results, list(gradients)
        return run
    return open


def backward_inside(**options):
    """loss.backward() inside of a compiled function, for the parameters that it captures."""
    def open(f, module, library):
        def whole(*arguments):
            results = f(*arguments)
            libraries.loss(results).backward()
            return results
        made = library.compile(whole, **options)

        def run(*arguments):
            wanted = _wanted((), module)
            for one in wanted:
                one.grad = None
            results = made(*arguments)
            return results, [one.grad for one in wanted]
        return run
    return open


# ---- batches ----

def batched(compiled=False):
    """As the second example of three; what that wrote is written back."""
    def open(f, module, library):
        made = []

        def run(*arguments):
            tensors = [libraries.is_tensor(one) for one in arguments]
            if not made:
                over = library.vmap(f, in_dims=tuple(0 if one else None for one in tensors))
                made.append(library.compile(over) if compiled else over)
            batches = [library.stack([one.detach() + 1, one.detach(), one.detach() * 2]) if is_one else one
                       for one, is_one in zip(arguments, tensors)]
            results = made[0](*batches)
            for one, batch, is_one in zip(arguments, batches, tensors):
                if is_one:
                    one.copy_(batch[1])
            return tuple(one[1] for one in results), None
        return run
    return open


# ---- programs that outlive the function ----

def prepared(f, arguments, library, options):
    made = library.compile(f, **options)
    made.prepare(*arguments)
    return made


def saved(**options):
    """Saved before it ran, and loaded."""
    def open(f, module, library):
        loaded = []

        def run(*arguments):
            if not loaded:
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "program.thunder")
                    library.save_program(prepared(f, arguments, library, options), path)
                    loaded.append(library.load_program(path))
            return loaded[0](*arguments), None
        return run
    return open


def by_onnx(f, module, library):
    """Exported as an ONNX model, and loaded."""
    loaded = []

    def run(*arguments):
        if not loaded:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "program.onnx")
                made = prepared(f, arguments, library, {"dynamic": False})
                library.export_onnx(made, path)
                loaded.extend([library.load_program(path), len(library.signature(made)["outputs"])])
        results = loaded[0](*[one for one in arguments if libraries.is_tensor(one)])
        return (results if isinstance(results, (tuple, list)) else (results,))[:loaded[1]], None
    return run


def traced(f, module, library):
    """jit.trace of the first call."""
    made = []

    def run(*arguments):
        if not made:
            made.append(library.jit.trace(f, arguments, check_trace=False))
        return made[0](*arguments), None
    return run


# ---- the module that is captured ----

def with_state(changed):
    """Op by op, with the module that it captures as `changed` gives it."""
    def open(f, module, library):
        module["state"] = changed(module["state"])
        return alone(f)
    return open


def loaded_state(state):
    made = type(state)()
    made.load_state_dict(state.state_dict())
    return made


def through_float64(state):
    return state.double().float()


def pickled_tensors(state):
    for name, one in [*state.named_parameters(), *state.named_buffers()]:
        setattr(state, name, pickle.loads(pickle.dumps(one)))
    return state

