// Trains an MLP on handwritten digits: digits.exe DIGITS.csv
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Threading;
using Thunder;

public static class Digits
{
    private const int Epochs = 5;

    private static Module Network()
    {
        return new Module("Sequential").Add("0", new Module("Linear", 64, 128)).Add("1", new Module("ReLU")).Add("2", new Module("Linear", 128, 10));
    }

    private static Tensor Rows(Tensor tensor, long first, long last) { return tensor.Slice(dim: 0, start: first, end: last); }

    public static void Main(string[] arguments)
    {
        Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;
        var table = Th.ReadCsv(arguments[0]);
        var images = table.Slice(dim: 1, start: 0, end: 64) / 16;
        var labels = table.Slice(dim: 1, start: 64, end: 65).Squeeze(1).To("i64");

        Th.Seed(42);
        var net = Network();
        var parameters = net.Parameters();
        var opt = new Optimizer("AdamW", parameters, "lr", 4e-3);
        var batches = new Batches(new[] { Rows(images, 0, 1500), Rows(labels, 0, 1500) }, size: 32, shuffle: true, dropLast: true, seed: 2);
        var schedule = new Schedule("CosineAnnealingLR", opt, "T_max", Epochs * batches.Count);

        var step = Th.Compile((x, y) => { // forward, loss, gradients and update: one program
            var loss = net.Call(x).CrossEntropy(y);
            opt.Step(Th.ClipGradNorm(Th.GradOf(loss, parameters), 1.0));
            return loss;
        });

        for (var epoch = 1; epoch <= Epochs; epoch++)
        {
            Tensor loss = null;
            foreach (var batch in batches)
            {
                loss = step.Call(batch[0], batch[1]);
                schedule.Step();
            }
            Console.WriteLine("epoch {0}: loss {1:F4}, lr {2:F6}", epoch, loss.Item(), schedule.GetLastLr()[0]);
        }

        var folder = Directory.CreateDirectory(Path.Combine(Path.GetTempPath(), Path.GetRandomFileName())).FullName;
        net.Save(Path.Combine(folder, "net.safetensors"));
        opt.Save(Path.Combine(folder, "opt.safetensors"));
        var again = Network().Load(Path.Combine(folder, "net.safetensors"));
        var resumed = new Optimizer("AdamW", again.Parameters(), "lr", 1.0);
        resumed.Load(Path.Combine(folder, "opt.safetensors"));
        Directory.Delete(folder, true);
        resumed.Lr = 1e-4; // compiles nothing
        Console.WriteLine("resumed at step {0:F0}, lr {1:F4}", resumed["step"], resumed.Lr);

        var position = batches.State; // and the order of the data
        var first = batches.First()[1];
        batches.State = position;
        Console.WriteLine("the same batch again: {0} of 32 labels", first.Eq(batches.First()[1]).Sum().Item());
        var clipped = (List<object>)Th.ClipGradValue(new[] { images }, 0.5);
        Console.WriteLine("clipped to {0:F1}", ((Tensor)clipped[0]).Amax().Item());

        var predict = Th.Compile(x => again.Call(x).Argmax(-1));
        var count = labels.Size(0);
        var right = predict.Call(Rows(images, 1500, count)).Eq(Rows(labels, 1500, count)).Sum().Item();
        Console.WriteLine("{0} of {1} right, {2} programs", right, count - 1500, step.Stats()["misses"]);
    }
}
