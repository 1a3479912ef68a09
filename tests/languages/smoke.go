// The smoke program in Go: smoke MODEL.safetensors DIGITS.csv
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	th "thunder"
)

type Mine struct {
	message string
	number  int
}

func (m *Mine) Error() string { return m.message }

func show(label string, values ...any) {
	fmt.Print(label)
	for _, value := range values {
		switch v := value.(type) {
		case []float32:
			for _, element := range v {
				fmt.Printf(" %.4f", element)
			}
		case []int64:
			for _, element := range v {
				fmt.Printf(" %d", element)
			}
		case float32:
			fmt.Printf(" %.4f", v)
		default:
			fmt.Print(" ", v)
		}
	}
	fmt.Println()
}

func floats(t *th.Tensor) []float32 { return th.Elements[float32](t) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	x := th.Of([]float32{1, 2, 3, 4}, 2, 2)
	show("operators", floats(x.Mul(2).Add(1).Sub(x.Div(2))))
	show("negated", floats(x.Neg()))
	show("text", x.String())
	show("reversed", floats(th.Sub(2, x)))
	show("matmul", floats(x.Matmul(x)))
	show("named", floats(x.Sum(th.Named{"dim": 1})))
	show("ops", len(must(th.Describe("ops")))) // functions cannot be listed
	show("integers", th.Elements[int64](th.Of([]int64{1<<63 - 1, -1 << 63, 1<<53 + 1}, 3)))

	f := must(th.Compile(func(a *th.Tensor) *th.Tensor { return a.Matmul(a).Add(1).Relu().Sum() }))
	first, second := must(f.Call(x)), must(f.Call(x))
	show("compiled", floats(first), floats(second), "misses", f.Stats()["misses"])
	both := must(must(f.ValueAndGrad("")).Apply(x)).([]any)
	show("gradient", floats(both[1].(*th.Tensor)))

	err := th.Try(func() { x.Matmul(th.Of([]float32{1, 2, 3}, 1, 3)) })
	var refused *th.Error
	if errors.As(err, &refused) {
		show("error", refused.Code, refused.Message)
	}
	_, err = must(th.Compile(func(a *th.Tensor) *th.Tensor { return a.Matmul(th.Ones([]int{3, 3})) })).Call(x)
	if errors.As(err, &refused) {
		show("traced error", refused.Code)
	}
	_, err = must(th.Compile(func(a *th.Tensor) (*th.Tensor, error) { return nil, &Mine{"mine", 42} })).Call(x)
	var mine *Mine
	if errors.As(err, &mine) {
		show("raised", mine.message, mine.number)
	}

	row := must(th.Compile(func(a, n *th.Tensor) *th.Tensor { return a.Mul(n).Sum() }))
	sums := make([]float32, 4)
	var group sync.WaitGroup
	for n := range sums {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			sums[n] = th.Item[float32](must(row.Call(x, float64(n+1))))
		}(n)
	}
	group.Wait()
	show("threads", sums)

	// The gradient is twice what it should be, which shows whose it is.
	err = th.AddOp("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.",
		func(a *th.Tensor, c any) *th.Tensor { return a.Mul(a).Add(c) },
		func(args, results, cotangents, wanted []any) []*th.Tensor {
			return []*th.Tensor{cotangents[0].(*th.Tensor).Mul(args[0]).Mul(4)}
		})
	if err != nil {
		panic(err)
	}
	own := must(th.Compile(func(a *th.Tensor) *th.Tensor { return th.Op("square_plus", a).Sum() }))
	both = must(must(own.ValueAndGrad("")).Apply(x)).([]any)
	show("own op", floats(th.Op("square_plus", x)), "gradient", floats(both[1].(*th.Tensor)))

	w, y := th.Of([]float32{0, 0}, 2), th.Of([]float32{5, 11}, 2)
	miss := must(th.Compile(func(v *th.Tensor) *th.Tensor { return v.Sub(y).Mul(v.Sub(y)).Mul(y).Sum() }))
	search := must(th.NewOptimizer("LBFGS", map[string]any{"0": w}, th.Named{"line_search_fn": "strong_wolfe"}))
	show("lbfgs", floats(must(search.StepClosure(must(miss.ValueAndGrad("")), w))), floats(w))

	th.Seed(7)
	drawn := th.InitOrthogonalInPlace(th.Zeros([]int{3, 4})).Add(th.InitTruncNormalInPlace(th.Zeros([]int{3, 4})))
	show("init", th.Item[int64](drawn.To("f64").Mul(float64(1<<40)).To("i64").Sum()))

	artifacts, info, err := th.SaveCacheArtifacts()
	show("artifacts", info["cpu_kernels"].(int64)-must(th.LoadCacheArtifacts(must(artifacts, err)))["cpu_kernels"].(int64))
	_, err = th.LoadCacheArtifacts(x)
	if errors.As(err, &refused) {
		show("damaged", refused.Code)
	}

	net := must(th.NewModule("Sequential"))
	layers := []*th.Module{must(th.NewModule("Linear", 64, 32)), must(th.NewModule("ReLU")), must(th.NewModule("Linear", 32, 10))}
	for i, layer := range layers {
		if err := net.Add(fmt.Sprint(i), layer); err != nil {
			panic(err)
		}
	}
	if err := net.Load(os.Args[1]); err != nil {
		panic(err)
	}
	rows := must(th.ReadCsv(os.Args[2]))
	images := rows.Slice(1, 0, 64).Div(16)
	labels := rows.Slice(th.Named{"dim": 1, "start": 64, "end": 65}).Squeeze(1).To("i64")
	predict := must(th.Compile(func(batch *th.Tensor) *th.Tensor { return net.Call(batch).Argmax(-1) }))
	found := must(predict.Call(images))
	show("digits", th.Item[int64](found.Eq(labels).Sum()), "of", images.Size(0), "first", th.Elements[int64](found)[:10])
	model := os.Args[1] + ".go.onnx"
	if err := predict.ExportOnnx(model, th.Named{"opset": 20}); err != nil {
		panic(err)
	}
	loaded := must(th.LoadProgram(model))
	if !strings.Contains(loaded.Signature(), `"dims":[1797,64]`) {
		panic(loaded.Signature())
	}
	show("loaded", th.Item[int64](must(loaded.Call(images)).Eq(labels).Sum()), "parameters", len(must(loaded.ProgramModule()).Parameters()))
	show("relu", th.Doc("relu"))
}
