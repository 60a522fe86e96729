import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Drawing, offerDrawing } from '~/lib/picture/drawing'
import { svg } from '~/lib/picture/svg'
import { screen, showPage, userEvent, waitFor } from '~/testing/page'
import { PictureMenu } from './PictureMenu'

const DRAWING: Drawing = {
  width: 500,
  height: 100,
  body: [svg('path', { d: 'M0 0' })],
  table: { columns: ['time', 'Outbound'], rows: [['2026-11-20T23:00:00Z', 10]] },
}

let saved: { name: string; blob: Blob }[]

beforeEach(() => {
  saved = []
  let blob = new Blob()
  Object.assign(URL, {
    createObjectURL: (given: Blob) => {
      blob = given
      return 'blob:x'
    },
    revokeObjectURL: () => {},
  })
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push({ name: this.download, blob })
  })
})
afterEach(() => vi.restoreAllMocks())

async function open(drawing: Drawing | null = DRAWING) {
  document.title = '(2) c-2 → b-1 · demo · Sinemora'
  await showPage(
    <figure>
      <PictureMenu title="One-way delay, p50" range={{ from: '2026-11-20T22:00:00Z', to: '2026-11-20T23:00:00Z' }} />
      <div data-testid="chart" />
    </figure>,
    '/?tz=utc',
  )
  if (drawing) offerDrawing(screen.getByTestId('chart'), () => drawing)
  await userEvent.click(screen.getByRole('button', { name: 'Download: One-way delay, p50' }))
}

test('a picture has the title of the chart, the page and the range', async () => {
  await open()
  await userEvent.click(await screen.findByRole('menuitem', { name: 'SVG' }))
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(saved[0]?.name).toBe('c-2-b-1-demo-one-way-delay-p50.svg')
  const root = new DOMParser().parseFromString((await saved[0]?.blob.text()) ?? '', 'image/svg+xml').documentElement
  const words = [...root.querySelectorAll('text')].map(({ textContent }) => textContent)
  expect(words.slice(0, 2)).toEqual(['One-way delay, p50', 'c-2 → b-1 · demo'])
  expect(words.slice(2, -1).join(' ')).toBe('20 Nov 2026, 22:00:00 – 23:00:00 UTC')
})

test('the values of a chart are a table', async () => {
  await open()
  await userEvent.click(await screen.findByRole('menuitem', { name: 'CSV' }))
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(await saved[0]?.blob.text()).toBe('time,Outbound\r\n2026-11-20T23:00:00Z,10\r\n')
})

test('a chart that is not drawn yet says so', async () => {
  await open(null)
  await userEvent.click(await screen.findByRole('menuitem', { name: 'SVG' }))
  expect(saved).toEqual([])
  expect((await screen.findByRole('alert')).textContent).toContain('not been drawn')
})
