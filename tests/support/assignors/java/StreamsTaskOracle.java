import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.group.api.streams.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.streams.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Kafka's own task assignor of streams groups on cases read as JSON lines. Format: tests/support/assignors/streams_cases.py. */
public class StreamsTaskOracle {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            ArrayNode rounds = answer.putArray("java");
            Map<String, MemberAssignment> before = new HashMap<>();
            for (JsonNode round : JSON.readTree(line).get("rounds")) {
                before = assign(round, before).members();
                rounds.add(written(before));
            }
            out.println(JSON.writeValueAsString(answer));
        }
        out.flush();
    }

    static GroupAssignment assign(JsonNode round, Map<String, MemberAssignment> before) {
        Map<String, MemberMetadataAndStateImpl> members = new HashMap<>();
        for (JsonNode member : round.get("members")) {
            String id = member.get("id").asText();
            MemberAssignment own = before.get(id);
            Map<String, Set<Integer>> active = own == null ? tasks(member.path("active")) : own.activeTasks();
            Map<String, Set<Integer>> standby = own == null ? tasks(member.path("standby")) : own.standbyTasks();
            Map<String, Map<Integer, Long>> offsets = new HashMap<>();
            for (JsonNode row : member.path("offsets")) {
                offsets.computeIfAbsent(row.get(0).asText(), name -> new HashMap<>()).put(row.get(1).asInt(), row.get(2).asLong());
            }
            members.put(id, new MemberMetadataAndStateImpl(Optional.empty(), Optional.empty(), member.get("process").asText(),
                Map.of(), active, standby, Map.of(), offsets, Map.of()));
        }
        Map<String, Integer> partitions = new HashMap<>();
        Set<String> stateful = new HashSet<>();
        List<String> names = new ArrayList<>();
        for (JsonNode row : round.get("sources")) {
            names.add(row.get(0).asText());
            partitions.put(row.get(0).asText(), row.get(1).asInt());
            if (row.get(2).asBoolean()) stateful.add(row.get(0).asText());
        }
        TopologyDescriber topology = new TopologyDescriber() {
            @Override public List<String> subtopologies() { return names; }
            @Override public int maxNumInputPartitions(String name) { return partitions.get(name); }
            @Override public boolean isStateful(String name) { return stateful.contains(name); }
        };
        return new StickyTaskAssignor().assign(
            new GroupSpecImpl(members, new AssignmentConfigsImpl(round.get("standby").asInt(), List.of())), topology);
    }

    static Map<String, Set<Integer>> tasks(JsonNode rows) {
        Map<String, Set<Integer>> found = new HashMap<>();
        for (JsonNode row : rows) found.computeIfAbsent(row.get(0).asText(), name -> new HashSet<>()).add(row.get(1).asInt());
        return found;
    }

    static ObjectNode written(Map<String, MemberAssignment> members) {
        ObjectNode found = JSON.createObjectNode();
        for (Map.Entry<String, MemberAssignment> member : new TreeMap<>(members).entrySet()) {
            ArrayNode both = found.putArray(member.getKey());
            write(both.addArray(), member.getValue().activeTasks());
            write(both.addArray(), member.getValue().standbyTasks());
        }
        return found;
    }

    static void write(ArrayNode to, Map<String, Set<Integer>> tasks) {
        for (Map.Entry<String, Set<Integer>> entry : new TreeMap<>(tasks).entrySet())
            for (int partition : new TreeSet<>(entry.getValue())) to.addArray().add(entry.getKey()).add(partition);
    }
}
