import com.google.gson.annotations.SerializedName;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** A rebalance/1 document, as far as an assignor sees it; what is left out is null. */
record Rebalance(String group, Map<String, Topic> topics, Map<String, Member> members) {

  record Topic(int partitions, List<List<String>> racks) {

    /** Racks that hold a replica of the partition. */
    List<String> racksOf(int partition) {
      return racks == null ? List.of() : racks.get(partition);
    }
  }

  record Member(
      List<String> subscription,
      Map<String, List<Integer>> owned,
      Integer generation,
      String rack,
      @SerializedName("instance_id") String instanceId) {

    /** The generation that the claims date from, or -1. */
    int generationOrUnknown() {
      return generation == null ? -1 : generation;
    }

    boolean hasJoinedBefore() {
      return owned != null || generationOrUnknown() >= 0;
    }

    /** Calls back for each claimed partition, in order of topic and as listed. */
    void eachOwned(BiConsumer<String, Integer> claim) {
      if (owned == null) {
        return;
      }
      new TreeMap<>(owned).forEach((topic, all) -> all.forEach(n -> claim.accept(topic, n)));
    }
  }
}
