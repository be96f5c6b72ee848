import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Real Java consumers, many in one JVM, each polled by a thread of its own. One JSON object a line:
 * in {"op": "open", "name", "config": {..}, "topics": [..] or "pattern" (Java) or "regex" (RE2) or "assigned",
 * "share": true for a share consumer of topics, "watch": {..} for one that tells of what it gets},
 * {"op": "slow", "name", "ms"}: the next records of a watched member take so much longer;
 * {"op": "wish", "name", "wish": {"what": "pause", "resume", "subscribe", "unsubscribe" or "seek"}}: what a
 * watched member does before its next poll;
 * {"op": "close", "name"}, {"op": "subscribe", "name", "topics"}, {"op": "owned", "names": [..]}; out {"ok": true} with "owned" and "failed", or {"error"}.
 */
public final class LiveConsumers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream ANSWERS = System.out;
    private static final Map<String, Member> MEMBERS = new ConcurrentHashMap<>();

    private static void print(ObjectNode line) {
        synchronized (ANSWERS) {
            ANSWERS.println(line);
            ANSWERS.flush();
        }
    }

    /** A listener of a member that nobody watches. */
    private static final class NoListener implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> got) {
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> gone) {
        }
    }

    /** What a member gets, gives up and reads, told as it happens; and the time that it takes for it. */
    private static final class Watch implements ConsumerRebalanceListener {
        private final String name;
        private final long recordMs;
        private final long listenerMs;
        private final boolean commits;
        private final boolean sync;
        /** Where the group keeps its offsets, if not in Kafka; each in a file. */
        private final String store;
        private KafkaConsumer<byte[], byte[]> consumer;
        private final Queue<JsonNode> wishes = new ConcurrentLinkedQueue<>();
        private boolean unsubscribed;
        private volatile long slowMs;

        private Watch(JsonNode asked) {
            name = asked.get("name").asText();
            recordMs = asked.get("watch").get("record_ms").asLong();
            listenerMs = asked.get("watch").get("listener_ms").asLong();
            commits = asked.get("watch").get("commits").asBoolean();
            sync = asked.get("watch").path("sync").asBoolean();
            store = asked.get("watch").path("store").asText("");
        }

        private Path place(TopicPartition of) {
            return Path.of(store, of.topic() + "-" + of.partition());
        }

        private void seekToStored(Collection<TopicPartition> got) {
            for (TopicPartition each : got) {
                if (!store.isEmpty() && Files.exists(place(each))) {
                    try {
                        consumer.seek(each, Long.parseLong(Files.readString(place(each))));
                    } catch (IOException broken) {
                        throw new UncheckedIOException(broken);
                    }
                }
            }
        }

        private void keep(TopicPartition of, long offset) {
            if (store.isEmpty()) {
                return;
            }
            try {
                Path fresh = Path.of(store, place(of).getFileName() + "." + name.replace('/', '-'));
                Files.writeString(fresh, Long.toString(offset));
                Files.move(fresh, place(of), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> got) {
            seekToStored(got);
            tell("got", got);
            rest(got.isEmpty() ? 0 : listenerMs);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> gone) {
            rest(gone.isEmpty() ? 0 : listenerMs);
            tell("gave", gone);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> lost) {
            tell("gave", lost);
        }

        private ObjectNode event(String kind) {
            return JSON.createObjectNode().put("event", kind).put("name", name).put("at", System.currentTimeMillis());
        }

        private void tell(String kind, Collection<TopicPartition> partitions) {
            ObjectNode line = event(kind);
            ArrayNode rows = line.putArray("partitions");
            partitions.forEach(each -> rows.addArray().add(each.topic()).add(each.partition()));
            print(line);
        }

        private void process(ConsumerRecords<byte[], byte[]> records) {
            if (records.isEmpty()) {
                return;
            }
            ObjectNode line = event("read");
            ArrayNode rows = line.putArray("partitions");
            for (TopicPartition each : records.partitions()) {
                List<ConsumerRecord<byte[], byte[]>> own = records.records(each);
                rows.addArray().add(each.topic()).add(each.partition()).add(own.get(0).offset())
                        .add(own.get(own.size() - 1).offset() + 1);
            }
            print(line);
            rest(records.count() * recordMs + slowMs);
            slowMs = 0;
            records.partitions().forEach(each -> keep(each, consumer.position(each)));
            if (sync) {
                commitSync();
            } else if (commits) {
                consumer.commitAsync();
            }
        }

        /** A commit that came too late: whoever gets the partition reads the records again. */
        private void commitSync() {
            try {
                consumer.commitSync();
            } catch (CommitFailedException | RebalanceInProgressException rebalanced) {
                return;
            }
        }

        /** What the application wants done between two polls. */
        private void grantWishes() {
            for (JsonNode wish = wishes.poll(); wish != null; wish = wishes.poll()) {
                switch (wish.get("what").asText()) {
                    case "pause" -> consumer.pause(consumer.assignment());
                    case "resume" -> consumer.resume(consumer.paused());
                    case "subscribe" -> consumer.subscribe(texts(wish.get("topics")), this);
                    case "unsubscribe" -> {
                        consumer.unsubscribe();
                        unsubscribed = true;
                    }
                    case "seek" -> consumer.seekToBeginning(consumer.assignment());
                    default -> throw new IllegalArgumentException("unknown wish");
                }
            }
        }

        private static void rest(long ms) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException nobody) {
                throw new IllegalStateException(nobody);
            }
        }
    }

    /** One consumer and the thread that polls it. */
    private static final class Member implements Runnable {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final KafkaShareConsumer<byte[], byte[]> sharer;
        private final Watch watch;
        private final Thread thread;
        private volatile List<TopicPartition> owned = List.of();
        private volatile boolean stopped;
        private volatile List<String> wanted;
        private volatile Throwable failure;

        private Member(JsonNode asked) {
            Properties config = new Properties();
            asked.get("config").fields().forEachRemaining(each -> config.put(each.getKey(), each.getValue().asText()));
            boolean shares = asked.path("share").asBoolean();
            sharer = shares ? sharer(config, asked.get("topics")) : null;
            watch = asked.has("watch") ? new Watch(asked) : null;
            consumer = shares ? null : consumer(config, asked, watch);
            thread = new Thread(this, asked.get("name").asText());
            thread.setDaemon(true);
            thread.start();
        }

        private static KafkaShareConsumer<byte[], byte[]> sharer(Properties config, JsonNode topics) {
            KafkaShareConsumer<byte[], byte[]> sharer =
                    new KafkaShareConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            sharer.subscribe(texts(topics));
            return sharer;
        }

        private static KafkaConsumer<byte[], byte[]> consumer(Properties config, JsonNode asked, Watch watch) {
            KafkaConsumer<byte[], byte[]> consumer =
                    new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            ConsumerRebalanceListener listener = watch == null ? new NoListener() : watch;
            if (watch != null) {
                watch.consumer = consumer;
            }
            if (asked.has("assigned")) {
                List<TopicPartition> named = new ArrayList<>();
                asked.get("assigned").forEach(each -> named.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt())));
                consumer.assign(named);
                listener.onPartitionsAssigned(named);
            } else if (asked.has("regex")) {
                consumer.subscribe(new SubscriptionPattern(asked.get("regex").asText()), listener);
            } else if (asked.has("pattern")) {
                consumer.subscribe(Pattern.compile(asked.get("pattern").asText()), listener);
            } else {
                consumer.subscribe(texts(asked.get("topics")), listener);
            }
            return consumer;
        }

        @Override
        public void run() {
            try {
                while (!stopped && sharer != null) {
                    if (wanted != null) {
                        sharer.subscribe(wanted);
                        wanted = null;
                    }
                    sharer.poll(Duration.ofMillis(50));
                }
                while (!stopped) {
                    if (wanted != null) {
                        consumer.subscribe(wanted);
                        wanted = null;
                    }
                    if (watch != null) {
                        watch.grantWishes();
                    }
                    if (watch != null && watch.unsubscribed) {
                        Watch.rest(50);  // a poll would throw
                        continue;
                    }
                    ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(50));
                    if (watch != null) {
                        watch.process(records);
                    }
                    owned = new ArrayList<>(consumer.assignment());
                }
            } catch (WakeupException woken) {
                // told to stop
            } catch (Throwable thrown) {
                failure = thrown;
            } finally {
                if (sharer == null) {
                    consumer.close();
                } else {
                    sharer.close();
                }
            }
        }

        private void close() throws Exception {
            stopped = true;
            if (sharer == null) {
                consumer.wakeup();
            } else {
                sharer.wakeup();
            }
            thread.join(30_000);
            if (failure != null) {
                throw new IllegalStateException(failure);
            }
        }
    }

    private LiveConsumers() {
    }

    public static void main(String[] args) throws Exception {
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            JsonNode request = JSON.readTree(line);
            new Thread(() -> reply(request)).start();
        }
        System.exit(0);
    }

    private static void reply(JsonNode request) {
        ObjectNode answer = JSON.createObjectNode();
        answer.set("number", request.get("number"));
        try {
            act(request, answer);
            answer.put("ok", true);
        } catch (Throwable thrown) {
            answer.put("error", thrown.toString());
        }
        print(answer);
    }

    private static void act(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("op").asText()) {
            case "open" -> MEMBERS.put(request.get("name").asText(), new Member(request));
            case "close" -> MEMBERS.remove(request.get("name").asText()).close();
            case "subscribe" -> MEMBERS.get(request.get("name").asText()).wanted = texts(request.get("topics"));
            case "wish" -> MEMBERS.get(request.get("name").asText()).watch.wishes.add(request.get("wish"));
            case "slow" -> MEMBERS.get(request.get("name").asText()).watch.slowMs = request.get("ms").asLong();
            case "owned" -> answer.set("owned", owned(request.get("names"), answer.putObject("failed")));
            default -> throw new IllegalArgumentException("unknown op");
        }
    }

    private static List<String> texts(JsonNode asked) {
        List<String> found = new ArrayList<>();
        asked.forEach(each -> found.add(each.asText()));
        return found;
    }

    private static ObjectNode owned(JsonNode names, ObjectNode failed) {
        ObjectNode found = JSON.createObjectNode();
        for (JsonNode name : names) {
            Member member = MEMBERS.get(name.asText());
            if (member.failure != null) {
                failed.put(name.asText(), member.failure.toString());
            }
            ArrayNode rows = found.putArray(name.asText());
            member.owned.forEach(each -> rows.addArray().add(each.topic()).add(each.partition()));
        }
        return found;
    }
}
