"""What Lua's layer need not say by hand: calls of the library as functions of its table `core`, in C."""
from .plain import NOTE, plain, roles

LANGUAGE = "lua"
HANDLES = {"Compiled": "compiled_handle(L, 1)", "Batches": "box_check(L, 1, BOX_BATCHES)"}


def name_of(m):
    return m.action if m.of.name == "Batches" else m.names.get(LANGUAGE, m.name)


def given(m, a, kind, at):
    """The line that reads an argument."""
    what = f', "{name_of(m)}: {a.name}"'
    if a.kind == "tensor":
        return f"thunder_tensor *{a.name} = tensor_check(L, {at});"
    if a.is_item:
        return f"thunder_values *{a.name} = values_given(L, {at}{what});"
    if kind == "size_t":
        return f"const size_t {a.name} = count_given(L, {at}{what});"
    type_of, read = {"text": ("const char *", "text_given"), "real": ("const double ", "luaL_checknumber"), "bool": ("const int ", "lua_toboolean")}.get(
        a.kind, ("const lua_Integer ", "luaL_checkinteger"))
    if a.has_default and a.kind == "text":
        return f'const char *{a.name} = lua_isnoneornil(L, {at}) ? "{a.default}" : text_given(L, {at}{what});'
    return f"{type_of}{a.name} = {read}(L, {at}{what if read == 'text_given' else ''});"


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
                  "memory_count(L, thunder_tensor_nbytes(out));", "return 1;"]
    elif out == "const char **":
        lines += ['const char *out = "";', f"check_status(L, {call});", "lua_pushstring(L, out);", "return 1;"]
    elif function.result == "thunder_status *":
        lines += [f"check_status(L, {call});", "return 0;"]
    else:
        lines += [f"lua_pushstring(L, {call});" if "char" in function.result else f"lua_pushinteger(L, (lua_Integer){call});", "return 1;"]
    return f"static int {m.action}(lua_State *L)\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def names(members):
    return "".join(f'"{name_of(m)}", ' for m in members) + "NULL"


def source(classes, functions):
    members = plain(classes, functions, LANGUAGE)
    text = NOTE + '#include "lua/described.h"\n\n' + "\n".join(defined(m, functions) for m in members)
    rows = "".join(f'        {{"{name_of(m)}", {m.action}}},\n' for m in members)
    return text + f"""
void open_described(lua_State *L)
{{
    static const luaL_Reg functions[] = {{
{rows}        {{NULL, NULL}}}};
    static const char *const of_files[] = {{{names(m for m in members if any(a.name == "path" for a in m.arguments))}}};
    static const char *const of_compiled[] = {{{names(m for m in members if m.of.name == "Compiled")}}};
    luaL_setfuncs(L, functions, 0);
    names_push(L, of_files); /* those that reach files */
    lua_setfield(L, -2, "of_files");
    names_push(L, of_compiled);
    lua_setfield(L, -2, "of_compiled");
}}
"""
