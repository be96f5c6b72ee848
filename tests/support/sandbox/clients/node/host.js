// Many kafkajs members, driven by lines of JSON: "open", "owned" and "close", each with the name of
// a member. Answers carry the number of what was asked: {"number", "ok"} or {"number", "error"}.
'use strict'

const readline = require('readline')
const { Kafka, PartitionAssigners, logLevel } = require('kafkajs')

const members = new Map()

const open = async (asked) => {
  const kafka = new Kafka({
    brokers: asked.servers.split(','),
    clientId: asked.client,
    logLevel: logLevel.NOTHING
  })
  const consumer = kafka.consumer({
    groupId: asked.group,
    heartbeatInterval: asked.heartbeat_ms,
    sessionTimeout: asked.session_ms,
    metadataMaxAge: asked.refresh_ms,
    maxWaitTimeInMs: 200,
    partitionAssigners: [PartitionAssigners.roundRobin]
  })
  const member = { consumer, owned: {}, failed: null }
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => { member.owned = payload.memberAssignment })
  consumer.on(consumer.events.REBALANCING, () => { member.owned = {} })
  consumer.on(consumer.events.CRASH, ({ payload }) => { member.failed = String(payload.error) })
  await consumer.connect()
  const topics = asked.pattern ? [new RegExp(asked.pattern)] : asked.topics
  await consumer.subscribe({ topics, fromBeginning: true })
  await consumer.run({ autoCommit: false, eachMessage: async () => {} })
  return member
}

const pairs = (owned) =>
  Object.entries(owned).flatMap(([topic, partitions]) => partitions.map((number) => [topic, number]))

const act = async (asked) => {
  switch (asked.op) {
    case 'open':
      members.set(asked.name, await open(asked))
      return {}
    case 'close': {
      const { consumer } = members.get(asked.name)
      members.delete(asked.name)
      await consumer.disconnect()
      return {}
    }
    case 'owned': {
      const answer = { owned: {}, failed: {} }
      for (const name of asked.names) {
        const { owned, failed } = members.get(name)
        answer.owned[name] = pairs(owned)
        if (failed) answer.failed[name] = failed
      }
      return answer
    }
    default:
      throw new Error(`unknown op ${asked.op}`)
  }
}

const lines = readline.createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const asked = JSON.parse(line)
  act(asked)
    .then((answer) => ({ ok: true, ...answer }), (error) => ({ error: String(error) }))
    .then((answer) => process.stdout.write(JSON.stringify({ number: asked.number, ...answer }) + '\n'))
})
lines.on('close', () => process.exit(0))
