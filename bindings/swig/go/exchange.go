package thunder

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"thunder/core"
)

// Error is what the library refused; Code is the number of thunder.h. An error of a function that is being traced comes
// back as itself.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// Named holds arguments by name: x.Sum(thunder.Named{"dim": 1}).
type Named map[string]any

// Errors on their way through the library, and functions that it may run, by ticket.
var (
	mutex    sync.Mutex
	raised   = map[int64]error{}
	closures = map[int64]reflect.Value{}
)

type runner struct{}

func (runner) Run(ticket int64) { run(ticket) }

func init() { core.Set_dispatcher(core.NewDirectorDispatcher(runner{})) }

// perform runs an action over items. What a caller holds must stay alive until it has ended.
func perform(items []any, named []Named, action func(core.Call) any) (any, error) {
	call := core.NewCall()
	defer core.DeleteCall(call)
	for _, item := range items {
		if err := put(call, item); err != nil {
			return nil, err
		}
	}
	for _, names := range named {
		if err := putNamed(call, names); err != nil {
			return nil, err
		}
	}
	made := action(call)
	runtime.KeepAlive(items)
	runtime.KeepAlive(named)
	if call.Failed() {
		return nil, failure(call)
	}
	if _, ok := made.(bool); !ok {
		return made, nil
	}
	return result(call), nil
}

func failure(call core.Call) error {
	mutex.Lock()
	defer mutex.Unlock()
	if err := raised[call.Ticket()]; err != nil {
		return err
	}
	return &Error{call.Code(), call.Message()}
}

func put(call core.Call, value any) error {
	switch v := value.(type) {
	case nil:
		call.None()
	case *Tensor:
		call.Tensor(v.core)
	case bool:
		call.Flag(v)
	case int:
		call.Integer(int64(v))
	case int64:
		call.Integer(v)
	case float64:
		call.Real(v)
	case float32:
		call.Real(float64(v))
	case string:
		call.Text(v)
	default:
		return putMany(call, value)
	}
	return nil
}

func putMany(call core.Call, value any) error {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Map:
		call.Open_map()
		for _, key := range v.MapKeys() {
			call.Key(key.String())
			if err := put(call, v.MapIndex(key).Interface()); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		call.Open_list()
		for i := 0; i < v.Len(); i++ {
			if err := put(call, v.Index(i).Interface()); err != nil {
				return err
			}
		}
	default:
		return &Error{3, fmt.Sprintf("a %T cannot go into the library", value)}
	}
	call.Close()
	return nil
}

func putNamed(call core.Call, named Named) error {
	for name, value := range named {
		call.Key(name)
		if err := put(call, value); err != nil {
			return err
		}
	}
	return nil
}

func take(call core.Call, kind int) any {
	switch core.Thunder_swigKind(kind) {
	case core.ITEM_BOOLEAN:
		return call.As_integer() != 0
	case core.ITEM_INTEGER:
		return call.As_integer()
	case core.ITEM_REAL:
		return call.As_real()
	case core.ITEM_TEXT:
		return call.As_text()
	case core.ITEM_TENSOR:
		if core.Should_collect() {
			runtime.GC()
		}
		return wrap(call.As_tensor())
	case core.ITEM_LIST:
		return takeUntil(call, core.ITEM_CLOSE)
	case core.ITEM_MAP:
		named := map[string]any{}
		for kind := call.Next(); core.Thunder_swigKind(kind) != core.ITEM_CLOSE; kind = call.Next() {
			name := call.Name()
			named[name] = take(call, kind)
		}
		return named
	}
	return nil
}

func takeUntil(call core.Call, end core.Thunder_swigKind) []any {
	list := []any{}
	for kind := call.Next(); core.Thunder_swigKind(kind) != end; kind = call.Next() {
		list = append(list, take(call, kind))
	}
	return list
}

// result is one value, or a list of several.
func result(call core.Call) any {
	list := takeUntil(call, core.ITEM_END)
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func newTicket() int64 {
	mutex.Lock()
	defer mutex.Unlock()
	for dropped := core.Next_dropped(); dropped != 0; dropped = core.Next_dropped() {
		delete(raised, dropped)
		delete(closures, dropped)
	}
	return core.New_ticket()
}

func ticketOf(closure reflect.Value) int64 {
	ticket := newTicket()
	mutex.Lock()
	closures[ticket] = closure
	mutex.Unlock()
	return ticket
}

// run is called by the core. A panic must not unwind its frames.
func run(ticket int64) {
	call := core.Callback()
	defer func() {
		if thrown := recover(); thrown != nil {
			err, ok := thrown.(error)
			if !ok {
				err = &Error{1003, fmt.Sprint(thrown)}
			}
			report(call, err)
		}
	}()
	mutex.Lock()
	closure := closures[ticket]
	mutex.Unlock()
	made, err := apply(closure, takeUntil(call, core.ITEM_END))
	call.Reset()
	if err == nil {
		err = put(call, made)
	}
	if err != nil {
		report(call, err)
	}
}

func report(call core.Call, err error) {
	ticket := newTicket()
	mutex.Lock()
	raised[ticket] = err
	mutex.Unlock()
	call.Fail(err.Error(), ticket)
}

// apply calls a function of tensors, which may return an error beside its result.
func apply(closure reflect.Value, in []any) (any, error) {
	values := make([]reflect.Value, len(in))
	for i, value := range in {
		values[i] = reflect.ValueOf(value)
	}
	out := closure.Call(values)
	if len(out) == 2 {
		err, _ := out[1].Interface().(error)
		return out[0].Interface(), err
	}
	if len(out) != 1 {
		return nil, &Error{3, "a function of tensors returns one value, or one and an error"}
	}
	return out[0].Interface(), nil
}

// place is the line of the user's program, for traces.
func place() string {
	if !core.Is_tracing() {
		return ""
	}
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "thunder.") {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return ""
		}
	}
}
