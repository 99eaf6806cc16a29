import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.common.Cluster;

/**
 * Times assign(Cluster, GroupSubscription) of a client's assignor, as the leader calls it.
 *
 * <p>The subscriptions are read anew from their bytes for each call; the cluster, which cannot
 * change, is one for all.
 */
final class ClientTiming implements Timing.Work<GroupAssignment> {

  private final ClientAdapter adapter;
  private final Rebalance rebalance;
  private final Map<String, ByteBuffer> sent;
  private final Cluster cluster;

  ClientTiming(String name, Rebalance rebalance) {
    adapter = new ClientAdapter(name);
    this.rebalance = rebalance;
    sent = adapter.sent(rebalance);
    cluster = ClientAdapter.cluster(rebalance);
  }

  @Override
  public Callable<GroupAssignment> fresh() {
    var assignor = adapter.assignor();
    var group = ClientAdapter.read(rebalance, sent);
    return () -> assignor.assign(cluster, group);
  }

  @Override
  public Map<String, Map<String, Collection<Integer>>> named(GroupAssignment answer) {
    return ClientAdapter.named(answer);
  }
}
