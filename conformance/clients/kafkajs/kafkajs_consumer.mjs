// A consumer of kafkajs. The leader of this client assigns only the topics that it
// subscribes to itself.
import { createRequire } from 'node:module'
import { consume } from './consumer.mjs'

const { Kafka, logLevel } = createRequire(import.meta.url)('kafkajs')

await consume(async ({ settings, topics }, fail) => {
  const retry = { initialRetryTime: 1, maxRetryTime: 10 }
  const brokers = [settings['bootstrap.servers']]
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry })
  const consumer = kafka.consumer({
    groupId: settings['group.id'],
    heartbeatInterval: settings['heartbeat.interval.ms']
  })
  consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error))
  await consumer.connect()
  for (const topic of topics) {
    await consumer.subscribe({ topic })
  }
  await consumer.run({ eachMessage: async () => {} })
})
