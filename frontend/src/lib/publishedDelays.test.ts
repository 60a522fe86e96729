import { expect, test } from 'vitest'
import { classOf, delaysOf, publishedDelays } from './publishedDelays'

const zone = (id: string, region: string, provider = 'aws') => ({ id, region, provider })

test.each([
  [zone('a', 'eu'), zone('a', 'eu'), 'same_zone'],
  [zone('a', 'eu'), zone('b', 'eu'), 'between_zones'],
  [zone('a', 'eu'), zone('c', 'us'), 'between_regions'],
  // Providers may have regions of one name.
  [zone('a', 'eu'), zone('d', 'eu', 'gcp'), 'between_providers'],
])('%o and %o are found %s', (source, target, pathClass) => {
  expect(classOf(source, target)).toBe(pathClass)
})

test('the published figures are those of table 4.3', () => {
  // Read by hand from the table: EC2 traces EUW-1 to -3, USW-1 to -3, USE-1 to -3.
  expect(publishedDelays('aws', 'same_zone')).toEqual({
    p50: [172_050, 350_970],
    p99: [291_550, 481_530],
    count: 9,
    years: ['2017', '2018'],
  })
  expect(publishedDelays('gcp', 'between_zones')).toEqual({
    p50: [180_660, 180_660],
    p99: [526_840, 526_840],
    count: 1,
    years: ['2017', '2017'],
  })
})

test('where nothing was published nothing is said', () => {
  expect(publishedDelays('aws', 'between_zones')).toBeNull()
  expect(publishedDelays('azure', 'between_regions')).toBeNull()
  expect(publishedDelays('loopback', 'same_zone')).toBeNull()
  expect(delaysOf([])).toBeNull()
})
