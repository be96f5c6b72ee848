import java.io.IOException;
import java.lang.reflect.Proxy;
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
 * Every release of Kafka is started by this one class, so it calls only what all of them have. A
 * file `zookeeper.properties` in the data folder starts a ZooKeeper for it, in the same JVM.
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
            int status = format(format);
            if (status != 0) {
                Runtime.getRuntime().halt(status);
            }
        }
        Path zookeeper = Path.of(args[1], "zookeeper.properties");
        if (Files.exists(zookeeper)) {
            startZooKeeper(zookeeper);
        }
        kafka.Kafka.main(new String[] {properties});
    }

    /** The tool's own end, which would be ours: every release has `main`, few have more. */
    private static final class Ended extends RuntimeException {
        private final int status;

        private Ended(int status) {
            super("ended with " + status);
            this.status = status;
        }
    }

    private static int format(String[] arguments) {
        Class<?> exit = exit("org.apache.kafka.common.utils.internals.", "org.apache.kafka.common.utils.");
        try {
            Class<?> procedure = Class.forName(exit.getName() + "$Procedure");
            Object end = Proxy.newProxyInstance(exit.getClassLoader(), new Class<?>[] {procedure}, (self, method, told) -> {
                if (told[1] != null) {
                    System.err.println(told[1]);
                }
                throw new Ended((int) told[0]);
            });
            exit.getMethod("setExitProcedure", procedure).invoke(null, end);
            try {
                kafka.tools.StorageTool.main(arguments);
                return 0;
            } catch (Ended ended) {
                return ended.status;
            } finally {
                exit.getMethod("resetExitProcedure").invoke(null);
            }
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Kafka's `Exit`, which 4.4 keeps in another package. */
    private static Class<?> exit(String... packages) {
        for (String name : packages) {
            try {
                return Class.forName(name + "Exit");
            } catch (ClassNotFoundException elsewhere) {
                // in the next one
            }
        }
        throw new IllegalStateException("Kafka has no Exit");
    }

    /** Only the jars of releases before 4.0 have it. */
    private static void startZooKeeper(Path properties) {
        System.setProperty("zookeeper.admin.enableServer", "false");
        System.setProperty("zookeeper.jmx.log4j.disable", "true");
        Thread server = new Thread(() -> {
            try {
                Class<?> main = Class.forName("org.apache.zookeeper.server.ZooKeeperServerMain");
                Object arguments = new String[] {properties.toString()};
                main.getMethod("main", String[].class).invoke(null, arguments);
            } catch (ReflectiveOperationException failure) {
                failure.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        }, "zookeeper");
        server.setDaemon(true);
        server.start();
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
