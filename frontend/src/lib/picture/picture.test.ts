// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { plainColour } from './colour'
import { compose } from './compose'
import { type Drawing, drawingIn, offerDrawing } from './drawing'
import { csv, fileName } from './files'
import { inlined, svg } from './svg'

const INKS = { page: 'rgb(255, 255, 255)', ink: 'rgb(0, 0, 0)', quiet: 'rgb(90, 90, 90)', line: 'rgb(200, 200, 200)' }
const DRAWING: Drawing = {
  width: 600,
  height: 200,
  body: [svg('path', { d: 'M0 0L600 200', stroke: 'rgb(10, 106, 176)' })],
  keys: [{ label: 'Outbound <p50>', colour: 'rgb(10, 106, 176)' }],
  scale: { title: 'Delay, µs', colours: ['rgb(0, 0, 0)', 'rgb(9, 9, 9)'], ticks: [{ at: 0.5, label: '20 µs' }] },
}
const CAPTION = {
  title: 'One-way delay, p50',
  about: ['a-1 → b-1 · demo', '20 Nov 2026, 23:00:00 – 20 Nov 2026, 23:15:00 UTC'],
  at: new Date('2026-11-20T23:16:00Z'),
}

/** Return the picture as another program reads it. */
function parsed(text: string) {
  const document = new DOMParser().parseFromString(text, 'image/svg+xml')
  expect(document.querySelector('parsererror')).toBeNull()
  return document.documentElement
}

test('a picture says what it shows, of what, when, and in which unit', () => {
  const { text, width, height } = compose(DRAWING, CAPTION, INKS)
  const root = parsed(text)
  expect(root.querySelector('title')?.textContent).toContain(CAPTION.title)
  const words = [...root.querySelectorAll('text')].map((element) => element.textContent)
  expect(words).toEqual(
    expect.arrayContaining([CAPTION.title, ...CAPTION.about, 'Outbound <p50>', 'Delay, µs', '20 µs']),
  )
  expect(words.at(-1)).toBe('Sinemora, exported 20 Nov 2026, 23:16:00 UTC')
  expect([root.getAttribute('width'), root.getAttribute('height')]).toEqual([String(width), String(height)])
  expect(height).toBeGreaterThan(DRAWING.height)
})

test('a long title is broken, not cut', () => {
  const title = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ')
  const root = parsed(compose(DRAWING, { ...CAPTION, title }, INKS).text)
  const lines = [...root.querySelectorAll('text[font-size="16"]')].map((line) => line.textContent)
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.join(' ')).toBe(title)
})

test('styles are written into a copy; links and handlers are left behind', () => {
  document.body.innerHTML =
    '<svg width="10" height="10"><a href="/x"><rect class="cell" style="fill: rgb(1, 2, 3); opacity: 0.5" data-x="1" width="4"/></a></svg>'
  const copy = inlined(document.querySelector('svg') as Element)
  const rect = copy.querySelector('rect')
  expect(copy.querySelector('a')).toBeNull()
  expect(rect?.getAttribute('fill')).toBe('rgb(1, 2, 3)')
  expect(rect?.getAttribute('opacity')).toBe('0.5')
  expect(rect?.getAttributeNames()).not.toEqual(expect.arrayContaining(['class']))
  expect(rect?.getAttribute('width')).toBe('4')
})

test.each([
  ['color(srgb 1 0.5 0)', 'rgb(255, 128, 0)'],
  ['color(srgb 0 0 1 / 0.25)', 'rgba(0, 0, 255, 0.25)'],
  ['rgb(1, 2, 3)', 'rgb(1, 2, 3)'],
])('%s is written as %s', (colour, plain) => {
  expect(plainColour(colour)).toBe(plain)
})

test('an offered drawing is found until it is withdrawn', () => {
  document.body.innerHTML = '<figure><div id="chart"></div></figure>'
  const [figure, chart] = [document.querySelector('figure'), document.querySelector('#chart')] as [Element, Element]
  expect(drawingIn(figure)).toBeUndefined()
  const withdraw = offerDrawing(chart, () => DRAWING)
  expect(drawingIn(figure)).toBe(DRAWING)
  withdraw()
  expect(drawingIn(figure)).toBeUndefined()
})

test('a table is CSV with quoted text and empty fields for gaps', () => {
  const table = {
    columns: ['time', 'a "b", c'],
    rows: [['2026-11-20T23:00:00.000Z', null] as const, ['x', 1.5] as const],
  }
  expect(csv({ ...table, rows: table.rows.map((row) => [...row]) })).toBe(
    'time,"a ""b"", c"\r\n2026-11-20T23:00:00.000Z,\r\nx,1.5\r\n',
  )
})

test('a name that a spreadsheet would run is inert in CSV, a number stays one', () => {
  const rows = [["=cmd|' /C calc'!A0", '+1+1', '@SUM(1)', '-5.5', '＝1', 'a;=1', -3, null]]
  expect(csv({ columns: ['-a'], rows })).toBe("'-a\r\n'=cmd|' /C calc'!A0,'+1+1,'@SUM(1),-5.5,'＝1,a;'=1,-3,\r\n")
})

test.each([
  ['c-2 → b-1 · demo One-way delay, p99.9', 'c-2-b-1-demo-one-way-delay-p99-9'],
  ['///', 'picture'],
])('%s becomes the file name %s', (title, name) => {
  expect(fileName(title)).toBe(name)
})
