import { describe, expect, test } from 'vitest'
import { countLooks, type Grid, LOOK, pool } from './grid'
import { coverage, HATCHES, tile } from './hatch'
import { paint, stencil } from './paint'
import { colourTable, contrast, dimmed, diverging, luminance, PAGE, pack, sequential, type Theme } from './palette'

const THEMES: Theme[] = ['light', 'dark']
const steps = Array.from({ length: 101 }, (_, i) => i / 100)

describe.each(THEMES)('colours on a %s page', (theme) => {
  test('more is more contrast with the page, all along the ramp', () => {
    const contrasts = steps.map((t) => contrast(sequential(theme)(t), PAGE[theme]))
    for (let i = 1; i < contrasts.length; i++) {
      expect(contrasts[i] as number).toBeGreaterThanOrEqual((contrasts[i - 1] as number) - 1e-9)
    }
    expect(contrasts.at(-1) as number).toBeGreaterThan(10 * (contrasts[0] as number) * 0.6)
  })

  test('a diverging ramp is quietest in the middle and grows on both sides', () => {
    const away = (t: number) => contrast(diverging(theme)(t), PAGE[theme])
    for (let i = 51; i <= 100; i++) {
      expect(away(i / 100)).toBeGreaterThanOrEqual(away((i - 1) / 100) - 0.02)
      expect(away(1 - i / 100)).toBeGreaterThanOrEqual(away(1 - (i - 1) / 100) - 0.02)
    }
  })

  test('mirrored values are as light as each other, so neither direction looks worse', () => {
    for (const d of [0.1, 0.2, 0.3, 0.4, 0.5]) {
      const [below, above] = [luminance(diverging(theme)(0.5 - d)), luminance(diverging(theme)(0.5 + d))]
      expect((Math.max(below, above) + 0.05) / (Math.min(below, above) + 0.05)).toBeLessThan(2.1)
    }
  })

  test('below the middle is orange, above is purple, in both themes', () => {
    const [red, , blue] = diverging(theme)(0.2)
    expect(red).toBeGreaterThan(blue)
    const [red2, green2, blue2] = diverging(theme)(0.8)
    expect(blue2).toBeGreaterThan(Math.max(red2 - 1, green2))
  })

  test('the least is blue, the most is yellow, in both themes', () => {
    const [red, green, blue] = sequential(theme)(0)
    expect(blue).toBeGreaterThan(Math.max(red, green))
    const [red2, green2, blue2] = sequential(theme)(1)
    expect(Math.min(red2, green2)).toBeGreaterThan(blue2)
  })

  test('a dimmed colour has less contrast with the page', () => {
    const most = sequential(theme)(1)
    expect(contrast(dimmed(most, theme), PAGE[theme])).toBeLessThan(contrast(most, PAGE[theme]))
  })
})

function grid(picture: string[], faint?: number[]): Grid {
  const cells = picture.join('').split('')
  const looks: Record<string, number> = { '·': LOOK.dotted, '/': LOOK.lined, x: LOOK.crossed }
  return {
    rows: picture.length,
    columns: (picture[0] as string).length,
    codes: Uint16Array.from(cells, (c) => Number(c) || 0),
    looks: Uint8Array.from(cells, (c) => looks[c] ?? LOOK.plain),
    faint: faint && Uint8Array.from(faint),
  }
}

const table = colourTable(10, (code) => (code === 0 ? null : code / 9), sequential('dark'), 'dark')

test('a cell is painted with the colour of its code; no value leaves the page to show', () => {
  const out = new Uint32Array(6)
  paint(grid(['19·', '/x5']), table, out)
  expect([...out]).toEqual([table.plain[1], table.plain[9], 0, 0, 0, table.plain[5]])
  expect(table.plain[9]).toBe(pack(sequential('dark')(1)) >>> 0)
})

test('a value within its error is painted faint', () => {
  const out = new Uint32Array(2)
  paint(grid(['99'], [0, 1]), table, out)
  expect([...out]).toEqual([table.plain[9], table.faint[9]])
})

test('a stencil is opaque where the look is, and only there', () => {
  const out = new Uint32Array(6)
  stencil(grid(['19·', '/x5']).looks, LOOK.crossed, out)
  expect([...out].map((pixel) => pixel >>> 24)).toEqual([0, 0, 0, 0, 255, 0])
})

test('the ways of having no value look different, at any pixel density', () => {
  for (const density of [1, 1.5, 2]) {
    const tiles = HATCHES.map((hatch) => tile(hatch, density).alpha.join())
    expect(new Set(tiles).size).toBe(HATCHES.length)
  }
})

test('a tile repeats without a seam', () => {
  for (const hatch of HATCHES) {
    for (let i = 0; i < 8; i++) {
      expect(coverage(hatch, i + 8, 3)).toBeCloseTo(coverage(hatch, i, 3))
      expect(coverage(hatch, 3, i + 8)).toBeCloseTo(coverage(hatch, 3, i))
    }
  }
})

test('lost is the loudest hatch, not planned the quietest', () => {
  const ink = (hatch: (typeof HATCHES)[number]) => tile(hatch, 2).alpha.reduce((sum, a) => sum + a, 0)
  const quiet = [LOOK.dotted, LOOK.lined, LOOK.crossed].map(ink)
  expect(quiet).toEqual([...quiet].sort((a, b) => a - b))
})

describe('pooling', () => {
  const highest = { kind: 'highest' } as const

  test('no hot cell is dropped', () => {
    const pooled = pool(grid(['1111', '1911', '1117', '1111']), 2, highest)
    expect([pooled.rows, pooled.columns, [...pooled.codes]]).toEqual([2, 2, [9, 1, 1, 7]])
  })

  test('loss outranks any delay, a delay outranks a stale cell, and that outranks a cell not planned', () => {
    const looks = (picture: string[]) => [...pool(grid(picture), 2, highest).looks]
    expect(looks(['9x', '11'])).toEqual([LOOK.crossed])
    expect(looks(['1/', '··'])).toEqual([LOOK.plain])
    expect(looks(['·/', '··'])).toEqual([LOOK.lined])
  })

  test('on a signed scale the worst is the furthest from zero', () => {
    expect([...pool(grid(['28', '55']), 2, { kind: 'furthest', middle: 6 }).codes]).toEqual([2])
  })

  test('the maximum of the whole survives any factor, edges included', () => {
    const size = 37
    const codes = Uint16Array.from({ length: size * size }, (_, i) => 1 + ((i * 7919) % 997))
    const whole: Grid = { rows: size, columns: size, codes, looks: new Uint8Array(size * size) }
    for (const factor of [1, 2, 3, 5, 36, 40]) {
      expect(Math.max(...pool(whole, factor, highest).codes)).toBe(Math.max(...codes))
    }
  })
})

test('looks are counted for the legend', () => {
  expect(countLooks(grid(['19·', '/x·']))).toEqual({ 0: 2, 1: 2, 2: 1, 3: 0, 4: 1, 5: 0, 6: 0, 7: 0, 8: 0, faint: 0 })
})
