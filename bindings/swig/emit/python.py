"""What Python's extension module need not say by hand: calls of the library as functions and methods in C, and their stubs."""
import textwrap

from .plain import calls, note, plain, roles

LANGUAGE = "python"
HANDLES = {"Compiled": "compiled_test(self)", "Batches": "batches_handle(self)", "Module": "handle", "Optimizer": "optimizer_handle(self)",
           "Schedule": "schedule_handle(self)"}
TYPES = {"text": "builtins.str", "int": "builtins.int", "size": "builtins.int", "real": "builtins.float", "bool": "builtins.bool", "tensor": "Tensor",
         "map": "dict[builtins.str, Any]", "any": "Any", "": "None", "[tensor]": "list[Tensor]", "[text]": "list[builtins.str]"}


def name_of(m):
    return m.names.get(LANGUAGE, m.name)


def read(a, kind):
    """(format, what it fills in, its declarations, what frees it)"""
    if a.name == "path":
        return "O&", f"PyUnicode_FSConverter, &{a.name}", [f"PyObject *{a.name} = NULL;"], [f"Py_XDECREF({a.name});"]
    if a.kind == "tensor":
        return "O!", f"tensor_type, &{a.name}", [f"PyObject *{a.name};"], []
    if a.kind in ("device", "dtype"):
        return "O", f"&{a.name}_given", [f"PyObject *{a.name}_given;", f"thunder_{a.kind} {a.name} = 0;"], []
    if kind == "size_t":
        return "O", f"&{a.name}_given", [f"PyObject *{a.name}_given;", f"size_t {a.name} = 0;"], []
    if a.is_item:
        return "O", f"&{a.name}_given", [f"PyObject *{a.name}_given;", f"thunder_values *{a.name} = NULL;"], [f"thunder_values_release({a.name});"]
    if a.has_default and a.kind == "text":
        return "|s", f"&{a.name}", [f'const char *{a.name} = "{a.default}";'], []
    form, type_of = {"text": ("s", "const char *"), "string": ("s", "const char *"), "real": ("d", "double "), "bool": ("p", "int ")}.get(a.kind, ("L", "long long "))
    return form, f"&{a.name}", [f"{type_of}{a.name};"], []


def in_c(a):
    return f"PyBytes_AS_STRING({a.name})" if a.name == "path" else f"tensor_handle({a.name})" if a.kind == "tensor" else a.name


def ready(m, a, kind):
    """What must hold before the call, if anything."""
    if a.kind in ("device", "dtype"):
        return [f"{a.kind}_from({a.name}_given, &{a.name})"]
    if kind == "size_t":
        return [f'!count_from({a.name}_given, "{m.name}: {a.name}", &{a.name})']
    return [f"({a.name} = values_new()) && !values_add({a.name}, {a.name}_given)"] if a.is_item and a.name != "path" else []


def defined(m, functions):
    function, parts, texts, out = functions[m.function], [], [], ""
    for role, a, kind in roles(m, function):
        if role == "argument":
            parts.append((a, kind))
        out = {"values": "values", "out": kind}.get(role, out)
        texts.append(in_c(a) if a else {"context": "context", "self": HANDLES.get(m.of.name), "values": "out", "out": "&out"}[role])
    order = sorted(parts, key=lambda part: m.arguments.index(part[0]))
    forms = [read(a, kind) for a, kind in order]
    lines = [line for form in forms for line in form[2]]
    if m.of.name == "Module":  # which its class may not have made yet
        lines += ["thunder_module *handle = module_handle(self);", "if (!handle) return NULL;"]
    if forms:
        given = ", ".join(form[1] for form in forms)
        lines.append(f'if (!PyArg_ParseTuple(args, "{"".join(form[0] for form in forms)}:{name_of(m)}", {given})) return NULL;')
    if out:
        lines.append("thunder_values *out = values_new();" if out == "values" else f"{out[:-1]}out = {'0' if out == 'double *' else 'NULL'};")
    call = f"{function.name}({', '.join(texts)})"
    tests = (["out"] if out == "values" else []) + [test for part in order for test in ready(m, *part)]
    if function.result == "thunder_status *":
        tests.append(f"!check_status({call})")
        values = "values_list(out, false, NULL)" if m.result.startswith("[") else "values_result(out, false)"
        result = {"values": values, "thunder_tensor **": "tensor_wrap(out)", "const char **": "PyUnicode_FromString(out)",
                  "double *": "PyFloat_FromDouble(out)"}.get(out, "Py_NewRef(Py_None)")
    else:
        made = {"const char *": "PyUnicode_FromString({})", "thunder_module *": "module_wrap(module_type, {})"}
        result = made.get(function.result, "PyLong_FromLongLong({})").format(call)
    chosen = f"{' && '.join(tests)} ? {result} : NULL" if tests else result
    freed = [line for form in forms for line in form[3]] + (["thunder_values_release(out);"] if out == "values" else [])
    lines += [f"PyObject *result = {chosen};", *freed, "return result;"] if freed else [f"return {chosen};"]
    return f"static PyObject *call_{m.action}(PyObject *self, PyObject *args)\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def row(m):
    head = "" if m.of.name else f"{name_of(m)}({', '.join(a.name for a in m.arguments)})\\n--\\n\\n"
    text = m.doc.replace('"', '\\"')
    return f'    {{"{name_of(m)}", call_{m.action}, {"METH_VARARGS" if m.arguments else "METH_NOARGS"},\n     "{head}{text}"}},\n'


def file_of(of, name, members, functions):
    text = note(of) + '#include "described.h"\n\n' + "\n".join(defined(m, functions) for m in members)
    kinds = [kind for kind in HANDLES if any(m.of.name == kind for m in members)]
    for kind in ("", *kinds):
        rows = "".join(row(m) for m in members if m.of.name == kind)
        text += f"\nstatic PyMethodDef of_{kind.lower() + 's' if kind else 'functions'}[] = {{\n{rows}    {{NULL, NULL, 0, NULL}}}};\n"
    opened = "".join(f" || add_methods({kind.lower()}_type, of_{kind.lower()}s)" for kind in kinds)
    return text + f"\nint open_{name}(PyObject *module)\n{{\n    return PyModule_AddFunctions(module, of_functions){opened} ? -1 : 0;\n}}\n"


def source(classes, functions):
    return file_of("classes.api", "described", plain(classes, functions, LANGUAGE), functions)


def source_of_calls(text, functions):
    return file_of("python/calls.api", "calls", list(calls(text, functions)), functions)


def stub(m):
    given = ["self"] if m.of.name else []
    given += [f"{a.name}: {'Any' if a.name == 'path' else TYPES.get(a.kind, 'Any')}{' = ...' if a.has_default else ''}" for a in m.arguments]
    return f"def {name_of(m)}({', '.join(given)}) -> {TYPES.get(m.result, 'Any')}: ..."


def stubs(classes, functions):
    members = plain(classes, functions, LANGUAGE)
    text = '"""Stubs of what is no more than a call. Written by bindings/swig/generate.py from bindings/classes.api."""\n'
    for name in ("", "Compiled", "Batches"):
        lines = "\n".join(stub(m) for m in members if m.of.name == name)
        text += f'\n{name.upper() or "FUNCTIONS"} = """{textwrap.indent(lines, "    " if name else "").lstrip()}\n"""\n'
    return text
