// What kafkajs's RoundRobinAssigner answers to groups that are described on standard input.
//
// A line of JSON a group: {"topics": {name: partitions}, "members": [{"id", "metadata": base64 of
// the subscription}], "leader": id}. A line of JSON an answer: {"outcomes": [{"times": 1,
// "members": {id: {topic: [partition]}}}]} or {"error"}.
'use strict'

const readline = require('readline')
const { AssignerProtocol, PartitionAssigners } = require('kafkajs')

const partitionsOf = (count) =>
  Array.from({ length: count || 0 }, (_, partitionId) => ({ partitionId }))

const decide = async ({ topics, members, leader }) => {
  const cluster = { findTopicPartitionMetadata: (topic) => partitionsOf(topics[topic]) }
  const joined = members.map(({ id, metadata }) => ({
    memberId: id,
    memberMetadata: Buffer.from(metadata, 'base64')
  }))
  const { memberMetadata } = joined.find(({ memberId }) => memberId === leader)
  const given = await PartitionAssigners.roundRobin({ cluster }).assign({
    members: joined,
    topics: AssignerProtocol.MemberMetadata.decode(memberMetadata).topics
  })
  const decided = Object.fromEntries(members.map(({ id }) => [id, {}]))
  for (const { memberId, memberAssignment } of given) {
    decided[memberId] = AssignerProtocol.MemberAssignment.decode(memberAssignment).assignment
  }
  return { outcomes: [{ times: 1, members: decided }] }
}

const main = async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answer = await decide(JSON.parse(line)).catch((error) => ({ error: String(error) }))
    process.stdout.write(JSON.stringify(answer) + '\n')
  }
}

main()
