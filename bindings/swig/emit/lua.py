"""What Lua's layer need not say by hand: calls of the library as functions of its table `core`, in C."""
from .plain import calls, note, plain, roles

LANGUAGE = "lua"
HANDLES = {"Compiled": "compiled_handle(L, 1)", "Batches": "box_check(L, 1, BOX_BATCHES)"}
READ = {"string": "luaL_checkstring(L, {})", "real": "luaL_checknumber(L, {})", "bool": "lua_toboolean(L, {})", "tensor": "tensor_check(L, {})",
        "device": "device_check(L, {})", "options": "options_check(L, {})"}
PUSHED = {"char *": "lua_pushstring(L, {})", "double": "lua_pushnumber(L, {})", "thunder_dtype": "constant_push(L, THUNDER_DTYPE, {})",
          "thunder_device": "constant_push(L, THUNDER_DEVICE, {})", "thunder_module *": "module_push(L, {})", "thunder_tensor *": "tensor_push(L, {})"}


def name_of(m):
    return m.action if m.of.name == "Batches" else m.names.get(LANGUAGE, m.name)


def given(m, a, kind, at):
    """The line that reads an argument."""
    what, base = f'"{name_of(m)}: {a.name}"', kind.removeprefix("const ")
    if a.is_item:
        kind, read = "thunder_values *", f"values_given(L, {at}, {what})"
    elif kind == "size_t":
        read = f"count_given(L, {at}, {what})"
    elif a.kind == "text":
        read = f"text_given(L, {at}, {what})"
        read = f'lua_isnoneornil(L, {at}) ? "{a.default}" : {read}' if a.has_default else read
    elif a.kind in READ:
        read = READ[a.kind].format(at)
    elif base.endswith(" *"):
        handle = base.removeprefix("thunder_").removesuffix(" *")
        read = f"compiled_handle(L, {at})" if handle == "compiled" else f"box_check(L, {at}, BOX_{handle.upper()})"
    else:
        read = f"({base})luaL_checkinteger(L, {at})"
    return f"{kind}{'' if kind.endswith('*') else ' '}{a.name} = {read};"


def pushed(function, kind, value):
    if kind in PUSHED:
        return PUSHED[kind].format(value) + ";"
    return f"lua_pushboolean(L, {value});" if "_is_" in function.name else f"lua_pushinteger(L, (lua_Integer){value});"


def defined(m, functions):
    function, lines, texts, out = functions[m.function], [], [], ""
    first = 2 if m.of.name else 1
    for role, a, kind in roles(m, function):
        if role == "argument":
            lines.append(given(m, a, kind, first + m.arguments.index(a)))
        if role == "self":
            lines.insert(0, f"{kind}self = {HANDLES[m.of.name]};")
        out = {"values": "values", "out": kind}.get(role, out)
        texts.append(a.name if a else {"context": "layer_of(L)->context", "self": "self", "values": "out", "out": "&out"}[role])
    call = f"{function.name}({', '.join(texts)})"
    if out == "values":
        lines += ["thunder_values *out = values_box(L);", f"return values_answer(L, out, {call});"]
    elif out == "thunder_tensor **":
        lines += ["box *made = box_push(L, BOX_TENSOR);", "thunder_tensor *out = NULL;", f"check_status(L, {call});", "made->handle = out;",
                  "memory_allocated(L, thunder_tensor_nbytes(out));", "return 1;"]
    elif out:
        kind = out[:-1].strip().removeprefix("const ")
        lines += [f"{out[:-1]}out = {'NULL' if kind.endswith('*') else 0};", f"check_status(L, {call});", pushed(function, kind, "out")]
        lines += [f"{kind.removesuffix(' *')}_release(out);"] if kind.startswith("thunder_") else []
        lines.append("return 1;")
    elif function.result == "thunder_status *":
        lines += [f"check_status(L, {call});", "return 0;"]
    else:
        lines += [pushed(function, function.result.removeprefix("const "), call), "return 1;"]
    return f"static int call_{m.action}(lua_State *L)\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def file_of(of, name, members, functions, more=""):
    rows = "".join(f'        {{"{name_of(m)}", call_{m.action}}},\n' for m in members)
    return note(of) + '#include "lua/described.h"\n\n' + "\n".join(defined(m, functions) for m in members) + f"""
void open_{name}(lua_State *L)
{{
    static const luaL_Reg functions[] = {{
{rows}        {{NULL, NULL}}}};
    luaL_setfuncs(L, functions, 0);
{more}}}
"""


def names(members):
    return "".join(f'"{name_of(m)}", ' for m in members) + "NULL"


def source(classes, functions):
    members = plain(classes, functions, LANGUAGE)
    return file_of("classes.api", "described", members, functions, f"""\
    static const char *const of_files[] = {{{names(m for m in members if any(a.name == "path" for a in m.arguments))}}};
    static const char *const of_compiled[] = {{{names(m for m in members if m.of.name == "Compiled")}}};
    names_push(L, of_files); /* those that reach files */
    lua_setfield(L, -2, "of_files");
    names_push(L, of_compiled);
    lua_setfield(L, -2, "of_compiled");
""")


def source_of_calls(text, functions):
    return file_of("lua/calls.api", "calls", list(calls(text, functions)), functions)
