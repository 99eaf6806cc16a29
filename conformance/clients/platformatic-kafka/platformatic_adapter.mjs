// The assigners of @platformatic/kafka, called as the leader of a group calls them.
//
// As in the client's Consumer: the leader, here the first member by id, assigns the topics
// that it subscribes to itself, fails if a topic of the group does not exist, and takes
// everything without an assigner if it is alone.
import * as client from '@platformatic/kafka'
import { partitionCount, serve } from './lines.mjs'

const COOPERATIVE = 'cooperative-sticky'

// older versions do not export their assigner
const main = import.meta.resolve('@platformatic/kafka')
const own = await import(new URL('./clients/consumer/partitions-assigners.js', main))
const assigners = { roundrobin: own.roundRobinAssigner, [COOPERATIVE]: own.cooperativeStickyAssigner }

/** Return what the leader knows of a member, through the bytes that the member sends. */
function joined(name, memberId, member) {
  if (!client.encodeConsumerProtocolSubscription) {
    return { memberId, version: 1, topics: [...member.subscription].sort(), metadata: undefined }
  }
  const cooperative = name === COOPERATIVE
  const wanted = new Set(member.subscription)
  const ownedPartitions = Object.entries((cooperative && member.owned) || {})
    .filter(([topic]) => wanted.has(topic))
    .map(([topic, partitions]) => ({ topic, partitions }))
  const sent = client.encodeConsumerProtocolSubscription({
    version: cooperative ? client.CONSUMER_PROTOCOL_HIGHEST_VERSION : 1,
    topics: member.subscription,
    ownedPartitions,
    generationId: ownedPartitions.length > 0 ? (member.generation ?? -1) : -1,
    rackId: cooperative ? (member.rack ?? null) : null
  })
  const read = client.decodeConsumerProtocolSubscription(sent)
  return { memberId, ...read, metadata: read.userData }
}

/** Return the metadata of the group's topics; the leader cannot go on without one. */
function metadataOf(rebalance, members) {
  const topics = new Map()
  for (const { topics: subscribed } of members.values()) {
    for (const topic of subscribed) {
      const partitionsCount = partitionCount(rebalance, topic)
      if (partitionsCount === undefined) {
        throw new Error(`metadata for subscribed topic "${topic}" is not available`)
      }
      topics.set(topic, { partitionsCount })
    }
  }
  return { topics }
}

function assign(name, rebalance, ids) {
  const leader = ids[0]
  // the client sorts its own list of topics, in place, as it requests their metadata
  const topics = new Set([...rebalance.members[leader].subscription].sort())
  const members = new Map(ids.map(id => [id, joined(name, id, rebalance.members[id])]))
  const metadata = metadataOf(rebalance, members)
  if (members.size === 1) {
    const all = [...topics].map(topic => [
      topic,
      Array.from({ length: metadata.topics.get(topic).partitionsCount }, (_, n) => n)
    ])
    return new Map([[leader, all]])
  }
  const given = assigners[name](leader, members, topics, metadata)
  return new Map(
    given.map(({ memberId, assignments }) => [
      memberId,
      [...assignments.values()].map(({ topic, partitions }) => [topic, partitions])
    ])
  )
}

const [name] = process.argv.slice(2)
await serve(name, (rebalance, ids) => assign(name, rebalance, ids))
