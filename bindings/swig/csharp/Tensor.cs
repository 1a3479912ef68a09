using System;
using System.Collections.Generic;

namespace Thunder
{
    /// <summary>A tensor. Dispose() gives its memory back now, and not when the collector comes by.</summary>
    public sealed partial class Tensor : IDisposable
    {
        internal readonly Core.Tensor Core;

        internal Tensor(Core.Tensor core)
        {
            Core = core;
        }

        public void Dispose() { Core.Dispose(); }

        private static readonly Dictionary<string, Type> types = new Dictionary<string, Type> {
            { "f32", typeof(float) }, { "f64", typeof(double) }, { "i64", typeof(long) }, { "i32", typeof(int) },
            { "u8", typeof(byte) }, { "i8", typeof(sbyte) }, { "u16", typeof(ushort) }, { "i16", typeof(short) },
            { "u32", typeof(uint) }, { "u64", typeof(ulong) }, { "bool", typeof(bool) } };

        /// <summary>Of an array of any rank, such as float[,].</summary>
        public static Tensor Of(Array values)
        {
            var type = values.GetType().GetElementType();
            string dtype = null;
            foreach (var row in types) if (row.Value == type) dtype = row.Key;
            if (dtype == null) throw new ThunderException("a tensor has no elements of type " + type, 3);
            var shape = new object[values.Rank];
            for (int axis = 0; axis < shape.Length; axis++) shape[axis] = (long)values.GetLength(axis);
            var bytes = new byte[Buffer.ByteLength(values)];
            Buffer.BlockCopy(values, 0, bytes, 0, bytes.Length);
            return (Tensor)Exchange.Perform(shape, Exchange.Nothing, call => call.create_from(dtype, bytes, bytes.Length));
        }

        public string Dtype { get { return Core.dtype(); } }
        public int Rank { get { return Core.rank(); } }
        public long Size(int axis) { return Core.size(axis); }

        public long[] Shape
        {
            get
            {
                var shape = new long[Rank];
                for (int axis = 0; axis < shape.Length; axis++) shape[axis] = Size(axis);
                return shape;
            }
        }

        /// <summary>An array of the tensor's rank and type, such as float[,]; of rank 0, one of rank 1 with one
        /// element.</summary>
        public Array ToArray()
        {
            var shape = Shape.Length == 0 ? new long[] { 1 } : Shape;
            return Read(Array.CreateInstance(ElementType(), shape));
        }

        /// <summary>All elements in one array, of their own type: x.Flat&lt;float&gt;().</summary>
        public T[] Flat<T>()
        {
            if (typeof(T) != ElementType()) throw new ThunderException("the tensor has elements of " + Dtype, 3);
            long count = 1;
            foreach (var size in Shape) count *= size;
            return (T[])Read(new T[count]);
        }

        public object Item()
        {
            var array = ToArray();
            if (array.Length != 1) throw new ThunderException("item: the tensor has not one element", 3);
            foreach (var element in array) return element;
            return null;
        }

        /// <summary>New elements of the same count, in place: what was compiled over this tensor sees them.</summary>
        public void Assign(Array values)
        {
            var bytes = new byte[Buffer.ByteLength(values)];
            Buffer.BlockCopy(values, 0, bytes, 0, bytes.Length);
            Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.write_from(Core, bytes, bytes.Length));
        }

        private Type ElementType()
        {
            if (!types.ContainsKey(Dtype)) throw new ThunderException(".NET has no " + Dtype + "; use To(\"f32\") first", 3);
            return types[Dtype];
        }

        private Array Read(Array into)
        {
            var bytes = new byte[Core.nbytes()];
            Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => {
                var read = call.read(Core);
                if (read) call.copy_data(bytes);
                return read;
            });
            Buffer.BlockCopy(bytes, 0, into, 0, bytes.Length);
            return into;
        }

        // Each is the op of its name; whole numbers stay such.
        public static Tensor operator +(Tensor a, Tensor b) { return Ops.Add(a, b); }
        public static Tensor operator +(Tensor a, double b) { return Ops.Add(a, b); }
        public static Tensor operator +(double a, Tensor b) { return Ops.Add(a, b); }
        public static Tensor operator +(Tensor a, long b) { return Ops.Add(a, b); }
        public static Tensor operator +(long a, Tensor b) { return Ops.Add(a, b); }
        public static Tensor operator -(Tensor a, Tensor b) { return Ops.Sub(a, b); }
        public static Tensor operator -(Tensor a, double b) { return Ops.Sub(a, b); }
        public static Tensor operator -(double a, Tensor b) { return Ops.Sub(a, b); }
        public static Tensor operator -(Tensor a, long b) { return Ops.Sub(a, b); }
        public static Tensor operator -(long a, Tensor b) { return Ops.Sub(a, b); }
        public static Tensor operator *(Tensor a, Tensor b) { return Ops.Mul(a, b); }
        public static Tensor operator *(Tensor a, double b) { return Ops.Mul(a, b); }
        public static Tensor operator *(double a, Tensor b) { return Ops.Mul(a, b); }
        public static Tensor operator *(Tensor a, long b) { return Ops.Mul(a, b); }
        public static Tensor operator *(long a, Tensor b) { return Ops.Mul(a, b); }
        public static Tensor operator /(Tensor a, Tensor b) { return Ops.Div(a, b); }
        public static Tensor operator /(Tensor a, double b) { return Ops.Div(a, b); }
        public static Tensor operator /(double a, Tensor b) { return Ops.Div(a, b); }
        public static Tensor operator /(Tensor a, long b) { return Ops.Div(a, b); }
        public static Tensor operator /(long a, Tensor b) { return Ops.Div(a, b); }
        public static Tensor operator %(Tensor a, Tensor b) { return Ops.Remainder(a, b); }
        public static Tensor operator %(Tensor a, double b) { return Ops.Remainder(a, b); }
        public static Tensor operator %(double a, Tensor b) { return Ops.Remainder(a, b); }
        public static Tensor operator %(Tensor a, long b) { return Ops.Remainder(a, b); }
        public static Tensor operator %(long a, Tensor b) { return Ops.Remainder(a, b); }
        public static Tensor operator &(Tensor a, Tensor b) { return Ops.BitwiseAnd(a, b); }
        public static Tensor operator &(Tensor a, long b) { return Ops.BitwiseAnd(a, b); }
        public static Tensor operator &(long a, Tensor b) { return Ops.BitwiseAnd(a, b); }
        public static Tensor operator |(Tensor a, Tensor b) { return Ops.BitwiseOr(a, b); }
        public static Tensor operator |(Tensor a, long b) { return Ops.BitwiseOr(a, b); }
        public static Tensor operator |(long a, Tensor b) { return Ops.BitwiseOr(a, b); }
        public static Tensor operator ^(Tensor a, Tensor b) { return Ops.BitwiseXor(a, b); }
        public static Tensor operator ^(Tensor a, long b) { return Ops.BitwiseXor(a, b); }
        public static Tensor operator ^(long a, Tensor b) { return Ops.BitwiseXor(a, b); }
        public static Tensor operator <<(Tensor a, int b) { return Ops.BitwiseLeftShift(a, b); }
        public static Tensor operator >>(Tensor a, int b) { return Ops.BitwiseRightShift(a, b); }
        public static Tensor operator -(Tensor a) { return a.Neg(); }
        public static Tensor operator ~(Tensor a) { return a.BitwiseNot(); }

        /// <summary>As PyTorch prints it.</summary>
        public override string ToString()
        {
            return (string)Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.tensor_text(Core));
        }
    }
}
