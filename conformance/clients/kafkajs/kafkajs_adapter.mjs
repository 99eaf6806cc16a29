// The round-robin assigner of kafkajs, called as the leader of a group calls it.
//
// The leader, here the first member by id, passes the topics that it subscribes to itself.
import { createRequire } from 'node:module'
import { partitionCount, serve } from './lines.mjs'

const { AssignerProtocol, PartitionAssigners } = createRequire(import.meta.url)('kafkajs')

/** Return what the assigner reads of the client's metadata. */
function clusterOf(rebalance) {
  return {
    findTopicPartitionMetadata(topic) {
      const count = partitionCount(rebalance, topic) ?? 0
      return Array.from({ length: count }, (_, partitionId) => ({ partitionId }))
    }
  }
}

async function assign(rebalance, ids) {
  const assigner = PartitionAssigners.roundRobin({ cluster: clusterOf(rebalance) })
  const subscriptions = new Map(ids.map(id => [id, rebalance.members[id].subscription]))
  const members = ids.map(memberId => ({
    memberId,
    memberMetadata: assigner.protocol({ topics: subscriptions.get(memberId) }).metadata
  }))
  const given = await assigner.assign({ members, topics: subscriptions.get(ids[0]) })
  return new Map(
    given.map(({ memberId, memberAssignment }) => [
      memberId,
      Object.entries(AssignerProtocol.MemberAssignment.decode(memberAssignment).assignment)
    ])
  )
}

await serve(process.argv[2], assign)
