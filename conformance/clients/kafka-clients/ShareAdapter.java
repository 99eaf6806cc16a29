import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ShareGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * The assignor of share groups (KIP-932), on the coordinator's own description of a group.
 *
 * <p>What a member owns is the target assignment before, in which a partition can have several
 * members. As in ServerAdapter, ids ascend with names and members come by name, so that a group has
 * one answer; a topic that does not exist has no id and is left out; who is left out of an answer
 * gets nothing.
 */
final class ShareAdapter implements Adapter.Assignor {

  private static final int FIRST_ID = 2; // the lesser ones mean something to Kafka

  private final ShareGroupPartitionAssignor assignor = new SimpleAssignor();

  public static void main(String[] arguments) throws IOException {
    Adapter.serve(arguments[0], new ShareAdapter());
  }

  private record Sizes(Map<Uuid, Integer> of) implements SubscribedTopicDescriber {

    @Override
    public int numPartitions(Uuid topic) {
      return of.getOrDefault(topic, -1);
    }

    @Override
    public Set<String> racksForPartition(Uuid topic, int number) {
      return Set.of();
    }
  }

  @Override
  public Map<String, Map<String, Collection<Integer>>> assign(Rebalance rebalance) {
    var ids = new TreeMap<String, Uuid>();
    var sizes = new HashMap<Uuid, Integer>();
    new TreeMap<>(rebalance.topics()).forEach((name, topic) -> {
      var id = new Uuid(0, FIRST_ID + ids.size());
      ids.put(name, id);
      sizes.put(id, topic.partitions());
    });
    var members = new TreeMap<String, MemberSubscriptionAndAssignmentImpl>();
    rebalance.members().forEach((id, one) -> members.put(id, described(one, ids)));
    var group = new GroupSpecImpl(members, ServerAdapter.type(rebalance), Map.of());
    var given = assignor.assign(group, new Sizes(sizes)).members();
    var held = new HashMap<String, Map<String, Collection<Integer>>>();
    for (String member : rebalance.members().keySet()) {
      var topics = new TreeMap<String, Collection<Integer>>();
      ids.forEach((name, id) -> {
        var all = given.containsKey(member) ? given.get(member).partitions().get(id) : null;
        if (all != null && !all.isEmpty()) {
          topics.put(name, new TreeSet<>(all));
        }
      });
      held.put(member, topics);
    }
    return held;
  }

  private static MemberSubscriptionAndAssignmentImpl described(
      Rebalance.Member member, Map<String, Uuid> ids) {
    var wanted = new TreeSet<Uuid>();
    member.subscription().stream().filter(ids::containsKey).map(ids::get).forEach(wanted::add);
    var held = new TreeMap<Uuid, Set<Integer>>();
    member.eachOwned((topic, number) -> {
      if (ids.containsKey(topic)) { // that of a deleted topic is no topic of the group
        held.computeIfAbsent(ids.get(topic), any -> new HashSet<>()).add(number);
      }
    });
    return new MemberSubscriptionAndAssignmentImpl(
        Optional.empty(),
        Optional.empty(),
        wanted,
        new Assignment(Collections.unmodifiableMap(held)));
  }
}
