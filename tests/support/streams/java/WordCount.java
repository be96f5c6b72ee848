import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;

/**
 * A Kafka Streams application of two subtopologies: it splits texts into words, and counts them.
 * Arguments: its id, input, output, then properties as key=value. Prints each state that it comes to; the end of its input ends it.
 */
public final class WordCount {
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, args[0]);
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        for (int i = 3; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            properties.put(pair[0], pair[1]);
        }
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(args[1])
            .flatMapValues(text -> java.util.List.of(text.toLowerCase(Locale.ROOT).split("\\W+")))
            .groupBy((key, word) -> word)
            .count()
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(args[2]);
        try (KafkaStreams streams = new KafkaStreams(builder.build(), properties)) {
            streams.setStateListener((now, before) -> {
                System.out.println(now);
                System.out.flush();
            });
            streams.start();
            while (System.in.read() != -1) { }
        }
        System.out.println("ENDED");
    }
}
