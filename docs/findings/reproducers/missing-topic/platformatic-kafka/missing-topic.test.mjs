// One topic that does not exist keeps all members from all topics
//
// platformatic-kafka 2.12.1, assignor roundrobin: error.
// Error: metadata for subscribed topic "gone" is not available.
//
// Run it with
//
//     npm install @platformatic/kafka@2.12.1
//     node --test missing-topic.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeConsumerProtocolSubscription,
  encodeConsumerProtocolSubscription
} from '@platformatic/kafka'

// The package does not export its assigners in every version.
const main = import.meta.resolve('@platformatic/kafka')
const assigners = await import(new URL('./clients/consumer/partitions-assigners.js', main))

// The number of partitions of each topic; no other topic exists.
const TOPICS = new Map(Object.entries({ "t": 1 }))
// The members by id; the first leads. An unknown generation is -1.
const MEMBERS = new Map([
  ["a", { "generation": -1, "owned": {}, "rack": undefined, "topics": ["gone", "t"] }],
  ["b", { "generation": -1, "owned": {}, "rack": undefined, "topics": ["t"] }],
])

/** Do what the leader of the group does: it passes the topics that it subscribes to. */
async function assign(members) {
  const [[leader, { topics }]] = members
  const joined = new Map([...members].map(([id, one]) => [id, read(id, one)]))
  const metadata = { topics: new Map() }
  for (const one of joined.values()) {
    for (const topic of one.topics) {
      if (!TOPICS.has(topic)) { // as in the client's consumer
        throw new Error(`metadata for subscribed topic "${topic}" is not available`)
      }
      metadata.topics.set(topic, { partitionsCount: TOPICS.get(topic) })
    }
  }
  if (joined.size === 1) { // it takes everything, without an assigner
    const all = topics.map(topic => [topic, Array.from({ length: TOPICS.get(topic) }, (_, n) => n)])
    return new Map([[leader, all]])
  }
  const given = assigners.roundRobinAssigner(leader, joined, new Set(topics), metadata)
  return new Map(
    given.map(({ memberId, assignments }) => [
      memberId,
      [...assignments.values()].map(({ topic, partitions }) => [topic, partitions])
    ])
  )
}

/** Return what the leader knows of a member. */
function read(memberId, one) {
  const ownedPartitions = []
  const sent = encodeConsumerProtocolSubscription({
    version: 1,
    topics: one.topics,
    ownedPartitions,
    generationId: ownedPartitions.length > 0 ? one.generation : -1,
    rackId: null
  })
  const found = decodeConsumerProtocolSubscription(sent)
  return { memberId, ...found, metadata: found.userData }
}

/** Let the leader assign. */
async function answer(members) {
  try {
    return await assign(members)
  } catch (error) {
    assert.fail(`finding: error: ${error}`)
  }
}

/** Yield the partitions that members hold. */
function* places(held) {
  for (const [member, topics] of held) {
    for (const [topic, numbers] of topics) {
      for (const n of numbers) {
        yield { member, topic, n, name: `${topic}:${n}` }
      }
    }
  }
}

async function check() {
  await answer(MEMBERS)
}

test("missing-topic", check)
