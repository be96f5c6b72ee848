import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * Formats a broker's storage when asked, then runs the broker, in one JVM (a start less to wait for).
 * It ends with whoever started it: standard input is a pipe from there, and its end means that the
 * other side is gone, however it died. Then the data goes too.
 *
 * Arguments: the properties file, the data folder, and the format tool's own arguments, if any.
 */
public final class BrokerOnALeash {
    private BrokerOnALeash() {
    }

    public static void main(String[] args) {
        String properties = args[0];
        Path data = Path.of(args[1]);
        Thread leash = new Thread(() -> endWithStandardInput(data), "leash");
        leash.setDaemon(true);
        leash.start();
        if (args.length > 2) {
            String[] format = Arrays.copyOfRange(args, 2, args.length);
            int status = kafka.tools.StorageTool.execute(format, System.err);
            if (status != 0) {
                Runtime.getRuntime().halt(status);
            }
        }
        kafka.Kafka.main(new String[] {properties});
    }

    private static void endWithStandardInput(Path data) {
        try {
            while (System.in.read() >= 0) {
                // nothing is ever written: only the end of the pipe says something
            }
        } catch (IOException broken) {
            System.err.println("leash: " + broken);
        }
        System.err.println("leash: whoever started this broker is gone");
        try (Stream<Path> files = Files.walk(data)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException left) {
            System.err.println("leash: " + left);
        }
        Runtime.getRuntime().halt(1);
    }
}
