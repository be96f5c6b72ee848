import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;

import kafka.admin.AdminUtils;
import kafka.consumer.ConsumerConfig;
import kafka.consumer.Whitelist;
import kafka.javaapi.consumer.ZookeeperConsumerConnector;
import kafka.server.KafkaConfig;
import kafka.server.KafkaServerStartable;
import kafka.utils.ZKStringSerializer$;
import org.I0Itec.zkclient.ZkClient;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.FinalRequestProcessor;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.PrepRequestProcessor;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.SyncRequestProcessor;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * Kafka 0.8.2's broker and consumers with their ZooKeeper, in one process, for comparison.
 *
 * Commands come as lines of words on stdin; what happens goes out as lines of tab-separated fields:
 * `op SESSION API PATH WATCH ERROR` as the server finishes a request, `log THREAD MESSAGE` as a
 * consumer or its ZkClient says something, `done COMMAND` when a command was carried out.
 * Usage: EraWorld FOLDER.
 */
public final class EraWorld {
    /**
     * No session ends because the machine is busy: those that should end are told to (`expire`).
     *
     * The server and all its clients stop together when this process gets no processor, and sessions
     * that are to be kept alive every 6 s, a consumer's default, are then all over. A consumer whose
     * session expires a second time before it has registered again for the first does not survive
     * that (KAFKA-1387): its registration is repeated in the newest session, succeeds, and then the
     * second new session is handled, by the same method, which meets the node of its own session and
     * takes it for that of an old one: `createEphemeralPathExpectConflictHandleZKBug` waits a
     * session timeout for the node to vanish, tries again, and so on without end, in the thread that
     * all events of the consumer need.
     */
    private static final int SESSION_MS = 24 * 3600 * 1000;
    private static final Map<Integer, String> APIS = new HashMap<>();
    private static final Object OUT_LOCK = new Object();
    private static final Map<String, ZookeeperConsumerConnector> CONSUMERS = new ConcurrentHashMap<>();
    private static final Map<String, Thread> STARTING = new ConcurrentHashMap<>();
    private static final Map<String, Long> SESSIONS = new ConcurrentHashMap<>();
    private static PrintStream out;
    private static volatile long lastAt = System.nanoTime();
    private static RecordingServer server;
    private static String address;
    private static ZkClient admin;
    private static KafkaServerStartable broker;

    static {
        APIS.put(OpCode.create, "create");
        APIS.put(OpCode.delete, "delete");
        APIS.put(OpCode.setData, "setData");
        APIS.put(OpCode.getData, "getData");
        APIS.put(OpCode.exists, "exists");
        APIS.put(OpCode.getChildren, "getChildren");
        APIS.put(OpCode.getChildren2, "getChildren");
        APIS.put(OpCode.createSession, "createSession");
        APIS.put(OpCode.closeSession, "closeSession");
        APIS.put(OpCode.setWatches, "setWatches");
    }

    private EraWorld() {}

    static void emit(String... fields) {
        synchronized (OUT_LOCK) {
            out.println(String.join("\t", fields).replace('\n', ' '));
            out.flush();
        }
    }

    /** A server that tells of every request when it has been carried out, in order. */
    static final class RecordingServer extends ZooKeeperServer {
        RecordingServer(File folder) throws Exception {
            super(folder, folder, 500);
            setMaxSessionTimeout(SESSION_MS);
        }

        @Override
        protected void setupRequestProcessors() {
            RequestProcessor last = new FinalRequestProcessor(this) {
                @Override
                public void processRequest(Request request) {
                    record(request);
                    super.processRequest(request);
                }
            };
            SyncRequestProcessor sync = new SyncRequestProcessor(this, last);
            sync.start();
            PrepRequestProcessor prep = new PrepRequestProcessor(this, sync);
            firstProcessor = prep;
            prep.start();
        }
    }

    static void record(Request request) {
        String api = APIS.get(request.type);
        if (api == null) {
            return;
        }
        String path = "";
        String watch = "";
        if (request.request != null && request.type > 0 && request.type != OpCode.setWatches) {
            ByteBuffer bytes = request.request.duplicate();
            bytes.rewind();
            byte[] text = new byte[bytes.getInt()];
            bytes.get(text);
            path = new String(text, StandardCharsets.UTF_8);
            boolean reads = request.type == OpCode.getData || request.type == OpCode.exists
                    || request.type == OpCode.getChildren || request.type == OpCode.getChildren2;
            watch = reads && bytes.get() != 0 ? "watch" : "";
        }
        String error = request.hdr != null && request.hdr.getType() == OpCode.error ? "error" : "";
        if (api.equals("create") && error.isEmpty() && path.contains("/ids/")) {
            SESSIONS.put(path.substring(path.lastIndexOf('/') + 1), request.sessionId);
        }
        lastAt = System.nanoTime();
        emit("op", Long.toHexString(request.sessionId), api, path, watch, error);
    }

    /** What consumers and their ZkClients log. */
    static final class Told extends AppenderSkeleton {
        @Override
        protected void append(LoggingEvent event) {
            String message = event.getRenderedMessage();
            boolean zk = event.getLoggerName().startsWith("org.I0Itec");
            if (zk && !message.startsWith("Received event") && event.getLevel() != Level.ERROR) {
                return;
            }
            lastAt = System.nanoTime();
            String thrown = event.getThrowableInformation() == null ? ""
                    : String.valueOf(event.getThrowableInformation().getThrowable());
            emit("log", event.getThreadName(), message, thrown);
        }

        @Override
        public void close() {}

        @Override
        public boolean requiresLayout() {
            return false;
        }
    }

    private static void listen() {
        Logger.getRootLogger().setLevel(Level.OFF);
        Told told = new Told();
        for (String name : Arrays.asList(
                "kafka.consumer.ZookeeperConsumerConnector", "org.I0Itec.zkclient")) {
            Logger logger = Logger.getLogger(name);
            logger.setLevel(name.startsWith("kafka") ? Level.INFO : Level.DEBUG);
            logger.setAdditivity(false);
            logger.addAppender(told);
        }
    }

    private static void startServers(File folder) throws Exception {
        server = new RecordingServer(new File(folder, "zookeeper"));
        NIOServerCnxnFactory factory = new NIOServerCnxnFactory();
        InetAddress local = InetAddress.getByName("127.0.0.1");
        factory.configure(new InetSocketAddress(local, 0), 100);
        factory.startup(server);
        address = "127.0.0.1:" + factory.getLocalPort();
        admin = new ZkClient(address, SESSION_MS, 60_000, ZKStringSerializer$.MODULE$);
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, local)) {
            port = free.getLocalPort();
        }
        Properties settings = new Properties();
        settings.put("zookeeper.connect", address);
        settings.put("broker.id", "0");
        settings.put("host.name", "127.0.0.1");
        settings.put("port", Integer.toString(port));
        settings.put("log.dirs", new File(folder, "logs").getPath());
        settings.put("zookeeper.session.timeout.ms", Integer.toString(SESSION_MS));
        settings.put("zookeeper.connection.timeout.ms", "60000");
        settings.put("num.network.threads", "1");
        settings.put("num.io.threads", "1");
        broker = new KafkaServerStartable(new KafkaConfig(settings));
        broker.startup();
    }

    /** start ID static|white_list TOPIC STREAMS [PROPERTY=VALUE]... */
    private static void start(List<String> words) {
        Properties settings = new Properties();
        settings.put("zookeeper.connect", address);
        settings.put("group.id", "g");
        settings.put("consumer.id", words.get(0));
        settings.put("auto.commit.enable", "false");
        settings.put("zookeeper.session.timeout.ms", Integer.toString(SESSION_MS));
        settings.put("zookeeper.connection.timeout.ms", "60000");
        for (String each : words.subList(4, words.size())) {
            String[] pair = each.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        String topic = words.get(2);
        int streams = Integer.parseInt(words.get(3));
        Thread begun = new Thread("g_" + words.get(0)) {
            @Override
            public void run() {
                try {
                    ZookeeperConsumerConnector made =
                            new ZookeeperConsumerConnector(new ConsumerConfig(settings), true);
                    CONSUMERS.put(words.get(0), made);
                    if (words.get(1).equals("static")) {
                        made.createMessageStreams(Collections.singletonMap(topic, streams));
                    } else {
                        made.createMessageStreamsByFilter(new Whitelist(topic), streams);
                    }
                    emit("log", getName(), "streams created", "");
                } catch (RuntimeException failure) {
                    emit("log", getName(), "streams not created", failure.toString());
                }
            }
        };
        STARTING.put(words.get(0), begun);
        begun.start();
    }

    /** Tells of every owner node: `log owner TOPIC-PARTITION THREAD`. */
    private static void owners() {
        String above = "/consumers/g/owners";
        for (String topic : admin.getChildren(above)) {
            for (String partition : admin.getChildren(above + "/" + topic)) {
                String thread = admin.readData(above + "/" + topic + "/" + partition);
                emit("log", "owner", topic + "-" + partition, thread);
            }
        }
    }

    /** Tells of every session: `log session ID TIMEOUT_MS`. */
    private static void sessions() {
        server.getZKDatabase().getSessionWithTimeOuts().forEach((id, timeoutMs) ->
                emit("log", "session", Long.toHexString(id), Integer.toString(timeoutMs)));
    }

    private static void quiet(long millis) throws InterruptedException {
        while (System.nanoTime() - lastAt < millis * 1_000_000) {
            Thread.sleep(20);
        }
    }

    private static void carryOut(String command, List<String> words) throws Exception {
        switch (command) {
            case "topic":
                AdminUtils.createTopic(
                        admin, words.get(0), Integer.parseInt(words.get(1)), 1, new Properties());
                break;
            case "partitions":
                AdminUtils.addPartitions(admin, words.get(0), Integer.parseInt(words.get(1)),
                        "", true, new Properties());
                break;
            case "start":
                start(words);
                break;
            case "created":
                STARTING.get(words.get(0)).join();
                break;
            case "shutdown":
                CONSUMERS.get(words.get(0)).shutdown();
                break;
            case "expire":
                server.closeSession(SESSIONS.get("g_" + words.get(0)));
                break;
            case "write":
                admin.createPersistent(words.get(0), true);
                admin.writeData(words.get(0), words.get(1));
                break;
            case "delete":
                admin.delete(words.get(0));
                break;
            case "owners":
                owners();
                break;
            case "sessions":
                sessions();
                break;
            case "pause":
                Thread.sleep(Long.parseLong(words.get(0)));
                break;
            case "quiet":
                quiet(Long.parseLong(words.get(0)));
                break;
            default:
                throw new IllegalArgumentException(command);
        }
    }

    public static void main(String[] arguments) throws Exception {
        out = System.out;
        System.setOut(System.err);
        listen();
        startServers(new File(arguments[0]));
        emit("done", "up");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = new ArrayList<>(Arrays.asList(line.trim().split(" ")));
            String command = words.remove(0);
            try {
                carryOut(command, words);
                emit("done", command);
            } catch (Exception failure) {
                emit("done", command, failure.toString());
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
