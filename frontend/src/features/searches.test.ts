import { expect, test } from 'vitest'
import { mixSearch } from './advisors/compute-mix/question'
import { tailSearch } from './advisors/tail-lab/question'
import { transportSearch } from './advisors/transport/question'
import { auditSearch } from './audit/search'
import { curveSearch, curvesSearch } from './curves/search'
import { exploreSearch } from './explore/search'
import { matrixSearch } from './matrix/search'
import { pathSearch } from './paths/search'

const ID = '00000000-0000-4000-8000-000000000000'
const PAIR = { show: 'movers', of: `zones:${ID}:${ID}` }

/** A parser, an address, and what the page keeps of it: no invalid value and no default. */
const SEARCHES: [parse: (raw: Record<string, unknown>) => object, raw: Record<string, unknown>, kept: object][] = [
  [matrixSearch, { metric: 'speed', statistic: 3, by: ['vm'], view: 'a,b,c', cell: '1,-2', x: 1, percent: false }, {}],
  [matrixSearch, { metric: 'loss', statistic: 'p50', by: 'zone' }, { metric: 'loss', by: 'zone' }],
  [matrixSearch, { view: '0,6,12', cell: '3,4', percent: true }, { view: '0,6,12', cell: '3,4', percent: true }],
  [matrixSearch, { scale: '5000,1000' }, {}],
  [matrixSearch, { scale: '1000,5000' }, { scale: '1000,5000' }],
  [pathSearch, { statistic: 'p100', tab: 'history', spike: 'x', km: -1, rounds: 'yes' }, {}],
  [pathSearch, { tab: 'symmetry', spike: '1-2-3', km: '7.5' }, { tab: 'symmetry', spike: '1-2-3', km: 7.5 }],
  [exploreSearch, { of: 'mesh', show: 'series', spike: 'x' }, {}],
  [exploreSearch, PAIR, PAIR],
  [curvesSearch, { compare: ',', added: '40' }, { added: 40 }],
  [curveSearch, { number: 2, added: '150', by: 'vm', source: 'no id' }, { number: 2, added: 150 }],
  [curveSearch, { number: 0.5, added: -1, by: 'zone' }, { by: 'zone' }],
  [mixSearch, { load: 'x', target: 300, statistic: 'p7', vms: [], offer: { serviceMs: 3 } }, { target: 300 }],
  [mixSearch, { offer: null }, { offer: null }],
  [tailSearch, { load: '80', workload: 'w9', alpha: 2, policies: 'ps,edf', classes: 8 }, { alpha: 2, classes: 8 }],
  [transportSearch, { pattern: 'star', fan_in: '3', encrypt: 'yes' }, { fan_in: 3 }],
  [auditSearch, { kind: 'nothing', actor: ' ci ', since: 'x' }, { actor: 'ci' }],
]

test.each(SEARCHES)('%o keeps of the address %j: %j', (parse, raw, kept) => {
  expect(parse(raw)).toEqual(kept)
  expect(parse({ ...kept })).toEqual(kept)
})
