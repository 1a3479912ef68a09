"""What SWIG and the compiler see of the description: handles and actions of a call in C++."""
from .description import HANDLES

TYPES = {"text": "const char*", "int": "long long", "size": "long long", "real": "double", "bool": "bool", "tensor": "const Tensor&"}
KINDS = {"const char *": ("text",), "int32_t": ("bool", "int", "size"), "double": ("real",), "int64_t": ("int",), "uint64_t": ("int",), "size_t": ("int", "size")}
NUMBERS = ("int32_t", "int64_t", "size_t", "uint32_t", "uint64_t")


def declared(member, within=""):
    own = [f"{TYPES.get(a.kind, f'const {a.kind}&')} {a.name}" for a in member.own]
    if member.of.name and not member.is_new:
        own.insert(0, f"const {member.of.name}& self")
    return f"{member.makes + '*' if member.makes else 'bool'} {within}{member.action}({', '.join(own)})"


def bound(member, function, receiver):
    """(what each parameter of the C function is, the lines before the call, what it fills in)"""
    given, before, out, texts = list(member.own), [], [], []
    for kind, name in function.parameters:
        plain = kind.removeprefix("const ")
        if name in member.constants:
            texts.append(member.constants[name])
        elif plain == "thunder_context *":
            texts.append("context()")
        elif plain == "thunder_scope *":
            before.append("thunder_scope* scope = scope_now();")
            texts.append("scope")
        elif receiver and plain == receiver[0] + " *":
            texts.append(receiver[1])
            receiver = None
        elif plain == "thunder_values *" and not name.startswith("out"):
            before += ["const Values in(context());", f"fill_values({'positional(items_)' if member.options else 'items_'}, in);"]
            texts.append("in")
        elif plain == "thunder_options *":
            several = any(a.is_item for a in member.arguments if a.stars < 2)
            before.append(f"const Options options(context(), {'named(items_)' if several else 'items_'});")
            texts.append("options.handle")
        elif plain == "thunder_values *":
            before.append("const Values out(context());")
            texts.append("out")
            out.append(("values", "out"))
        elif kind == "const char **":
            before.append(f"const char* {name} = nullptr;")
            texts.append("&" + name)
            out.append((kind, name))
        elif plain.endswith("**") or plain == "double *":
            before.append(f"{plain[:-1].strip().replace(' *', '*')} {name}{{}};")
            texts.append("&" + name)
            out.append((plain[:-1].strip(), name))
        else:
            wanted = KINDS.get(kind) or tuple(n for n, h in {**HANDLES, **{a.kind: "thunder_" + a.kind.lower() for a in given}}.items() if plain == h + " *")
            found = next((a for a in given if a.kind in wanted or (a.kind == "tensor" and "Tensor" in wanted)), None)
            if not found:
                raise SystemExit(f"classes.api: {member.action}: nothing is given for '{kind} {name}' of {function.name}")
            given.remove(found)
            text = found.name if kind in KINDS else found.name + ".handle"
            cast = f'count_from({text}, "{text}")' if kind == "size_t" else f"static_cast<{kind}>({text})" if kind in NUMBERS else text
            texts.append(f"{text} && *{text} ? {text} : nullptr" if kind == "const char *" and name.endswith("_or_null") else cast)
    if given:
        raise SystemExit(f"classes.api: {member.action}: {function.name} takes no '{given[0].name}'")
    return texts, before, out


def gave(member, function, out):
    """The lines that call it and make the items of what it gave."""
    recorded = any(kind == "thunder_scope *" for kind, _ in function.parameters)
    after, call = ["scope_check(scope);"] if recorded else [], "CALL"
    traced = "thunder_scope_is_tracing(scope)" if recorded else "false"
    result = function.result.removeprefix("const ")
    if result == "thunder_status *":
        lines, made = [f"check({call});"], "Items{}"
    elif result == "void":
        lines, made = [call + ";"], "Items{}"
    elif result == "thunder_values *":
        lines, made = [f"const thunder_values* values = {call};"], f"items_of(values, {traced})"
    elif result == "thunder_tensor *":
        lines, made = [f"thunder_tensor* tensor = {call};"], "tensor_item(tensor)"
    else:
        lines, made = [], f"{'text_item' if result == 'char *' else 'integer_item'}({call})"
    for kind, name in out:
        if kind == "values":
            made = f"listed(items_of(out, {traced}))" if member.result.startswith("[") else f"items_of(out, {traced})"
        elif kind in ("double", "const char **"):
            made = f"{'real_item' if kind == 'double' else 'text_item'}({name})"
        elif kind == "thunder_tensor *" and made == "Items{}":
            made = f"owned_tensor({name})"
        elif kind == "thunder_tensor *":
            made = f"joined({made}, tensor_item({name}))"
    if not recorded:
        return lines + after + [f"return {made};"]
    return lines + after + [f"Items made = {made};", "scope_done(scope);", "return made;"]


def defined(member, functions):
    names = member.function.split(" . ")
    receiver = (member.of.handle, "self.handle") if member.of.handle and not member.is_new else None
    lines = []
    if len(names) == 2:
        through = functions[names[0]]
        lines.append(f"{through.result}inner = {through.name}(self.handle);".replace(" *", "* "))
        receiver = (through.result.removesuffix(" *"), "inner")
    function = functions[names[-1]]
    texts, before, out = bound(member, function, receiver)
    call = f"{function.name}({', '.join(texts)})"
    if member.makes:
        (kind, name), = out
        body = before + [f"check({call});", f"made = new {member.makes}({name});", "return Items{};"]
        lines = [f"{member.makes}* made = nullptr;", "perform([&] {", *("  " + line for line in body), "});", "return made;"]
    else:
        body = lines + before + [line.replace("CALL", call) for line in gave(member, function, out)]
        lines = ["return perform([&] {", *("  " + line for line in body), "});"]
    return f"{declared(member, 'Call::')} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


HANDLE = """class {name} {{
 public:
  ~{name}();
#ifndef SWIG
  explicit {name}({handle}* owned) : handle(owned) {{}}
  {name}(const {name}&) = delete;
  {handle}* handle;
#endif
}};
"""
NOTE = "// Made of bindings/classes.api with each build.\n"


def header(classes, functions):
    text = NOTE + '#pragma once\n#include "handles.h"\n\nnamespace thunder_swig {\n\n'
    text += "\n".join(HANDLE.format(name=c.name, handle=c.handle) for c in classes if c.handle and c.name not in HANDLES)
    actions = " \\\n".join(f"  {declared(m)};" for c in classes for m in c.members)
    return text + f"\n}}  // namespace thunder_swig\n\n// Of class Call.\n#define THUNDER_ACTIONS \\\n{actions}\n"


def interface(classes, functions):
    made = [m.action for c in classes for m in c.members if m.makes]
    text = NOTE + "".join(f"%newobject thunder_swig::Call::{name};\n" for name in made)
    return text + "".join(f"%nodefaultctor thunder_swig::{c.name};\n" for c in classes if c.name)


def source(classes, functions):
    text = NOTE + '#include "action.h"\n\nnamespace thunder_swig {\n\n'
    text += "".join(f"{c.name}::~{c.name}() {{ {c.handle}_release(handle); }}\n" for c in classes if c.handle and c.name not in HANDLES)
    return text + "\n" + "\n".join(defined(m, functions) for c in classes for m in c.members if m.function != "core") + "\n}  // namespace thunder_swig\n"


FILES = {"classes.h": header, "classes.i": interface, "classes.cpp": source}
