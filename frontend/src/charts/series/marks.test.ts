import { expect, test } from 'vitest'
import { fitted, type Mark, markAt, placeMarks } from './marks'

const mark = (id: string, from: number, to: number | null = null): Mark => ({ id, label: id, from, to })
const ids = (marks: Mark[]) => placeMarks(marks, [1_000, 2_000], 500).map(({ mark: { id } }) => id)

test('an event is at its share of the width, a span is as wide as it lasts', () => {
  const [event, span] = placeMarks([mark('span', 1_600, 1_800), mark('event', 1_250)], [1_000, 2_000], 500)
  expect(event).toMatchObject({ left: 125, right: 125, room: 175 })
  expect(span).toMatchObject({ left: 300, right: 400, room: 200 })
})

test('a span that begins or ends outside the range is cut to it', () => {
  const [before, after] = placeMarks([mark('before', 0, 1_100), mark('after', 1_900, 9_000)], [1_000, 2_000], 500)
  expect(before).toMatchObject({ left: 0, right: 50 })
  expect(after).toMatchObject({ left: 450, right: 500 })
})

test('a mark outside the range is not placed; one at its start is', () => {
  expect(ids([mark('early', 999), mark('first', 1_000), mark('late', 2_000), mark('over', 500, 999)])).toEqual([
    'first',
  ])
})

const PLACED = placeMarks(
  [mark('long', 1_000, 1_900), mark('short', 1_200, 1_400), mark('event', 1_300)],
  [1_000, 2_000],
  500,
)

test.each([
  [152, 'event'], // within the reach of its line, and inside both spans
  [170, 'short'],
  [300, 'long'],
  [480, undefined],
])('at %i pixels is %s', (x, id) => {
  expect(markAt(PLACED, x, 6)?.id).toBe(id)
})

test('a label is cut to its room, and left out where two letters do not fit', () => {
  const widthOf = (text: string) => text.length * 10
  expect(fitted('Deploy: web', 110, widthOf)).toBe('Deploy: web')
  expect(fitted('Deploy: web', 100, widthOf)).toBe('Deploy: w…')
  expect(fitted('Deploy: web', 90, widthOf)).toBe('Deploy:…')
  expect(fitted('Deploy: web', 25, widthOf)).toBe('')
})
