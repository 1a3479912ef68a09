// Makes and drops tensors, functions and compiled functions in random order in two goroutines, with the collector running.
package main

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"strings"
	"sync"

	th "thunder"
)

var errNo = errors.New("no")

type worker struct {
	random   *rand.Rand
	slots    [12]*th.Tensor
	compiled [4]*th.Compiled
}

func (w *worker) tensor() *th.Tensor {
	if found := w.slots[w.random.Intn(12)]; found != nil {
		return found
	}
	return th.Of([]float32{w.random.Float32(), 2, 3, 4}, 2, 2)
}

func (w *worker) compile() error {
	captured := w.tensor()
	f, err := th.Compile(func(a *th.Tensor) *th.Tensor { return a.Mul(captured) }, th.Named{"executors": "host"})
	if err == nil && w.random.Intn(2) == 0 {
		f, err = f.ValueAndGrad("")
	}
	w.compiled[w.random.Intn(4)] = f
	return err
}

func (w *worker) fail() error {
	f, err := th.Compile(func(a *th.Tensor) (*th.Tensor, error) { return nil, errNo })
	if err != nil {
		return err
	}
	if _, err = f.Call(w.tensor()); err != errNo {
		return fmt.Errorf("another error: %v", err)
	}
	return nil
}

func (w *worker) act() error {
	switch w.random.Intn(9) {
	case 0:
		w.slots[w.random.Intn(12)] = th.Of([]float64{w.random.Float64(), 2}, 2)
	case 1:
		w.slots[w.random.Intn(12)] = w.tensor().Mul(0.5).Add(1)
	case 2:
		w.slots[w.random.Intn(12)] = nil
	case 3:
		w.compiled[w.random.Intn(4)] = nil
	case 4:
		return w.compile()
	case 5:
		return w.fail()
	case 6:
		runtime.GC()
	default:
		if f := w.compiled[w.random.Intn(4)]; f != nil {
			var refused *th.Error // shapes that do not fit
			if _, err := f.Apply(w.tensor()); err != nil && !errors.As(err, &refused) {
				return err
			}
		}
	}
	return nil
}

func main() {
	var group sync.WaitGroup
	for seed := int64(1); seed <= 2; seed++ {
		group.Add(1)
		go func(seed int64) {
			defer group.Done()
			w := &worker{random: rand.New(rand.NewSource(seed))}
			for i := 0; i < 800; i++ {
				if err := w.act(); err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
			}
		}(seed)
	}
	group.Wait()
	runtime.GC()

	// Large tensors are small objects to the collector: it is told when to run.
	x := th.Zeros([]int{512, 512})
	for i := 0; i < 2000; i++ {
		x = x.Add(1)
	}
	status, _ := os.ReadFile("/proc/self/status")
	var peak int
	fmt.Sscanf(string(status[strings.Index(string(status), "VmHWM:"):]), "VmHWM: %d", &peak)
	if peak > 1200*1024 {
		fmt.Println("the loop took", peak, "kB")
		os.Exit(1)
	}
	fmt.Println("tortured")
}
