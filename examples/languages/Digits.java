// Trains an MLP on handwritten digits: java Digits.java DIGITS.csv
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import thunder.Batches;
import thunder.Compiled;
import thunder.Module;
import thunder.Optimizer;
import thunder.Schedule;
import thunder.Tensor;
import thunder.Thunder;

public final class Digits {
    private static final int EPOCHS = 5;

    private static Module network() {
        return new Module("Sequential")
            .add("0", new Module("Linear", 64, 128)).add("1", new Module("ReLU")).add("2", new Module("Linear", 128, 10));
    }

    public static void main(String[] arguments) throws Exception {
        Tensor table = Thunder.readCsv(arguments[0]);
        Tensor images = table.slice(1, 0, 64).div(16), labels = table.slice(1, 64, 65).squeeze(1).to("i64");

        Thunder.seed(42);
        Module net = network();
        Map<String, Object> params = net.parameters();
        Optimizer opt = new Optimizer("AdamW", params, "lr", 4e-3);
        Batches batches = new Batches(List.of(images.slice(0, 0, 1500), labels.slice(0, 0, 1500)), 32, true, true, 2);
        Schedule schedule = new Schedule("CosineAnnealingLR", opt, "T_max", EPOCHS * batches.size());

        Compiled step = Thunder.compile((x, y) -> { // forward, loss, gradients and update: one program
            Tensor loss = net.call(x).crossEntropy(y);
            opt.step(Thunder.clipGradNorm(Thunder.gradOf(loss, params), 1.0).gradients);
            return loss;
        });

        for (int epoch = 1; epoch <= EPOCHS; epoch++) {
            double loss = 0;
            for (Tensor[] batch : batches) {
                loss = ((Number) step.call(batch[0], batch[1]).item()).doubleValue();
                schedule.step();
            }
            System.out.printf(Locale.ROOT, "epoch %d: loss %.4f, lr %.6f%n", epoch, loss, schedule.getLastLr().get(0));
        }

        Path folder = Files.createTempDirectory("digits");
        Path model = folder.resolve("net.safetensors"), state = folder.resolve("opt.safetensors");
        net.save(model.toString());
        opt.save(state.toString());
        Module again = network().load(model.toString());
        Optimizer resumed = new Optimizer("AdamW", again.parameters(), "lr", 1.0);
        resumed.load(state.toString());
        for (Path path : List.of(model, state, folder)) Files.delete(path);
        resumed.set("lr", 1e-4); // compiles nothing
        System.out.printf(Locale.ROOT, "resumed at step %.0f, lr %.4f%n", resumed.get("step"), resumed.get("lr"));

        Tensor position = batches.state(); // and the order of the data
        Tensor first = batches.iterator().next()[1];
        batches.setState(position);
        Tensor againFirst = batches.iterator().next()[1];
        System.out.println("the same batch again: " + first.eq(againFirst).sum().item() + " of 32 labels");
        Tensor clipped = (Tensor) ((List<?>) Thunder.clipGradValue(new Object[] {images}, 0.5)).get(0);
        System.out.printf(Locale.ROOT, "clipped to %.1f%n", ((Number) clipped.amax().item()).doubleValue());

        Compiled predict = Thunder.compile(x -> again.call(x).argmax(-1));
        long count = labels.size(0);
        Tensor found = (Tensor) predict.call(images.slice(0, 1500, count));
        System.out.println(found.eq(labels.slice(0, 1500, count)).sum().item() + " of " + (count - 1500) + " right, "
            + step.stats().get("misses") + " programs");
    }
}
