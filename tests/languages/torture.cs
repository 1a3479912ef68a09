// Makes and drops tensors, functions and compiled functions in random order on two threads, with the collector running.
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using Thunder;

class Worker
{
    readonly Random random;
    readonly Tensor[] slots = new Tensor[12];
    readonly Compiled[] compiled = new Compiled[4];
    public Exception Failed;
    public static readonly List<WeakReference> Made = new List<WeakReference>();

    public Worker(int seed) { random = new Random(seed); }

    Tensor Some()
    {
        return slots[random.Next(12)] ?? Tensor.Of(new float[,] { { (float)random.NextDouble(), 2 }, { 3, 4 } });
    }

    void Compile()
    {
        var captured = Some();
        Compiled own = null;
        own = Th.Compile(a => own != null ? a * captured : a, "executors", "host");
        lock (Made) Made.Add(new WeakReference(own));
        compiled[random.Next(4)] = random.Next(2) == 0 ? own : own.ValueAndGrad();
    }

    void Fail()
    {
        try { Th.Compile((Tensor a) => { throw new IOException("no"); }).Call(Some()); }
        catch (IOException) { return; }
        throw new Exception("no exception came back");
    }

    void Act()
    {
        switch (random.Next(9))
        {
            case 0: slots[random.Next(12)] = Tensor.Of(new double[] { random.NextDouble(), 2 }); break;
            case 1: slots[random.Next(12)] = Some() * 0.5 + 1; break;
            case 2: slots[random.Next(12)] = null; break;
            case 3: compiled[random.Next(4)] = null; break;
            case 4: Compile(); break;
            case 5: Fail(); break;
            case 6: if (random.Next(4) == 0) GC.Collect(); break;
            default:
                try
                {
                    var f = compiled[random.Next(4)];
                    if (f != null) f.Apply(Some());
                }
                catch (ThunderException) { slots[0] = null; } // shapes that do not fit
                break;
        }
    }

    public void Run()
    {
        try { for (int i = 0; i < 800; i++) Act(); }
        catch (Exception thrown) { Failed = thrown; }
    }
}

static class Torture
{
    static void Work()
    {
        var workers = new[] { new Worker(1), new Worker(2) };
        var threads = Array.ConvertAll(workers, worker => new Thread(worker.Run));
        foreach (var thread in threads) thread.Start();
        foreach (var thread in threads) thread.Join();
        foreach (var worker in workers) if (worker.Failed != null) throw worker.Failed;
    }

    static void Main()
    {
        Work();
        for (int i = 0; i < 10; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        int left = Worker.Made.FindAll(one => one.IsAlive).Count;
        // Mono's collector is conservative about stacks.
        if (left > Worker.Made.Count / 4) throw new Exception(left + " of " + Worker.Made.Count + " were never collected");
        // Large tensors are small objects to the collector: it is told when to run.
        var x = Ops.Zeros(new[] { 512, 512 });
        for (int i = 0; i < 2000; i++) x = x + 1;
        foreach (var line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmHWM:") && long.Parse(line.Substring(6).Replace("kB", "").Trim()) > 1200 * 1024)
                throw new Exception("the loop took " + line);
        Console.WriteLine("tortured");
    }
}
