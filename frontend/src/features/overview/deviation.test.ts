import { expect, test } from 'vitest'
import { changesOf, positionOf, typical } from './deviation'
import { comparison } from './fixtures'

const unusual = (values: (number | null)[][], base: (number | null)[][], clockErrorNs?: number) =>
  changesOf(comparison(values, base, clockErrorNs)).map(({ isUnusual }) => isUnusual)

const before = [
  [20_000, 300_000],
  [300_000, 20_000],
]

test.each([
  ['the same', before, 1_000, [false, false, false, false]],
  [
    'below 10 µs, and below a tenth',
    [
      [29_000, 329_000],
      [271_000, 11_000],
    ],
    1_000,
    [false, false, false, false],
  ],
  [
    'slower and faster',
    [
      [31_000, 331_000],
      [269_000, 9_000],
    ],
    1_000,
    [true, true, true, true],
  ],
  [
    'within the clock error',
    [
      [80_000, 700_000],
      [300_000, 20_000],
    ],
    100_000,
    [false, true, false, false],
  ],
  [
    'without a value',
    [
      [null, 700_000],
      [300_000, 20_000],
    ],
    1_000,
    [false, true, false, false],
  ],
])('%s', (_, values, clockErrorNs, expected) => {
  expect(unusual(values, before, clockErrorNs)).toEqual(expected)
})

test('without an earlier value nothing is unusual', () => {
  expect(
    unusual(before, [
      [null, null],
      [null, null],
    ]),
  ).toEqual([false, false, false, false])
})

test('medians are over zone pairs with both values', () => {
  const changes = changesOf(
    comparison(
      [
        [100, 220],
        [null, 120],
      ],
      [
        [100, 200],
        [300, 100],
      ],
    ),
  )
  expect(typical(changes)).toEqual({ nowNs: 120, percent: 10, pairs: 3 })
  expect(typical([])).toEqual({ nowNs: null, percent: null, pairs: 0 })
})

test('slower and faster lie on opposite sides of the scale, and more lies further out', () => {
  const at = (now: number) => {
    const [change] = changesOf(comparison([[now]], [[100_000]]))
    return change ? positionOf(change) : Number.NaN
  }
  expect(at(120_000) - 0.5).toBeCloseTo(0.5 - at(80_000))
  expect([at(300_000), at(200_000), at(150_000), at(120_000)]).toEqual(
    [at(300_000), at(200_000), at(150_000), at(120_000)].toSorted((a, b) => b - a),
  )
  expect(at(300_000)).toBe(1)
  expect(at(120_000)).toBeGreaterThan(0.6)
})
