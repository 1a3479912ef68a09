using System;
using System.Collections;
using System.Collections.Generic;
using Thunder.Core;

namespace Thunder
{
    /// <summary>What is kept of an optimiser or a schedule: a module of the core, in a safetensors file.</summary>
    internal static class State
    {
        private static object Do(Func<Call, object> action)
        {
            return Exchange.Perform(Exchange.Nothing, Exchange.Nothing, action);
        }

        internal static void Save(Func<Call, object> state, string path)
        {
            using (var module = (Core.Module)Do(state)) Do(call => call.save(module, path));
        }

        internal static void Load(Func<Call, object> state, string path)
        {
            using (var module = (Core.Module)Do(state)) Do(call => call.load(module, path));
        }
    }

    /// <summary>An update rule and its state, of the kinds that the library has; options are a name and a value in turn.</summary>
    public sealed class Optimizer
    {
        internal readonly Core.Optimizer Core;

        public Optimizer(string kind, Dictionary<string, object> parameters, params object[] options)
        {
            Core = (Core.Optimizer)Exchange.Perform(new object[] { parameters }, options, call => call.make_optimizer(kind));
        }

        /// <summary>Takes gradients in the structure of the parameters.</summary>
        public void Step(object gradients)
        {
            Exchange.Perform(new[] { gradients }, Exchange.Nothing, call => call.step(Core));
        }

        /// <summary>A step that evaluates the loss: compiled.Apply(...) gives it with the gradients, of "LBFGS" several times. Gives the
        /// first loss.</summary>
        public Tensor StepClosure(Compiled compiled, params object[] arguments)
        {
            var loss = (Tensor)Exchange.Perform(arguments, Exchange.Nothing, call => call.step_closure(Core, compiled.core));
            GC.KeepAlive(compiled); // a trace needs the delegate until the end
            return loss;
        }

        /// <summary>A number of its state or options: opt["step"], opt["weight_decay"].</summary>
        public double this[string name]
        {
            get { return Convert.ToDouble(Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.get_number(Core, name))); }
            set { Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.set_number(Core, name, value)); }
        }

        /// <summary>The learning rate; writing it compiles nothing anew.</summary>
        public double Lr
        {
            get { return this["lr"]; }
            set { this["lr"] = value; }
        }

        /// <summary>Writes moments, step and learning rate to a safetensors file.</summary>
        public void Save(string path) { State.Save(call => call.optimizer_state(Core), path); }
        public void Load(string path) { State.Load(call => call.optimizer_state(Core), path); }
    }

    /// <summary>Writes the learning rate of an optimiser at each step: "CosineAnnealingLR", "StepLR" ...</summary>
    public sealed class Schedule
    {
        private readonly Core.Schedule core;

        public Schedule(string kind, Optimizer optimizer, params object[] options)
        {
            core = (Core.Schedule)Exchange.Perform(Exchange.Nothing, options, call => call.make_schedule(kind, optimizer.Core));
        }

        public void Step() { Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.schedule_step(core)); }

        /// <summary>The learning rate of each group that the last step wrote.</summary>
        public double[] GetLastLr()
        {
            var rates = (List<object>)Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.last_lr(core));
            return rates.ConvertAll(rate => Convert.ToDouble(rate)).ToArray();
        }

        public void Save(string path) { State.Save(call => call.schedule_state(core), path); }
        public void Load(string path) { State.Load(call => call.schedule_state(core), path); }
    }

    /// <summary>foreach (var batch in batches) is one epoch of tensors with equal first sizes, in an order of its own.</summary>
    public sealed class Batches : IEnumerable<Tensor[]>
    {
        private readonly Core.Batches core;

        public Batches(Tensor[] tensors, long size, bool shuffle = false, bool dropLast = false, long seed = 0, string device = "cpu")
        {
            core = (Core.Batches)Exchange.Perform(tensors, Exchange.Nothing, call => call.make_batches(size, shuffle, dropLast, seed, device));
        }

        /// <summary>How many there are in an epoch.</summary>
        public long Count { get { return core.count(); } }

        /// <summary>The position; writing it resumes exactly there.</summary>
        public Tensor State
        {
            get { return (Tensor)Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.batches_state(core)); }
            set { Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.set_batches_state(core, value.Core)); }
        }

        public IEnumerator<Tensor[]> GetEnumerator()
        {
            for (var batch = Next(); batch.Length > 0; batch = Next()) yield return batch;
        }

        IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }

        private Tensor[] Next()
        {
            return Exchange.Tensors(Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.next_batch(core)));
        }
    }
}
