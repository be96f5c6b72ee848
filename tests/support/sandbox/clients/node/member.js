// One kafkajs member of a consumer group: node member.js BOOTSTRAP TOPIC GROUP
//
// Prints {"assigned": [0, 1]} and {"value": "v1"} as lines of JSON; commits and leaves when its
// standard input ends.
'use strict'

const { Kafka, logLevel } = require('kafkajs')

const [bootstrap, topic, groupId] = process.argv.slice(2)
const emit = (line) => process.stdout.write(JSON.stringify(line) + '\n')

const run = async () => {
  const kafka = new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId, heartbeatInterval: 200, sessionTimeout: 6000 })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    const own = payload.memberAssignment[topic] || []
    emit({ assigned: [...own].sort((a, b) => a - b) })
  })
  consumer.on(consumer.events.REBALANCING, () => emit({ assigned: [] }))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => emit({ value: message.value.toString() })
  })
  process.stdin.resume()
  process.stdin.on('end', async () => {
    await consumer.disconnect()
    process.exit(0)
  })
}

run().catch((error) => {
  process.stderr.write(String(error) + '\n')
  process.exit(1)
})
