/* places.h: where a traced function read something of the host: cells, items, containers, children of modules, slots. */
#pragma once
#include "layer.h"

enum { PLACE_CELL, PLACE_ITEM, PLACE_LIST, PLACE_DICT, PLACE_SET, PLACE_CHILDREN, PLACE_SLOT, PLACE_SEQUENCE, PLACE_ARRAY, PLACE_FUNCTION }; /* as _host.py has them */
typedef struct place {
    int kind;
    bool quiet; /* of a module, whose changes are counted */
    PyObject *holder, *key, *label;
    PyObject *seen; /* NULL: there was nothing */
    uint64_t version; /* of a dict when that was looked at; 0: not known */
} place;

/* A new reference, or NULL: nothing is there. Errors of looking are none. */
PyObject *place_content(const place *p);
/* Whether the very same objects are there as at the last look. */
bool place_is_unchanged(place *p);
/* Equal numbers and texts of one type are the same; tuples of them too; of all else the object counts. */
bool place_contents_equal(PyObject *a, PyObject *b);
