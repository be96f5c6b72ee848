import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.TopicIds;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Times one assignor call on one group: NAME TOPICS PARTITIONS_PER_TOPIC MEMBERS [mode] [repeats].
 * NAME: range roundrobin sticky cooperative-sticky server-uniform server-range.
 * mode: comma list of fresh (nobody owns anything), swap (one member left, one joined), same (nothing changed),
 *   join (one more member), mixed (a quarter of the members on the first half of the topics, the others on the second half),
 *   one-differs (the last member takes the first topic only), racks (3 racks, RF 2, members over the racks).
 * One JSON line: ms of the first call in this JVM, median and best of the later ones, the calling thread's CPU for both, peak heap over the calls, a checksum.
 * Only assign() is timed: the subscriptions, the cluster and the earlier state are built before. Member ids: seeded uuids,
 * "app-" + java.util.UUID from new Random(42).nextLong() pairs (so another implementation can build the same group).
 */
public class AssignorBench {
    public static void main(String[] a) throws Exception {
        String name = a[0];
        int topics = Integer.parseInt(a[1]), per = Integer.parseInt(a[2]), members = Integer.parseInt(a[3]);
        Set<String> mode = new HashSet<>(Arrays.asList((a.length > 4 ? a[4] : "fresh").split(",")));
        int repeats = a.length > 5 ? Integer.parseInt(a[5]) : 5;
        Runnable[] call = new Runnable[1];
        Object[] result = new Object[1];
        Runnable prepare = name.startsWith("server-")
            ? server(name, topics, per, members, mode, call, result) : client(name, topics, per, members, mode, call, result);
        List<Double> ms = new ArrayList<>(), cpu = new ArrayList<>();   // wall; CPU of the calling thread (without JIT and GC threads)
        long peak = 0, base = 0;
        for (int i = 0; i <= repeats; i++) {
            prepare.run();                                       // a new assignor object and unread user data for each call
            result[0] = null;
            System.gc();
            base = used();
            for (MemoryPoolMXBean p : ManagementFactory.getMemoryPoolMXBeans()) p.resetPeakUsage();
            long t = System.nanoTime(), c = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            call[0].run();
            ms.add((System.nanoTime() - t) / 1e6);
            cpu.add((ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - c) / 1e6);
            long top = 0;
            for (MemoryPoolMXBean p : ManagementFactory.getMemoryPoolMXBeans())
                if (p.getType() == MemoryType.HEAP) top += p.getPeakUsage().getUsed();
            peak = Math.max(peak, top);
        }
        List<Double> warm = new ArrayList<>(ms.subList(1, ms.size()));
        Collections.sort(warm);
        double median = warm.isEmpty() ? ms.get(0) : warm.get(warm.size() / 2);
        System.out.printf("{\"impl\":\"java-4.3.0\",\"strategy\":\"%s\",\"topics\":%d,\"partitions\":%d,\"members\":%d,\"mode\":\"%s\",\"prior\":\"%s\",\"cold_ms\":%.1f,\"warm_ms\":%.1f,\"warm_min_ms\":%.1f,\"cold_cpu_ms\":%.1f,\"warm_cpu_min_ms\":%.1f,\"runs\":%d,\"heap_before_mb\":%d,\"heap_peak_mb\":%d,\"checksum\":%d}%n",
            name, topics, topics * per, members, String.join("+", new java.util.TreeSet<>(mode)), mode.contains("swap") || mode.contains("same") || mode.contains("join") ? dealt(mode) ? "dealt" : "assignor" : "none", ms.get(0), median, warm.isEmpty() ? ms.get(0) : warm.get(0), cpu.get(0), Collections.min(cpu.size() > 1 ? cpu.subList(1, cpu.size()) : cpu), warm.size(), base >> 20, peak >> 20, checksum(result[0]));
        System.exit(0);
    }

    static long used() {
        Runtime r = Runtime.getRuntime();
        return r.totalMemory() - r.freeMemory();
    }

    static List<String> ids(int n) {
        java.util.Random r = new java.util.Random(42);
        List<String> out = new ArrayList<>();
        for (int i = 0; i < n; i++) out.add("app-" + new UUID(r.nextLong(), r.nextLong()));
        return out;
    }

    static String topic(int t) { return String.format("topic-%04d", t); }

    static List<String> subscription(int member, int members, int topics, Set<String> mode) {
        int from = 0, to = topics;
        if (mode.contains("mixed")) { if (member < members / 4) to = topics / 2; else from = topics / 2; }
        if (mode.contains("one-differs") && member == members - 1) to = 1;
        List<String> out = new ArrayList<>();
        for (int t = from; t < to; t++) out.add(topic(t));
        return out;
    }

    static ConsumerPartitionAssignor newClient(String name) {
        switch (name) {
            case "range": return new org.apache.kafka.clients.consumer.RangeAssignor();
            case "roundrobin": return new org.apache.kafka.clients.consumer.RoundRobinAssignor();
            case "sticky": return new org.apache.kafka.clients.consumer.StickyAssignor();
            default: return new org.apache.kafka.clients.consumer.CooperativeStickyAssignor();
        }
    }

    static Runnable client(String name, int topics, int per, int members, Set<String> mode, Runnable[] call, Object[] result) {
        Node[] nodes = new Node[3];
        boolean racks = mode.contains("racks");
        for (int i = 0; i < 3; i++) nodes[i] = new Node(i, "h", 9092, racks ? "r" + i : null);
        List<PartitionInfo> infos = new ArrayList<>(topics * per);
        for (int t = 0; t < topics; t++)
            for (int p = 0; p < per; p++) {
                Node[] replicas = racks ? new Node[] {nodes[p % 3], nodes[(p + 1) % 3]} : new Node[] {nodes[p % 3]};
                infos.add(new PartitionInfo(topic(t), p, replicas[0], replicas, replicas));
            }
        Cluster cluster = new Cluster("c", Arrays.asList(nodes), infos, Set.of(), Set.of());
        List<String> all = ids(members + 1);
        List<String> now = new ArrayList<>(all.subList(0, members));
        Map<String, Integer> position = new HashMap<>();
        for (int i = 0; i < all.size(); i++) position.put(all.get(i), i);
        Map<String, Assignment> before = new HashMap<>();
        boolean again = mode.contains("swap") || mode.contains("same") || mode.contains("join");
        if (again) {
            Map<String, Subscription> first = new HashMap<>();
            for (String id : now) first.put(id, sub(name, position.get(id), members, topics, mode, null));
            if (dealt(mode)) {
                Map<String, List<TopicPartition>> plain = new HashMap<>();
                deal(now, topics, per, id -> first.get(id).topics(), (id, t, p) -> plain.computeIfAbsent(id, k -> new ArrayList<>()).add(new TopicPartition(topic(t), p)));
                for (String id : now) before.put(id, new Assignment(plain.getOrDefault(id, List.of())));
            } else before = newClient(name).assign(cluster, new GroupSubscription(first)).groupAssignment();
            if (mode.contains("swap")) now.set(members / 2, all.get(members));
            if (mode.contains("join")) now.add(all.get(members));
        }
        Map<String, Assignment> old = before;
        GroupSubscription[] group = new GroupSubscription[1];
        ConsumerPartitionAssignor[] leader = new ConsumerPartitionAssignor[1];
        call[0] = () -> result[0] = leader[0].assign(cluster, group[0]).groupAssignment();
        return () -> {
            Map<String, Subscription> subs = new HashMap<>();
            for (String id : now) subs.put(id, sub(name, position.get(id) == members ? members / 2 : position.get(id), members, topics, mode, old.get(id)));
            group[0] = new GroupSubscription(subs);
            leader[0] = newClient(name);
        };
    }

    static Subscription sub(String name, int i, int members, int topics, Set<String> mode, Assignment got) {
        Optional<String> rack = mode.contains("racks") ? Optional.of("r" + i % 3) : Optional.empty();
        List<TopicPartition> owned = got == null || !name.equals("cooperative-sticky") ? List.of() : got.partitions();
        java.nio.ByteBuffer data = null;
        if (got != null && name.equals("sticky")) {
            ConsumerPartitionAssignor member = newClient(name);
            member.onAssignment(got, new ConsumerGroupMetadata("g", 1, "m", Optional.empty()));
            data = member.subscriptionUserData(Set.of());
        }
        return new Subscription(subscription(i, members, topics, mode), data, owned, got == null ? -1 : 1, rack);
    }

    /** The earlier state is dealt here when subscriptions are equal or in two blocks, so the timed call is the assignor's first in this JVM. */
    static boolean dealt(Set<String> mode) { return !mode.contains("racks") && !mode.contains("one-differs"); }

    interface Give { void to(String id, int topic, int partition); }

    /** Topics by name, partitions ascending, to the topic's subscribers in id order; one pointer per set of subscribers. */
    static void deal(List<String> members, int topics, int per, java.util.function.Function<String, List<String>> subs, Give give) {
        List<String> sorted = new ArrayList<>(members);
        Collections.sort(sorted);
        Map<String, List<String>> by = new HashMap<>();
        for (String id : sorted) for (String t : subs.apply(id)) by.computeIfAbsent(t, k -> new ArrayList<>()).add(id);
        Map<List<String>, int[]> pointer = new HashMap<>();
        List<String> last = null;
        int[] at = null;
        for (int t = 0; t < topics; t++) {
            List<String> s = by.get(topic(t));
            if (s == null) continue;
            if (last == null || !s.equals(last)) at = pointer.computeIfAbsent(s, k -> new int[1]);
            last = s;
            for (int p = 0; p < per; p++) give.to(s.get(at[0]++ % s.size()), t, p);
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

    static PartitionAssignor newServer(String name) {
        return name.equals("server-uniform") ? new UniformAssignor() : new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
    }

    static Runnable server(String name, int topics, int per, int members, Set<String> mode, Runnable[] call, Object[] result) {
        Names names = new Names();
        java.util.Random r = new java.util.Random(7);
        for (int t = 0; t < topics; t++) {
            Uuid id = new Uuid(r.nextLong(), r.nextLong());
            names.ids.put(topic(t), id);
            names.names.put(id, topic(t));
        }
        SubscribedTopicDescriber describer = new SubscribedTopicDescriber() {
            public int numPartitions(Uuid topic) { return names.names.containsKey(topic) ? per : -1; }
            public Set<String> racksForPartition(Uuid topic, int p) { return Set.of(); }
        };
        List<String> all = ids(members + 1);
        List<String> now = new ArrayList<>(all.subList(0, members));
        Map<String, Integer> position = new HashMap<>();
        for (int i = 0; i < all.size(); i++) position.put(all.get(i), i);
        boolean mixed = mode.contains("mixed") || mode.contains("one-differs");
        Map<String, Set<Uuid>> subs = new HashMap<>();
        Map<List<String>, Set<String>> shared = new HashMap<>();
        for (String id : all) {
            int i = position.get(id) == members ? members / 2 : position.get(id);
            List<String> list = subscription(i, members, topics, mode);
            subs.put(id, new TopicIds(shared.computeIfAbsent(list, HashSet::new), names));
        }
        Map<String, org.apache.kafka.coordinator.group.modern.Assignment> old = new HashMap<>();
        GroupSpecImpl[] spec = new GroupSpecImpl[1];
        PartitionAssignor[] assignor = new PartitionAssignor[1];
        Runnable prepare = () -> {
            Map<String, MemberSubscriptionAndAssignmentImpl> specs = new HashMap<>();
            Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
            for (String id : now) {
                var mine = old.getOrDefault(id, org.apache.kafka.coordinator.group.modern.Assignment.EMPTY);
                mine.partitions().forEach((t, ps) -> { for (int p : ps) inverted.computeIfAbsent(t, k -> new HashMap<>()).put(p, id); });
                specs.put(id, new MemberSubscriptionAndAssignmentImpl(Optional.empty(), Optional.empty(), subs.get(id), mine));
            }
            spec[0] = new GroupSpecImpl(Collections.unmodifiableMap(specs), mixed ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS, inverted);
            assignor[0] = newServer(name);
        };
        call[0] = () -> result[0] = assignor[0].assign(spec[0], describer);
        if (mode.contains("swap") || mode.contains("same") || mode.contains("join")) {
            if (dealt(mode)) {
                Map<String, Map<Uuid, Set<Integer>>> plain = new HashMap<>();
                deal(now, topics, per, id -> subscription(position.get(id), members, topics, mode), (id, t, p) -> plain.computeIfAbsent(id, k -> new HashMap<>())
                    .computeIfAbsent(names.ids.get(topic(t)), k -> new HashSet<>()).add(p));
                plain.forEach((id, ps) -> old.put(id, new org.apache.kafka.coordinator.group.modern.Assignment(ps)));
            } else {
                prepare.run();
                call[0].run();
            }
            if (!dealt(mode)) ((GroupAssignment) result[0]).members().forEach((id, m) -> old.put(id, org.apache.kafka.coordinator.group.modern.Assignment.fromRecord(
                (ConsumerGroupTargetAssignmentMemberValue) GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentRecord("g", id, m.partitions()).value().message())));
            if (mode.contains("swap")) now.set(members / 2, all.get(members));
            if (mode.contains("join")) now.add(all.get(members));
        }
        return prepare;
    }

    /** Order-free: sum over members and partitions of hash(member) * (31 * hash(topic) + partition + 1), 64 bit. Server topics count by name-less uuid hash. */
    @SuppressWarnings("unchecked")
    static long checksum(Object result) {
        long sum = 0;
        if (result instanceof GroupAssignment) {
            for (var e : ((GroupAssignment) result).members().entrySet())
                for (var t : e.getValue().partitions().entrySet())
                    for (int p : t.getValue()) sum += (long) e.getKey().hashCode() * (31L * t.getKey().hashCode() + p + 1);
        } else {
            for (var e : ((Map<String, Assignment>) result).entrySet())
                for (TopicPartition tp : e.getValue().partitions()) sum += (long) e.getKey().hashCode() * (31L * tp.topic().hashCode() + tp.partition() + 1);
        }
        return sum;
    }
}
