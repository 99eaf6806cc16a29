// A consumer of kafkajs that runs until its input ends.
//
// Arguments: address, group, topics with commas between them. The leader of this client
// assigns only the topics that it subscribes to itself.
import { createRequire } from 'node:module'

const { Kafka, logLevel } = createRequire(import.meta.url)('kafkajs')
const RAISED = 70 // EX_SOFTWARE

function fail(error) {
  console.error(String(error))
  process.exit(RAISED)
}

const [address, group, topics] = process.argv.slice(2)
const retry = { initialRetryTime: 1, maxRetryTime: 10 }
const kafka = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING, retry })
const consumer = kafka.consumer({ groupId: group, heartbeatInterval: 100 })
consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error))
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
try {
  await consumer.connect()
  for (const topic of topics.split(',').filter(Boolean)) {
    await consumer.subscribe({ topic })
  }
  await consumer.run({ eachMessage: async () => {} })
} catch (error) {
  fail(error)
}
