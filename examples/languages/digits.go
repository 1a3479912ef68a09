// Trains an MLP on handwritten digits: digits DIGITS.csv
package main

import (
	"fmt"
	"os"
	"path/filepath"

	th "thunder"
)

const epochs = 5

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func rows(tensor *th.Tensor, first, last int64) *th.Tensor { return tensor.Slice(0, first, last) }

func network() *th.Module {
	net := must(th.NewModule("Sequential"))
	check(net.Add("0", must(th.NewModule("Linear", 64, 128))))
	check(net.Add("1", must(th.NewModule("ReLU"))))
	check(net.Add("2", must(th.NewModule("Linear", 128, 10))))
	return net
}

func main() {
	table := must(th.ReadCsv(os.Args[1]))
	images, labels := table.Slice(1, 0, 64).Div(16), table.Slice(1, 64, 65).Squeeze(1).To("i64")

	check(th.Seed(42))
	net := network()
	params := net.Parameters()
	opt := must(th.NewOptimizer("AdamW", params, th.Named{"lr": 4e-3}))
	batches := must(th.NewBatches([]*th.Tensor{rows(images, 0, 1500), rows(labels, 0, 1500)},
		th.BatchOptions{Size: 32, Shuffle: true, DropLast: true, Seed: 2}))
	schedule := must(th.NewSchedule("CosineAnnealingLR", opt, th.Named{"T_max": epochs * batches.Count()}))

	step := must(th.Compile(func(x, y *th.Tensor) *th.Tensor { // forward, loss, gradients and update: one program
		loss := net.Call(x).CrossEntropy(y)
		gradients, _ := th.ClipGradNorm(th.GradOf(loss, params), 1.0)
		opt.Step(gradients)
		return loss
	}))

	for epoch := 1; epoch <= epochs; epoch++ {
		var loss *th.Tensor
		for batch := must(batches.Next()); batch != nil; batch = must(batches.Next()) {
			loss = must(step.Call(batch[0], batch[1]))
			check(schedule.Step())
		}
		fmt.Printf("epoch %d: loss %.4f, lr %.6f\n", epoch, th.Item[float32](loss), schedule.GetLastLr()[0])
	}

	folder := must(os.MkdirTemp("", "digits"))
	defer os.RemoveAll(folder)
	model, state := filepath.Join(folder, "net.safetensors"), filepath.Join(folder, "opt.safetensors")
	check(net.Save(model))
	check(opt.Save(state))
	again := network()
	check(again.Load(model))
	resumed := must(th.NewOptimizer("AdamW", again.Parameters(), th.Named{"lr": 1.0}))
	check(resumed.Load(state))
	check(resumed.Set("lr", 1e-4)) // compiles nothing
	fmt.Printf("resumed at step %.0f, lr %.4f\n", must(resumed.Get("step")), must(resumed.Get("lr")))

	position := must(batches.State()) // and the order of the data
	first := must(batches.Next())[1]
	check(batches.SetState(position))
	fmt.Printf("the same batch again: %d of 32 labels\n", th.Item[int64](first.Eq(must(batches.Next())[1]).Sum()))
	clipped := th.ClipGradValue([]any{images}, 0.5).([]any)[0].(*th.Tensor)
	fmt.Printf("clipped to %.1f\n", th.Item[float32](clipped.Amax()))

	predict := must(th.Compile(func(x *th.Tensor) *th.Tensor { return again.Call(x).Argmax(-1) }))
	count := labels.Size(0)
	right := must(predict.Call(rows(images, 1500, count))).Eq(rows(labels, 1500, count)).Sum()
	fmt.Printf("%d of %d right, %v programs\n", th.Item[int64](right), count-1500, step.Stats()["misses"])
}
