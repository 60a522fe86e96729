import { expect, test } from 'vitest'
import {
  cloudFacts,
  cloudOf,
  elsewhere,
  excessiveWindowTimeErrorMs,
  healthFacts,
  kindOf,
  machineFacts,
  sentenceOf,
} from './machine'

const aws = {
  provider: 'aws',
  region: 'eu-west-1',
  zone: 'eu-west-1a',
  physical_zone_id: 'euw1-az3',
  instance_type: 'c7g.xlarge',
}

test('known fields are shown, unknown ones are omitted', () => {
  expect(
    machineFacts({ kernel: '6.12.1', cpus: 4, ptp_clocks: ['ena-ptp-00', 'KVM'], clock_source: '', odd: {} }),
  ).toEqual([
    ['Kernel', '6.12.1'],
    ['Processors', '4'],
    ['Hardware clocks', 'ena-ptp-00, KVM'],
  ])
  expect(machineFacts({})).toEqual([])
  expect(cloudFacts({ cloud: aws })[4]).toEqual(['Instance type', 'c7g.xlarge'])
  expect(cloudFacts({ cloud: 'nonsense' })).toEqual([])
  expect(healthFacts(null)).toEqual([])
  expect(healthFacts({ packets_sent: 0 })).toEqual([['Packets sent', '0']])
})

test.each([
  [{ provider: 'aws', region: 'eu-west-1', name: 'eu-west-1a', physical_id: null }, false],
  [{ provider: 'aws', region: 'eu-west-1', name: 'eu-west-1b', physical_id: null }, true],
  // Another account of the customer names the same zone b.
  [{ provider: 'aws', region: 'eu-west-1', name: 'eu-west-1b', physical_id: 'euw1-az3' }, false],
  [{ provider: 'aws', region: 'eu-west-1', name: 'eu-west-1a', physical_id: 'euw1-az1' }, true],
  [{ provider: 'other', region: 'default', name: 'default', physical_id: null }, true],
])('%o is elsewhere: %s', (zone, expected) => {
  const cloud = cloudOf({ cloud: aws })
  expect(cloud && elsewhere(zone, cloud)).toBe(expected)
})

test('a machine of no cloud is nowhere else', () => {
  expect(cloudOf({})).toBeNull()
  expect(cloudOf({ cloud: { provider: 'aws' } })).toBeNull()
})

test.each([
  [{}, null, []],
  // 0 is not known.
  [{ window_time_error_ns: 0 }, null, []],
  [{ window_time_error_ns: 12_300_000 }, null, [['Window time error', 'at most 13 ms']]],
  [{ window_time_error_ns: 50_000_000 }, null, [['Window time error', 'at most 50 ms']]],
  [{ window_time_error_ns: 61_200_000 }, 62, [['Window time error', 'at most 62 ms']]],
])('the time error of windows in %o is excessive: %s', (health, excessive, facts) => {
  expect(excessiveWindowTimeErrorMs(health)).toBe(excessive)
  expect(healthFacts(health)).toEqual(facts)
})

test.each([
  ['hardware', 'network card'],
  ['kernel', 'kernel, at the driver'],
  ['user', 'the agent itself: the kernel gives none'],
  ['something newer', 'something newer'],
])('the timestamp source %s reads %s', (source, shown) => {
  expect(healthFacts({ timestamp_source: source })).toEqual([['Timestamp source', shown]])
})

test('events read as sentences', () => {
  expect(kindOf('plan_limited')).toBe('Plan limited')
  expect(kindOf('window_time')).toBe('Window time uncertain')
  expect(kindOf('no_service')).toBe('No service')
  expect(kindOf('something_newer')).toBe('something newer')
  expect(sentenceOf({ message: 'the plan allows 64 packets/s' })).toBe('the plan allows 64 packets/s')
  expect(sentenceOf({})).toBe('')
})
