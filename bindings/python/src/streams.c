/* Streams and events of devices: what thunder.cuda.Stream and Event hold. */
#include "streams.h"

typedef struct Stream {
    PyObject_HEAD
    thunder_stream *handle;
    thunder_device device;
} Stream;
typedef struct Event {
    PyObject_HEAD
    thunder_event *handle;
} Event;
static PyTypeObject *stream_type, *event_type;

thunder_stream *stream_on(thunder_device device, void *native)
{
    thunder_stream *made = NULL;
    return check_status(thunder_stream_create(context, device, native, &made)) ? NULL : made;
}

/* StreamBase(device, native or None): None is the library's own, 0 the legacy default stream. */
static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *on, *number;
    thunder_device device;
    if (!PyArg_ParseTuple(args, "OO:Stream", &on, &number) || !device_from(on, &device)) return NULL;
    void *native = NULL;
    if (number != Py_None && !(native = PyLong_AsVoidPtr(number))) {
        if (PyErr_Occurred()) return NULL;
        native = LEGACY_STREAM; /* as a handle that is not NULL */
    }
    Stream *self = (Stream *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->device = device;
    if (!(self->handle = stream_on(device, native))) Py_CLEAR(self);
    return (PyObject *)self;
}
static void stream_dealloc(PyObject *object)
{
    thunder_stream_release(((Stream *)object)->handle);
    free_object(object);
}

static PyObject *stream_synchronize(PyObject *object, PyObject *unused)
{
    thunder_status *status;
    Py_BEGIN_ALLOW_THREADS
    status = thunder_stream_wait(((Stream *)object)->handle);
    Py_END_ALLOW_THREADS
    return none_of(status);
}
static PyObject *stream_query(PyObject *object, PyObject *unused)
{
    int32_t done = 0;
    return check_status(thunder_stream_query(((Stream *)object)->handle, &done)) ? NULL : PyBool_FromLong(done);
}
static PyObject *stream_wait_event(PyObject *object, PyObject *event)
{
    if (!PyObject_TypeCheck(event, event_type)) return PyErr_Format(PyExc_TypeError, "wait_event: an event was expected, not %s", Py_TYPE(event)->tp_name);
    return none_of(thunder_stream_wait_event(((Stream *)object)->handle, ((Event *)event)->handle));
}
static PyObject *stream_native(PyObject *object, void *unused)
{
    return PyLong_FromVoidPtr(thunder_stream_native(((Stream *)object)->handle));
}
static PyObject *stream_device(PyObject *object, void *unused)
{
    return constant_of(THUNDER_DEVICE, ((Stream *)object)->device);
}

/* EventBase(device, timed) */
static PyObject *event_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *on;
    int timed;
    thunder_device device;
    if (!PyArg_ParseTuple(args, "Op:Event", &on, &timed) || !device_from(on, &device)) return NULL;
    Event *self = (Event *)type->tp_alloc(type, 0);
    if (self && check_status(thunder_event_create(context, device, timed, &self->handle))) Py_CLEAR(self);
    return (PyObject *)self;
}
static void event_dealloc(PyObject *object)
{
    thunder_event_release(((Event *)object)->handle);
    free_object(object);
}
static PyObject *event_record(PyObject *object, PyObject *stream)
{
    if (!PyObject_TypeCheck(stream, stream_type)) return PyErr_Format(PyExc_TypeError, "record: a stream was expected, not %s", Py_TYPE(stream)->tp_name);
    return none_of(thunder_event_record(((Event *)object)->handle, ((Stream *)stream)->handle));
}
static PyObject *event_synchronize(PyObject *object, PyObject *unused)
{
    thunder_status *status;
    Py_BEGIN_ALLOW_THREADS
    status = thunder_event_wait(((Event *)object)->handle);
    Py_END_ALLOW_THREADS
    return none_of(status);
}
static PyObject *event_query(PyObject *object, PyObject *unused)
{
    int32_t reached = 0;
    return check_status(thunder_event_query(((Event *)object)->handle, &reached)) ? NULL : PyBool_FromLong(reached);
}
static PyObject *event_elapsed(PyObject *object, PyObject *last)
{
    double ms = 0;
    if (!PyObject_TypeCheck(last, event_type)) return PyErr_Format(PyExc_TypeError, "elapsed_time: an event was expected, not %s", Py_TYPE(last)->tp_name);
    return check_status(thunder_event_elapsed(((Event *)object)->handle, ((Event *)last)->handle, &ms)) ? NULL : PyFloat_FromDouble(ms);
}

static PyGetSetDef stream_members[] = {{"cuda_stream", stream_native, NULL, "Its CUstream, as a number.", NULL},
                                       {"device", stream_device, NULL, "Whose it is.", NULL},
                                       {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef stream_methods[] = {{"synchronize", stream_synchronize, METH_NOARGS, "Waits for what it was asked for."},
                                       {"query", stream_query, METH_NOARGS, "Whether all of that is done."},
                                       {"wait_event", stream_wait_event, METH_O, "What it is asked for from now on waits for the event."},
                                       {NULL, NULL, 0, NULL}};
static PyMethodDef event_methods[] = {{"_record", event_record, METH_O, NULL},
                                      {"synchronize", event_synchronize, METH_NOARGS, "Waits until it is reached."},
                                      {"query", event_query, METH_NOARGS, "Whether it is reached."},
                                      {"elapsed_time", event_elapsed, METH_O, "Milliseconds from it to another, which were reached."},
                                      {NULL, NULL, 0, NULL}};
static PyType_Slot stream_slots[] = {{Py_tp_new, stream_new}, {Py_tp_dealloc, stream_dealloc}, {Py_tp_methods, stream_methods},
                                     {Py_tp_getset, stream_members}, {Py_tp_doc, "An order of work on a device."}, {0, NULL}};
static PyType_Slot event_slots[] = {{Py_tp_new, event_new}, {Py_tp_dealloc, event_dealloc}, {Py_tp_methods, event_methods},
                                    {Py_tp_doc, "A point in a stream's work."}, {0, NULL}};
static PyType_Spec stream_spec = {"thunder.StreamBase", sizeof(Stream), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, stream_slots};
static PyType_Spec event_spec = {"thunder.EventBase", sizeof(Event), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, event_slots};

int open_streams(PyObject *module)
{
    stream_type = add_type(module, &stream_spec, NULL);
    event_type = add_type(module, &event_spec, NULL);
    return stream_type && event_type ? 0 : -1;
}
