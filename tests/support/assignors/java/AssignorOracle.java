import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerProtocolSubscription;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TopicIds;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Runs the real assignor classes on cases read as JSON lines; one answer line per case. Format: tests/support/assignors/generate.py. */
public class AssignorOracle {
    static final ObjectMapper JSON = new ObjectMapper();
    static final HexFormat HEX = HexFormat.of();
    static final long LIMIT_MS = Long.getLong("oracle.limit.ms", 10_000);

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 20);
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 20);
        String line;
        while ((line = in.readLine()) != null) {
            if (line.isBlank()) continue;
            JsonNode c = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            answer.set("id", c.get("id"));
            ArrayNode rounds = JSON.createArrayNode();
            answer.set("java", rounds);
            runLimited(c, rounds);
            out.write(JSON.writeValueAsString(answer));
            out.write('\n');
            if (args.length > 0 && args[0].equals("--flush")) out.flush();
        }
        out.flush();
        System.exit(0);
    }

    /** An adversarial case can keep the general sticky algorithm busy for ever: then the round's answer is {"error":"timeout"}. */
    @SuppressWarnings({"deprecation", "removal"})
    static void runLimited(JsonNode c, ArrayNode rounds) throws Exception {
        ArrayNode own = JSON.createArrayNode();
        Thread t = new Thread(null, () -> {
            if (c.get("side").asText().equals("server")) server(c, own); else client(c, own);
        }, "case", 64L << 20);
        t.setDaemon(true);
        t.start();
        t.join(LIMIT_MS);
        boolean late = t.isAlive();
        if (late) {
            t.stop();
            t.join(5_000);
        }
        rounds.addAll(own);
        if (late) rounds.add(JSON.createObjectNode().put("error", "timeout"));
    }

    // ---- client side ---------------------------------------------------------------------------------------------

    static ConsumerPartitionAssignor newClient(String name) {
        switch (name) {
            case "range": return new RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            case "cooperative-sticky": return new CooperativeStickyAssignor();
            default: throw new IllegalArgumentException(name);
        }
    }

    static void client(JsonNode c, ArrayNode out) {
        String strategy = c.get("strategy").asText();
        ConsumerPartitionAssignor leader = newClient(strategy);
        List<Map<String, List<TopicPartition>>> results = new ArrayList<>();
        List<Integer> generations = new ArrayList<>();
        JsonNode topics = c.get("topics");
        for (JsonNode round : c.get("rounds")) {
            if (round.has("topics")) topics = round.get("topics");
            if (round.path("new_leader").asBoolean()) leader = newClient(strategy);
            int generation = round.path("generation").asInt(results.size() + 1);
            generations.add(generation);
            ObjectNode answer = JSON.createObjectNode();
            try {
                Map<String, Subscription> subs = new HashMap<>();
                List<String> ids = new ArrayList<>();
                for (JsonNode m : round.get("members")) {
                    String id = m.get("id").asText();
                    ids.add(id);
                    ByteBuffer wire = wire(m, strategy, results, generations);
                    if (round.path("want_wire").asBoolean())
                        answer.withArray("wire").add(HEX.formatHex(wire.array(), 0, wire.limit()));
                    Subscription s = ConsumerProtocol.deserializeSubscription(wire);
                    s.setGroupInstanceId(Optional.ofNullable(text(m, "instance")));
                    subs.put(id, s);
                }
                Map<String, Assignment> result = leader.assign(cluster(topics), new GroupSubscription(subs)).groupAssignment();
                Map<String, Integer> index = new HashMap<>();
                for (int i = 0; i < ids.size(); i++) index.put(ids.get(i), i);
                ArrayNode members = answer.putArray("members");
                Map<String, List<TopicPartition>> plain = new HashMap<>();
                for (Map.Entry<String, Assignment> e : result.entrySet()) {
                    plain.put(e.getKey(), e.getValue().partitions());
                    ArrayNode one = members.addArray();
                    if (index.containsKey(e.getKey())) one.add(index.get(e.getKey())); else one.add(e.getKey());
                    one.add(grouped(e.getValue().partitions()));
                }
                results.add(plain);
                if (leader instanceof AbstractStickyAssignor)
                    answer.put("max_generation", ((AbstractStickyAssignor) leader).maxGeneration());
                if (round.path("want_user_data").asBoolean()) {
                    ArrayNode ud = answer.putArray("user_data");
                    for (String id : ids) {
                        ByteBuffer b = userData(strategy, plain.get(id), generation);
                        if (b == null) ud.addNull(); else ud.add(HEX.formatHex(b.array(), 0, b.limit()));
                    }
                }
                if (round.path("want_wire").asBoolean()) {
                    ArrayNode aw = answer.putArray("assignment_wire");
                    for (String id : ids) {
                        ByteBuffer b = ConsumerProtocol.serializeAssignment(new Assignment(plain.get(id)));
                        aw.add(HEX.formatHex(b.array(), 0, b.limit()));
                    }
                }
                out.add(answer);
            } catch (RuntimeException | StackOverflowError | AssertionError e) {
                out.add(JSON.createObjectNode().put("error", e.getClass().getName()));
                return;
            }
        }
    }

    /** The bytes a member sends in JoinGroup, from the case or from an earlier round's answer ("from"). */
    static ByteBuffer wire(JsonNode m, String strategy, List<Map<String, List<TopicPartition>>> results, List<Integer> generations) {
        String id = m.get("id").asText();
        if (m.hasNonNull("metadata")) return ByteBuffer.wrap(HEX.parseHex(m.get("metadata").asText()));   // bytes seen on a real wire
        List<TopicPartition> owned = flat(m.path("owned"));
        int generation = m.path("generation").asInt(-1);
        ByteBuffer userData = m.hasNonNull("user_data") ? ByteBuffer.wrap(HEX.parseHex(m.get("user_data").asText())) : null;
        if (m.hasNonNull("from")) {
            int k = m.get("from").asInt();
            List<TopicPartition> got = results.get(k).get(id);
            generation = generations.get(k);
            userData = userData(strategy, got, generation);
            if (strategy.equals("cooperative-sticky")) {
                owned = new ArrayList<>(got);
                owned.sort(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
            }
        }
        ConsumerProtocolSubscription data = new ConsumerProtocolSubscription();
        List<String> topics = new ArrayList<>();
        for (JsonNode t : m.get("topics")) topics.add(t.asText());
        data.setTopics(topics);
        data.setUserData(userData);
        // one wire entry per entry of the case (a topic may come twice: the wire class is a multi-collection)
        ConsumerProtocolSubscription.TopicPartition last = null;
        JsonNode raw = m.path("owned");
        if (owned.equals(flat(raw))) {
            for (JsonNode t : raw) {
                last = new ConsumerProtocolSubscription.TopicPartition().setTopic(t.get(0).asText());
                for (JsonNode p : t.get(1)) last.partitions().add(p.asInt());
                data.ownedPartitions().add(last);
            }
        } else for (TopicPartition tp : owned) {
            if (last == null || !last.topic().equals(tp.topic())) {
                last = new ConsumerProtocolSubscription.TopicPartition().setTopic(tp.topic());
                data.ownedPartitions().add(last);
            }
            last.partitions().add(tp.partition());
        }
        data.setGenerationId(generation);
        data.setRackId(text(m, "rack"));
        return MessageUtil.toVersionPrefixedByteBuffer((short) m.path("version").asInt(3), data);
    }

    static ByteBuffer userData(String strategy, List<TopicPartition> got, int generation) {
        ConsumerPartitionAssignor member = newClient(strategy);
        member.onAssignment(new Assignment(got), new ConsumerGroupMetadata("g", generation, "m", Optional.empty()));
        return member.subscriptionUserData(Collections.emptySet());
    }

    /** topics: [[name, n] | [name, [[rack|null per replica] per partition]], ...] */
    static Cluster cluster(JsonNode topics) {
        Map<String, Node> nodes = new LinkedHashMap<>();
        Node plain = new Node(1000, "h", 9092);
        List<PartitionInfo> infos = new ArrayList<>();
        for (JsonNode t : topics) {
            String name = t.get(0).asText();
            JsonNode spec = t.get(1);
            int n = spec.isArray() ? spec.size() : spec.asInt();
            for (int p = 0; p < n; p++) {
                Node[] replicas;
                if (!spec.isArray()) replicas = new Node[] {plain};
                else {
                    JsonNode racks = spec.get(p);
                    replicas = new Node[racks.size()];
                    for (int r = 0; r < replicas.length; r++) {
                        String rack = racks.get(r).isNull() ? null : racks.get(r).asText();
                        replicas[r] = nodes.computeIfAbsent(rack + "#" + r, k -> new Node(nodes.size(), "h", 9092, rack));
                    }
                }
                // the ISR holds the first replica only: the assignors must look at all replicas
                Node[] isr = replicas.length == 0 ? new Node[0] : new Node[] {replicas[0]};
                infos.add(new PartitionInfo(name, p, replicas.length == 0 ? null : replicas[0], replicas, isr));
            }
        }
        List<Node> all = new ArrayList<>(nodes.values());
        all.add(plain);
        return new Cluster("c", all, infos, Collections.emptySet(), Collections.emptySet());
    }

    // ---- server side ---------------------------------------------------------------------------------------------

    static PartitionAssignor newServer(String name) {
        switch (name) {
            case "range": return new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
            case "uniform": return new UniformAssignor();
            case "simple": return new SimpleAssignor();
            default: throw new IllegalArgumentException(name);
        }
    }

    static class Names implements TopicIds.TopicResolver {
        final Map<String, Uuid> ids = new HashMap<>();
        final Map<Uuid, String> names = new HashMap<>();
        public CoordinatorMetadataImage image() { return null; }
        public String name(Uuid id) { return names.get(id); }
        public Uuid id(String name) { return ids.get(name); }
        public void clear() { }
    }

    static class Describer implements SubscribedTopicDescriber {
        final Map<Uuid, Integer> counts = new HashMap<>();
        final Map<Uuid, List<Set<String>>> racks = new HashMap<>();
        public int numPartitions(Uuid topic) { return counts.getOrDefault(topic, -1); }
        public Set<String> racksForPartition(Uuid topic, int p) {
            return racks.containsKey(topic) ? racks.get(topic).get(p) : Set.of();
        }
    }

    /** topics: [[name, n | racks, topic id], ...]; the previous target goes through the coordinator's own record, as in the broker. */
    static void server(JsonNode c, ArrayNode out) {
        PartitionAssignor assignor = newServer(c.get("strategy").asText());
        List<Map<String, org.apache.kafka.coordinator.group.modern.Assignment>> targets = new ArrayList<>();
        JsonNode topics = c.get("topics");
        Map<String, Uuid> everyId = new HashMap<>();
        Map<Uuid, String> everyName = new HashMap<>();
        for (JsonNode round : c.get("rounds")) {
            if (round.has("topics")) topics = round.get("topics");
            Names names = new Names();
            Describer describer = new Describer();
            for (JsonNode t : topics) {
                Uuid id = Uuid.fromString(t.get(2).asText());
                everyId.put(t.get(0).asText(), id);
                everyName.put(id, t.get(0).asText());
                int n = t.get(1).isArray() ? t.get(1).size() : t.get(1).asInt();
                if (n == 0) continue;
                names.ids.put(t.get(0).asText(), id);
                names.names.put(id, t.get(0).asText());
                describer.counts.put(id, n);
                if (t.get(1).isArray()) {
                    List<Set<String>> r = new ArrayList<>();
                    for (JsonNode p : t.get(1)) {
                        Set<String> s = new HashSet<>();
                        for (JsonNode x : p) if (!x.isNull()) s.add(x.asText());
                        r.add(s);
                    }
                    describer.racks.put(id, r);
                }
            }
            try {
                Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
                Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
                Map<String, SubscriptionCount> counts = new HashMap<>();
                Map<String, Integer> index = new HashMap<>();
                for (JsonNode m : round.get("members")) {
                    String id = m.get("id").asText();
                    index.put(id, index.size());
                    List<String> topicNames = new ArrayList<>();
                    for (JsonNode t : m.get("topics")) topicNames.add(t.asText());
                    Set<String> set = new HashSet<>(topicNames);
                    for (String n : set) counts.compute(n, SubscriptionCount::incNameCount);
                    org.apache.kafka.coordinator.group.modern.Assignment old;
                    if (m.hasNonNull("from")) {
                        String source = m.path("from_member").asText(id);
                        old = targets.get(m.get("from").asInt()).getOrDefault(source, org.apache.kafka.coordinator.group.modern.Assignment.EMPTY);
                    } else if (m.hasNonNull("owned") && m.get("owned").size() > 0) {
                        // a target record lists each topic once; its topic and partition order are kept
                        ConsumerGroupTargetAssignmentMemberValue value = new ConsumerGroupTargetAssignmentMemberValue();
                        for (JsonNode o : m.get("owned")) {
                            List<Integer> ps = new ArrayList<>();
                            for (JsonNode p : o.get(1)) ps.add(p.asInt());
                            value.topicPartitions().add(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                                .setTopicId(Uuid.fromString(o.get(0).asText())).setPartitions(ps));
                        }
                        old = org.apache.kafka.coordinator.group.modern.Assignment.fromRecord(value);
                    } else old = org.apache.kafka.coordinator.group.modern.Assignment.EMPTY;
                    old.partitions().forEach((t, ps) -> {
                        for (int p : ps) inverted.computeIfAbsent(t, k -> new HashMap<>()).put(p, id);
                    });
                    members.put(id, new MemberSubscriptionAndAssignmentImpl(
                        Optional.ofNullable(text(m, "rack")), Optional.ofNullable(text(m, "instance")),
                        new TopicIds(set, names), old));
                }
                var type = ModernGroup.subscriptionType(counts, members.size());
                GroupAssignment result = assignor.assign(
                    new GroupSpecImpl(Collections.unmodifiableMap(members), type, inverted), describer);
                ObjectNode answer = JSON.createObjectNode();
                answer.put("type", type.name());
                ArrayNode list = answer.putArray("members");
                Map<String, org.apache.kafka.coordinator.group.modern.Assignment> target = new HashMap<>();
                for (Map.Entry<String, MemberAssignment> e : result.members().entrySet()) {
                    ArrayNode one = list.addArray().add(index.get(e.getKey()));
                    ArrayNode ts = one.addArray();
                    e.getValue().partitions().forEach((t, ps) -> {
                        ArrayNode tn = ts.addArray().add(everyName.containsKey(t) ? everyName.get(t) : t.toString());
                        ArrayNode pn = tn.addArray();
                        for (int p : ps) pn.add(p);
                    });
                    var record = (ConsumerGroupTargetAssignmentMemberValue) GroupCoordinatorRecordHelpers
                        .newConsumerGroupTargetAssignmentRecord("g", e.getKey(), e.getValue().partitions()).value().message();
                    // the broker writes a record only when the set changed; an unchanged member keeps its old object
                    var fresh = org.apache.kafka.coordinator.group.modern.Assignment.fromRecord(record);
                    MemberSubscriptionAndAssignmentImpl before = members.get(e.getKey());
                    target.put(e.getKey(), before.partitions().equals(fresh.partitions())
                        ? new org.apache.kafka.coordinator.group.modern.Assignment(before.partitions()) : fresh);
                }
                targets.add(target);
                out.add(answer);
            } catch (RuntimeException | StackOverflowError | AssertionError e) {
                out.add(JSON.createObjectNode().put("error", e.getClass().getName()));
                return;
            }
        }
    }

    // ---- helpers -------------------------------------------------------------------------------------------------

    static String text(JsonNode m, String field) {
        return m.hasNonNull(field) ? m.get(field).asText() : null;
    }

    static List<TopicPartition> flat(JsonNode owned) {
        List<TopicPartition> list = new ArrayList<>();
        for (JsonNode t : owned) for (JsonNode p : t.get(1)) list.add(new TopicPartition(t.get(0).asText(), p.asInt()));
        return list;
    }

    /** Neighbours of the same topic share one entry, so the list order can be read back exactly. */
    static ArrayNode grouped(List<TopicPartition> list) {
        ArrayNode out = JSON.createArrayNode();
        String topic = null;
        ArrayNode ps = null;
        for (TopicPartition tp : list) {
            if (!tp.topic().equals(topic)) {
                topic = tp.topic();
                ps = out.addArray().add(topic).addArray();
            }
            ps.add(tp.partition());
        }
        return out;
    }
}
