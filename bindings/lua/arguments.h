/* Lua arguments as the library's leaves, by a signature: ops and kinds of modules have one. */
#pragma once
#include "lua/layer.h"

enum { MAX_ARGUMENTS = 32 };
enum parameter_kind { TAKES_ANY, TAKES_INT, TAKES_DIMS, TAKES_FLOATS, TAKES_TENSORS };

typedef struct parameter {
    const char *name;
    enum parameter_kind kind;
    bool gathers; /* an int[] that no parameter with numbers follows: view(x, 2, 3) */
} parameter;

/* A userdata; its uservalues keep the names. */
typedef struct signature {
    const char *name;
    int n_parameters, n_results;
    parameter parameters[];
} signature;

typedef struct arguments {
    const signature *signature;
    int count;
    bool named; /* at least one name is not NULL */
    thunder_any any[MAX_ARGUMENTS];
    const char *names[MAX_ARGUMENTS];
} arguments;

/* Pushes one made of the stack slots 1 name, 2 {parameter names}, 3 {their kinds}, 4 number of results. */
void signature_push(lua_State *L);
/* All of the stack. What the leaves point to is kept by the stack. */
void arguments_read(lua_State *L, arguments *c);
