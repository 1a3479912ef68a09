/* The scope that ops go to. */
#include "lua/layer.h"

thunder_scope *scope_now(lua_State *L, layer *self)
{
    if (self->scope) return self->scope;
    if (!self->eager) check_status(L, thunder_scope_create(self->context, 0, &self->eager));
    return self->eager;
}

void scope_done(layer *self, thunder_scope *scope)
{
    if (scope == self->eager && !self->scope) thunder_scope_reset(scope);
}

void scope_check(lua_State *L, layer *self, thunder_scope *scope)
{
    thunder_status *status = thunder_scope_status(scope);
    if (!status) return;
    scope_done(self, scope);
    check_status(L, status);
}
