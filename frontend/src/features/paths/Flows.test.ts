import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { Path } from '~/api/types'
import { Flows } from './Flows'

const of = (count: number, p50_ns: number | null) => ({ count, min_ns: p50_ns, p50_ns })

function rendered(path: Pick<Path, 'by_flow' | 'slowest_outbound_ns' | 'slowest_inbound_ns'>) {
  return renderToStaticMarkup(createElement(Flows, { path: path as Path }))
}

test('each flow has a row, the slowest of each direction is marked, and missing is not zero', () => {
  const html = rendered({
    by_flow: [
      { flow: 0, outbound: of(2, 50_000), inbound: of(2, 64_000) },
      { flow: 1, outbound: of(3, 91_000), inbound: of(3, 61_000) },
      { flow: 2, outbound: of(0, null), inbound: of(0, null) },
    ],
    slowest_outbound_ns: 91_000,
    slowest_inbound_ns: 64_000,
  })
  const body = html.split('<tbody>')[1]?.split('</tbody>')[0] ?? ''
  const rows = body.split('<tr>').slice(1)
  expect(rows).toHaveLength(3)
  expect(rows[0]).toMatch(/50\.0 µs.*64[^<]*000 ns, the slowest/)
  expect(rows[1]).toMatch(/91[^<]*000 ns, the slowest.*61\.0 µs/)
  expect(rows[2]).not.toMatch(/slowest|0\.0/)
  expect(html).toContain('91.0 µs outbound and 64.0 µs inbound')
})

test('a path with one flow has no table of flows', () => {
  const html = rendered({ by_flow: [], slowest_outbound_ns: null, slowest_inbound_ns: null })
  expect(html).toContain('one flow')
  expect(html).not.toContain('<table')
})
