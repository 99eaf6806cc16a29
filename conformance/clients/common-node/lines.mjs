// Answer rebalance/1 lines with assignment/1 lines, one for one, until the input ends.
//
// An error of the assignor is the answer to its rebalance.
import { createInterface } from 'node:readline'

/** Return the ids of members in order: a coordinator's order is arbitrary. */
export function memberIds(rebalance) {
  return Object.keys(rebalance.members).sort(compareNames)
}

/** Compare by code point, as the other languages do. */
export function compareNames(left, right) {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

/** Return the number of partitions of a topic; undefined if it does not exist. */
export function partitionCount(rebalance, topic) {
  return (Object.hasOwn(rebalance.topics, topic) && rebalance.topics[topic].partitions) || undefined
}

/** Serve `assign(rebalance)`, which returns a Map of members to Maps of topics. */
export async function serve(name, assign) {
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })
  for await (const line of lines) {
    process.stdout.write(`${await answer(name, assign, JSON.parse(line))}\n`)
  }
}

async function answer(name, assign, rebalance) {
  try {
    const ids = memberIds(rebalance)
    if (ids.length === 0) {
      throw new Error('no member leads a group without members')
    }
    const given = await assign(rebalance, ids)
    const members = ids.map(id => [id, held(given.get(id))])
    for (const [id, topics] of given) {
      if (!Object.hasOwn(rebalance.members, id)) {
        members.push([id, held(topics)])
      }
    }
    return JSON.stringify({
      format: 'assignment/1',
      group: rebalance.group,
      assignor: name,
      members: objectOf(members)
    })
  } catch (error) {
    return JSON.stringify({ error: String(error), place: placeOf(error) })
  }
}

/** Return the function and the line that threw; undefined without a stack. */
function placeOf(error) {
  const frame = /^ +at (?:(.+) \()?.*?([^/\\(]+):(\d+):\d+\)?$/m.exec(error?.stack ?? '')
  return frame ? `${frame[1] ?? 'a function'} (${frame[2]}:${frame[3]})` : undefined
}

function held(topics) {
  return objectOf([...(topics ?? [])].filter(([, partitions]) => partitions.length > 0))
}

/** Build an object in which every name is a name, `__proto__` too. */
function objectOf(entries) {
  return Object.fromEntries(entries)
}
