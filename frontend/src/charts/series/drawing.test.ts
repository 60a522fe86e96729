// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { type SeriesShape, seriesDrawing } from './drawing'

const CHART: SeriesShape = {
  width: 800,
  height: 260,
  times: [0, 60, 120, 180, 240],
  lines: [
    { label: 'Outbound', colour: 'var(--outbound)', values: [10, 20, null, 40, 50], error: [1, 1, null, 1, 1] },
    { label: 'Before', colour: 'var(--outbound)', values: [10, null, 30, null, 20], isDashed: true },
  ],
  range: [0, 240],
  extent: [0, 60],
  shape: 'line',
  formatTicks: (values) => values.map((value) => `${value} ns`),
  spans: [{ from: 60, to: 120, label: 'Incident', colour: 'var(--bad)' }],
  limits: [{ label: 'Limit', value: 45, colour: 'var(--bad)' }],
  marks: [{ id: 'm', label: 'deploy', from: 180, to: null }],
  clock: 'utc',
  resolve: () => 'rgb(1, 2, 3)',
}
const drawn = () => {
  const { body } = seriesDrawing(CHART)
  const root = document.createElement('div')
  root.append(...body)
  return root
}
const texts = () => [...drawn().querySelectorAll('text')].map((text) => text.textContent)

test('axes have units and times, events and limits their names', () => {
  expect(texts()).toEqual(expect.arrayContaining(['20 ns', '00:01:00', 'deploy', 'Limit']))
  expect(drawn().innerHTML).not.toContain('var(')
})

test('a gap interrupts the line, and a single value is a dot', () => {
  const [first, second] = [...drawn().querySelectorAll('path[fill="none"]')].map((path) => path.getAttribute('d') ?? '')
  expect(first?.match(/M/g)).toHaveLength(2)
  expect(second).not.toContain('L')
  expect(drawn().querySelectorAll('circle')).toHaveLength(3)
})

test('values are drawn in proportion', () => {
  const lines = [...drawn().querySelectorAll('line')].map((line) => Number(line.getAttribute('y1')))
  const [ofZero, ofTwenty, ofForty] = lines as [number, number, number]
  expect(ofZero - ofTwenty).toBeCloseTo(ofTwenty - ofForty, 1)
  expect(ofZero).toBeGreaterThan(ofTwenty)
})

test('the legend has every line, the range its zone, and the table every value with its error', () => {
  const { keys, range, table } = seriesDrawing(CHART)
  expect(keys?.map(({ label, dash }) => [label, dash !== undefined])).toEqual([
    ['Outbound', false],
    ['Before', true],
    ['Incident', false],
  ])
  expect(range).toBe('1 Jan 1970, 00:00:00 – 00:04:00 UTC')
  expect(table?.columns).toEqual(['time', 'Outbound', 'Outbound ±', 'Before'])
  expect(table?.rows[2]).toEqual(['1970-01-01T00:02:00.000Z', null, null, 30])
})
