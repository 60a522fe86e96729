import type { ComponentProps } from 'react'
import { expect, test } from 'vitest'
import type { Deviation, Series } from '~/api/types'
import { cleanup, screen, showPage } from '~/testing/page'
import { PathCharts } from './PathCharts'

// A canvas is needed to draw; the frames around the charts are what is tested here.
const direction = { delay_ns: [80_000], clock_error_ns: [900], loss: [0] }
const SERIES = {
  resolution_s: 10,
  points_at: ['2026-11-20T23:10:20Z'],
  outbound: direction,
  inbound: direction,
  round_trip: { delay_ns: [160_000], loss: [0] },
} as unknown as Series

const charts = (series: Series | undefined, usual?: ComponentProps<typeof PathCharts>['usual']) =>
  showPage(
    <PathCharts
      series={series}
      {...(usual ? { usual } : {})}
      statistic="p50"
      earlier={undefined}
      time={{}}
      clock="utc"
      theme="light"
      waiting={false}
      marks={[]}
    />,
  )

const heights = () =>
  screen.getAllByRole('figure').map((figure) => figure.querySelector<HTMLElement>(':scope > div')?.style.height)

test('the charts are as high while they load as with values, so that nothing below them moves', async () => {
  await charts(undefined)
  expect(screen.getByText('Loading the history…')).toBeTruthy()
  const reserved = heights()
  expect(reserved).toEqual(['260px', '170px', '130px'])
  expect(screen.queryByText(/no value/)).toBeNull()
  cleanup()
  await charts(SERIES)
  expect(heights()).toEqual(reserved)
  expect(screen.getByRole('img', { name: /^One-way delay, p50\. Outbound 80.* throughout/ })).toBeTruthy()
})

test('below the delays stands what is usual, and of when', async () => {
  const usual = { baseline_ns: 80_123, dead_band_ns: 5_000, basis: 'last_day' } as Deviation
  await charts(SERIES, { outbound: usual, inbound: { ...usual, baseline_ns: null, basis: null } })
  expect(screen.getByText(/outbound 80\.1 µs ± 5\.00 µs, inbound unknown\. .* last 24 hours\.$/)).toBeTruthy()
})
