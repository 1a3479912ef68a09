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
        System.out.printf(Locale.ROOT, "resumed at step %.0f%n", resumed.get("step"));

        Compiled predict = Thunder.compile(x -> again.call(x).argmax(-1));
        long count = labels.size(0);
        Tensor found = (Tensor) predict.call(images.slice(0, 1500, count));
        System.out.println(found.eq(labels.slice(0, 1500, count)).sum().item() + " of " + (count - 1500) + " right, "
            + step.stats().get("misses") + " programs");
    }
}
