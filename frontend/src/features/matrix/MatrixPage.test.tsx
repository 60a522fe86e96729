import type { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import type { Mesh } from '~/api/types'
import { codeOfValue } from '~/lib/codes'
import type { Patch } from '~/lib/searchParams'
import { cellsOf } from '~/testing/actions'
import { mockApi, reply, type Sent } from '~/testing/api'
import { matrixOf } from '~/testing/matrix'
import { fireEvent, recorded, screen, showPage, userEvent, visitSearch, waitFor, within } from '~/testing/page'
import { rosterOf } from '~/testing/roster'
import { MatrixPage } from './MatrixPage'
import { type MatrixSearch, matrixSearch } from './search'

const MESH = { id: 'm', name: 'production', window_s: 10, rate_hz: 8, flows: 1 } as Mesh
const VMS = ['a-1', 'a-2', 'b-1', 'b-2', 'b-3', 'c-1']
const ROSTER = rosterOf(VMS)

/** Delays rise by 1 ns from cell to cell: the codes of small delays count ns. */
const delays = (size: number) => matrixOf(size, (cell) => cell + 11)

/** Every path is as usual, but a-1 to a-2 takes 100 ns longer and a-1 to b-1 has no usual value. */
const changes = () =>
  matrixOf(
    6,
    (cell) => (cell === 1 ? 32_768 + 100 : cell === 2 ? 0 : 32_768),
    (cell) => (cell === 2 ? 5 : 0),
  )

const UNUSUAL_PATHS = recorded('/v1/meshes/{mesh_id}/deviations')
const BASIS = { same_hour: 30, last_day: 0, last_hour: 0 }
const QUIET = { ...UNUSUAL_PATHS, compared: 30, unusual: 0, basis: BASIS, items: [] }
const UNUSUAL = {
  ...{ ...UNUSUAL_PATHS.items[0], source: { id: 'a-1', name: 'a-1' }, target: { id: 'a-2', name: 'a-2' } },
  ...{ value_ns: 662_000, baseline_ns: 262_000, deviation_ns: 400_000, onset_at: '2026-11-20T10:42:00Z', steps: 6 },
  last_hour: { points_at: ['2026-11-20T10:41:00Z', '2026-11-20T10:42:00Z'], delay_ns: [262_000, 662_000] },
}

const Page = ({ search, onSearch }: { search: MatrixSearch; onSearch: (patch: Patch<MatrixSearch>) => void }) => (
  <MatrixPage mesh={MESH} search={search} onSearch={async (patch) => onSearch(patch)} />
)

async function open(start: MatrixSearch, more: object = {}) {
  const answers = {
    'GET /v1/meshes/m/matrix': ({ query }: Sent) =>
      query.get('metric') === 'deviation' ? changes() : delays(query.get('by') === 'zone' ? 3 : 6),
    'GET /v1/meshes/m/roster': ROSTER,
    'GET /v1/meshes/m/deviations': QUIET,
    'GET /v1/zones': [],
    ...more,
  }
  await visitSearch(Page, matrixSearch, answers, start)
  return screen.findByRole('grid')
}

/** Return the middle of a cell in a picture of 3×3 cells: without a layout, they are 53 pixels wide. */
const middle = (row: number, column: number) => ({ clientX: (column + 0.5) * 53, clientY: (row + 0.5) * 53 })
const picture = () => document.querySelector('canvas')?.parentElement as HTMLElement
const names = (grid: HTMLElement) => [grid.getAttribute('aria-rowcount'), grid.getAttribute('aria-colcount')]

test('a zone pair shows the VMs of its two zones, no path that was pointed at before, and leads back to all', async () => {
  await open({ by: 'zone', metric: 'one_way_delay' })
  fireEvent.pointerMove(picture(), middle(1, 2))
  fireEvent.click(picture(), middle(1, 2))
  const grid = await screen.findByRole('grid', { name: 'One-way delay, p50 by path' })
  expect(names(grid)).toEqual(['3', '1'])
  const pair = within(await screen.findByRole('region', { name: 'Zone pair' }))
  expect(pair.getByRole('heading', { name: 'zone b to zone c' })).toBeTruthy()
  expect(pair.getByText(/^3 VMs to 1 VM;/)).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Selected path' })).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Show all VMs' }))
  expect(names(await screen.findByRole('grid', { name: 'One-way delay, p50 by path' }))).toEqual(['6', '6'])
  expect(screen.queryByRole('region', { name: 'Zone pair' })).toBeNull()
})

test('the cells of a zone pair are the paths between its VMs, its figures those of all their samples', async () => {
  const grid = await open({ zones: 'b,c', cell: '1,0', metric: 'one_way_delay' })
  // From b-2 (row 3 of the mesh) to c-1 (column 5): cell 3 · 6 + 5 has 23 + 10 ns.
  expect(within(grid).getByRole('gridcell').textContent).toBe('b-2 to c-1, p50 33.0 ns')
  const path = await screen.findByRole('region', { name: 'Selected path' })
  expect(within(path).getByRole('heading', { name: 'b-2 to c-1' })).toBeTruthy()
  expect(within(path).getByText('zone b → zone c')).toBeTruthy()
  const pair = within(await screen.findByRole('region', { name: 'Zone pair' }))
  const figures = within(pair.getByRole('table', { name: 'Delay, loss and clock error' }))
  // In the matrix of zones, b to c is cell 5: the code 16.
  expect(await figures.findAllByText('15.0 ns')).toHaveLength(2)
  expect(figures.getByRole('row', { name: 'Loss 0.150 %' })).toBeTruthy()
  expect(figures.getByRole('row', { name: 'Clock error ±15.0 ns' })).toBeTruthy()
})

const AGENTS = { reporting: 6, silent: 0, stopped: 0, enrolled: 0 }

test.each([
  [0, AGENTS, /^No path is planned: none of these VMs has an agent\./],
  [30, AGENTS, /^Waiting for the first window\./],
  [30, { ...AGENTS, reporting: 0, enrolled: 6 }, 'None of the 6 agents of this mesh has reported yet.'],
])('a mesh without windows, %d planned paths, says whether one will come (%#)', async (planned, agents, words) => {
  const unplanned = () =>
    matrixOf(
      6,
      () => 0,
      () => 1,
    )
  await open(
    { metric: 'one_way_delay' },
    { 'GET /v1/meshes/m/matrix': unplanned, 'GET /v1/overview/meshes/m': { paths: { planned }, agents } },
  )
  expect(await screen.findByText(words)).toBeTruthy()
})

const inZone = (cell: number, zone: string) => [Math.floor(cell / 6), cell % 6].some((at) => VMS[at]?.[0] === zone)

test('stale paths are named, and keep their last values', async () => {
  const stale = () =>
    matrixOf(
      6,
      (cell) => cell + 11,
      (cell) => (cell % 7 === 0 ? 1 : inZone(cell, 'c') ? 3 : 0),
      Date.parse('2026-11-20T10:42:00Z'),
    )
  const grid = await open({ metric: 'one_way_delay', cell: '0,5' }, { 'GET /v1/meshes/m/matrix': stale })
  const notice = (await screen.findByText('No recent measurement from or to zone c.')).parentElement
  await expect.poll(() => notice?.textContent).toContain('10 of 30')
  expect(notice?.textContent).toContain('Stale cells show their last value')
  expect(within(grid).getByRole('gridcell').textContent).toBe('a-1 to c-1, p50 15.0 ns, stale')
})

test('the tip of a cell names the annotations of its VMs and zones', async () => {
  const zone = { id: 'd', kind: 'deploy', text: 'web 4.2', starts_at: '2026-11-20T10:00:00Z', ends_at: null, url: null }
  const about = { vm_ids: [], zone_ids: ['b'], application_ids: [], task_vm_ids: [] }
  const answers = {
    'GET /v1/annotations': [
      { ...zone, scope: about },
      { ...zone, id: 'n', text: 'of all VMs', scope: null },
    ],
  }
  await open({ by: 'zone', metric: 'one_way_delay' }, answers)
  fireEvent.pointerMove(picture(), middle(1, 2))
  expect(await screen.findByText('Deploy: web 4.2')).toBeTruthy()
  expect(screen.queryByText('Deploy: of all VMs')).toBeNull()
  fireEvent.pointerMove(picture(), middle(0, 2))
  expect(screen.queryByText('Deploy: web 4.2')).toBeNull()
})

test('in the default colour, a path that loses packets says how many, and the legend has its mark', async () => {
  const lost = () => matrixOf(6, (cell) => codeOfValue('loss', cell === 3 ? 0.12 : 0.01))
  const answer = ({ query }: Sent) => (query.get('metric') === 'loss' ? lost() : changes())
  await open({ cell: '0,3' }, { 'GET /v1/meshes/m/matrix': answer })
  await waitFor(() => expect(screen.getByRole('gridcell').textContent).toMatch(/^a-1 to b-2, .*; 12.0 % lost$/))
  const legend = within(screen.getByRole('region', { name: 'Legend' }))
  expect(legend.getByText(/^Loses 5/).textContent).toMatch(/or more1$/)
})

test('an address that names no zone pair of the mesh shows the whole mesh', async () => {
  expect(names(await open({ zones: 'b,z' }))).toEqual(['6', '6'])
})

test.each([
  ['0,1', 'a-1 to a-2, p50 +100 ns from usual'],
  ['0,2', 'a-1 to b-1, no usual value yet'],
  ['0,3', 'a-1 to b-2, p50 as usual'],
])('without a metric in the address, cell %s is its change from usual: %s', async (cell, words) => {
  const grid = await open({ cell })
  expect(screen.getByRole('grid', { name: 'Change from usual by path' })).toBe(grid)
  expect(within(grid).getByRole('gridcell').textContent).toBe(words)
})

test.each([
  [BASIS, 'All as usual: 30 paths.'],
  [
    { same_hour: 0, last_day: 0, last_hour: 30 },
    'All as usual: 30 paths. Compared with the last hour only; no earlier day to compare with yet.',
  ],
])('a quiet network is one line, which says with what it is compared (%#)', async (basis, words) => {
  await open({}, { 'GET /v1/meshes/m/deviations': { ...QUIET, basis } })
  expect((await screen.findByText(/^All as usual: 30 paths\./)).textContent?.trim()).toBe(words)
  expect(screen.queryByRole('table', { name: 'Most unusual' })).toBeNull()
  const legend = within(screen.getByRole('region', { name: 'Legend' }))
  expect(legend.getByText('Usual').textContent).toBe('Usual34')
})

test('the most unusual paths are listed with their change, since when, and its cost, and lead to the path', async () => {
  const older = { ...UNUSUAL, source: UNUSUAL.target, target: UNUSUAL.source, is_onset_known: false }
  const costs = {
    items: [
      { selection: 'path:a-1:a-2', applications: 2, worst: { id: 'c', name: 'cache', cost: 0.04 } },
      { selection: 'path:a-2:a-1', applications: 1, worst: { id: 'c', name: 'cache', cost: null } },
    ],
  }
  const sent: string[][] = []
  await open(
    {},
    {
      'GET /v1/meshes/m/deviations': { ...QUIET, unusual: 1, items: [UNUSUAL, older] },
      'GET /v1/meshes/m/path-costs': ({ query }: Sent) => {
        sent.push(query.getAll('selections'))
        return reply(200, costs)
      },
    },
  )
  expect(await screen.findByText('1 of 30 paths changed from usual.')).toBeTruthy()
  const table = within(screen.getByRole('table', { name: 'Most unusual' }))
  const cost = await table.findByRole('link', { name: 'cache −4.0 points' })
  expect(cost.getAttribute('href')).toBe('/applications/c')
  expect(sent[0]).toEqual(['path:a-1:a-2', 'path:a-2:a-1'])
  const [change, since, olderChange, olderSince] = table.getAllByRole('cell')
  expect(change?.textContent).toBe('+400 µs262 µs → 662 µscache −4.0 points')
  expect(olderChange?.textContent).toBe('+400 µs262 µs → 662 µs')
  expect(within(since as HTMLElement).getByText(/^since .*10:42 UTC$/)).toBeTruthy()
  expect(within(since as HTMLElement).getByRole('img', { name: /^risen from 262 µs to 662 µs since / })).toBeTruthy()
  expect(within(olderSince as HTMLElement).getByText(/^for more than \d+ d$/)).toBeTruthy()
  expect(table.getByRole('link', { name: 'a-1 → a-2' }).getAttribute('href')).toBe('/meshes/m/paths/a-1/a-2')
})

test('a zone pair says what is usual, and its paths are one link away', async () => {
  const pair = { ...UNUSUAL, source: { id: 'a', name: 'zone a' }, target: { id: 'b', name: 'zone b' } }
  await open(
    { by: 'zone', cell: '0,1', metric: 'one_way_delay' },
    {
      'GET /v1/meshes/m/deviations': { ...QUIET, by: 'zone', compared: 7, unusual: 1, items: [pair] },
      'GET /v1/meshes/m/deviations/a/b': pair,
    },
  )
  const card = within(await screen.findByRole('region', { name: 'Selected zone pair' }))
  expect(
    await card.findByText('One-way p50. Usual: this hour on 6 earlier days. Changes up to 5.00 µs are usual.'),
  ).toBeTruthy()
  const list = within(await screen.findByRole('table', { name: 'Most unusual' }))
  expect(list.getByRole('link', { name: 'zone a → zone b' }).getAttribute('href')).toBe('/meshes/m?zones=a%2Cb')
})

test('until something is usual, the heatmap shows delays', async () => {
  const young = { 'GET /v1/meshes/m/deviations': { ...QUIET, compared: 0, no_baseline: 30 } }
  await open({ cell: '0,1' }, young)
  expect(await screen.findByRole('grid', { name: 'One-way delay, p50 by path' })).toBeTruthy()
  expect(screen.getByText(/^No usual value yet: it needs about twenty minutes/)).toBeTruthy()
})

const headings = () => within(screen.getByRole('group', { name: 'from' }))

test('a zone collapses into one row and column with the worst of its paths, and expands again', async () => {
  const grid = await open({ metric: 'one_way_delay', cell: '0,3' })
  await userEvent.click(headings().getByRole('button', { name: 'zone b, 3 VMs' }))
  expect(names(grid)).toEqual(['4', '4'])
  // From a-1 (row 0) to b-1, b-2 and b-3 (columns 2 to 4): the last is the highest, code 15.
  expect(within(grid).getByRole('gridcell').textContent).toBe('a-1 to zone b, worst of 3 paths, p50 14.0 ns')
  const path = await screen.findByRole('region', { name: 'Selected path' })
  expect(within(path).getByRole('heading', { name: 'a-1 to b-3' })).toBeTruthy()
  expect(within(path).getByText('The worst of the 3 paths of this cell')).toBeTruthy()
  expect(screen.getByText('A collapsed zone shows the worst of its paths.')).toBeTruthy()
  const heading = headings().getByRole('button', { name: 'zone b, 3 VMs' })
  expect(heading.getAttribute('aria-expanded')).toBe('false')
  await userEvent.click(heading)
  expect(names(grid)).toEqual(['6', '6'])
  // The cursor is on the first path of the zone.
  expect(within(grid).getByRole('gridcell').textContent).toBe('a-1 to b-2, p50 13.0 ns')
})

test('the keyboard moves along the headings and collapses a zone', async () => {
  const grid = await open({ metric: 'one_way_delay' })
  headings().getByRole('button', { name: 'zone a, 2 VMs' }).focus()
  await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowUp}{Enter}')
  expect(names(grid)).toEqual(['4', '4'])
  await userEvent.keyboard('{Enter}')
  expect(names(grid)).toEqual(['6', '6'])
})

test('all zones collapse at once; a cell between two of them is a zone pair that opens', async () => {
  const grid = await open({ metric: 'one_way_delay', cell: '0,2' })
  await userEvent.click(screen.getByRole('button', { name: 'Collapse zones' }))
  expect(names(grid)).toEqual(['3', '3'])
  expect(await screen.findByRole('region', { name: 'Selected zone pair' })).toBeTruthy()
  grid.focus()
  await userEvent.keyboard('{Enter}')
  const pair = within(await screen.findByRole('region', { name: 'Zone pair' }))
  expect(pair.getByRole('heading', { name: 'zone a to zone b' })).toBeTruthy()
})

test('rows and columns are sorted by name, and the worst come first', async () => {
  const grid = await open({ metric: 'one_way_delay', cell: '0,5' })
  const cell = within(grid).getByRole('gridcell')
  const order = screen.getByRole('combobox', { name: 'Order' })
  await userEvent.selectOptions(order, 'Worst first')
  // Delays rise from cell to cell, so c-1 is worst; the cursor stays on its path.
  expect(cell.textContent).toBe('a-1 to c-1, p50 15.0 ns')
  grid.focus()
  await userEvent.keyboard('{Control>}{Home}{/Control}')
  expect(cell.textContent).toBe('c-1 to c-1, p50 45.0 ns')
  await userEvent.selectOptions(order, 'By similarity')
  await userEvent.selectOptions(order, 'By name')
  await userEvent.keyboard('{Control>}{Home}{/Control}')
  expect(screen.queryByRole('button', { name: 'Sort again by the present values' })).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Collapse zones' }))
  expect(names(grid)).toEqual(['3', '3'])
})

const selectedVm = async () => within(await screen.findByRole('region', { name: 'Selected VM' }))

test('a VM that is found shows its row and column in short, and leads to its page', async () => {
  await open({ metric: 'one_way_delay' })
  const field = screen.getByRole('combobox', { name: 'Find a VM' })
  await userEvent.type(field, 'b-')
  expect(within(await screen.findByRole('listbox')).getAllByRole('option')).toHaveLength(3)
  await userEvent.type(field, '2{Enter}')
  const card = await selectedVm()
  expect(card.getByRole('heading', { name: 'b-2' })).toBeTruthy()
  // Row 3 has the codes 29 to 34, column 3 the codes 14 to 44 in steps of 6.
  const table = card.getByRole('table', { name: 'Row and column' })
  expect(cellsOf(table)).toBe('30.0 ns | 25.0 ns | 6 | 6 | 0 | 0')
  const worst = within(card.getByRole('table', { name: 'Worst from it to' })).getAllByRole('link')
  expect(worst[0]?.textContent).toBe('c-1')
  expect(worst[0]?.getAttribute('href')).toContain('/meshes/m/paths/b-2/c-1')
  expect(card.getByRole('link', { name: 'Open VM' }).getAttribute('href')).toBe('/vms/b-2')
  await userEvent.click(card.getByRole('button', { name: 'Clear selection' }))
  expect(screen.queryByRole('region', { name: 'Selected VM' })).toBeNull()
})

test('the keyboard selects the row or the column of a cell, and lets it go', async () => {
  const grid = await open({ metric: 'one_way_delay', cell: '1,4' })
  grid.focus()
  await userEvent.keyboard('{Shift>} {/Shift}')
  expect((await selectedVm()).getByRole('heading', { name: 'a-2' })).toBeTruthy()
  await userEvent.keyboard('{Control>} {/Control}')
  expect((await selectedVm()).getByRole('heading', { name: 'b-3' })).toBeTruthy()
  await userEvent.keyboard('{Control>} {/Control}')
  expect(screen.queryByRole('region', { name: 'Selected VM' })).toBeNull()
})

test('only matches are shown on request, with their number and a way back', async () => {
  const grid = await open({ metric: 'one_way_delay' }, { 'GET /v1/vms': [{ id: 'c-1', labels: { team: 'payments' } }] })
  const field = screen.getByRole('combobox', { name: 'Find a VM' })
  expect(screen.queryByRole('checkbox', { name: 'Only matches' })).toBeNull()
  await userEvent.type(field, 'zone b')
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Only matches' }))
  expect(names(grid)).toEqual(['3', '3'])
  expect(screen.getByText('3 of 6 VMs: those that match “zone b”.')).toBeTruthy()
  // From b-1 (row 2 of the mesh) to b-2 (column 3): cell 2 · 6 + 3 has 15 + 10 ns.
  grid.focus()
  await userEvent.keyboard('{Control>}{Home}{/Control}{ArrowRight}')
  expect(within(grid).getByRole('gridcell').textContent).toBe('b-1 to b-2, p50 25.0 ns')
  await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
  expect(names(grid)).toEqual(['6', '6'])
})

test('a text that matches nothing leaves all VMs, and says so', async () => {
  const grid = await open({ metric: 'one_way_delay', find: 'x', only: true }, { 'GET /v1/vms': [] })
  expect(screen.getByText('Nothing matches “x”: all 6 VMs are shown.')).toBeTruthy()
  expect(names(grid)).toEqual(['6', '6'])
})

/** Turn the wheel with Ctrl over a point of the picture: up magnifies. */
function wheel(at: { clientX: number; clientY: number }, deltaY: number) {
  fireEvent(picture(), new WheelEvent('wheel', { ...at, deltaY, ctrlKey: true, bubbles: true, cancelable: true }))
}

test('zones that are magnified open into their VMs, and close when zoomed out again', async () => {
  const grid = await open({ by: 'zone', metric: 'one_way_delay' })
  expect(names(grid)).toEqual(['3', '3'])
  wheel(middle(1, 1), -400)
  expect(await screen.findByRole('grid', { name: 'One-way delay, p50 by path' })).toBeTruthy()
  expect(names(screen.getByRole('grid'))).toEqual(['6', '6'])
  // The gesture over the new grid counts once the picture has adopted its view.
  await waitFor(
    () => {
      wheel(middle(1, 1), 2_000)
      expect(screen.getByRole('grid', { name: 'One-way delay, p50 by zone pair' })).toBeTruthy()
    },
    { interval: 500 },
  )
  expect(names(screen.getByRole('grid'))).toEqual(['3', '3'])
})

test.each([
  ['moves', false],
  ['stands still with reduced motion', true],
])('the picture %s from a zone pair to its VMs', async (_, isStill) => {
  const frames: Keyframe[][] = []
  const animate = vi.fn((keyframes: Keyframe[]) => {
    frames.push(keyframes)
    return {} as Animation
  })
  vi.stubGlobal('matchMedia', (media: string) => ({
    ...{ media, matches: isStill && media.includes('reduced-motion'), addEventListener() {}, removeEventListener() {} },
  }))
  HTMLCanvasElement.prototype.animate = animate as never
  try {
    await open({ by: 'zone', metric: 'one_way_delay' })
    fireEvent.click(picture(), middle(1, 2))
    await screen.findByRole('grid', { name: 'One-way delay, p50 by path' })
    // From zone b (row 1) to zone c (column 2): the old picture moves until its cell fills the new one.
    const moved = frames.flat().filter(({ transform }) => transform?.toString().startsWith('matrix('))
    expect(moved.length > 0).toBe(!isStill)
  } finally {
    Reflect.deleteProperty(HTMLCanvasElement.prototype, 'animate')
    vi.unstubAllGlobals()
  }
})

test('a mesh that another person deleted keeps its last values, and the page says why they stay', async () => {
  let isDeleted = false
  mockApi({
    'GET /v1/meshes/m/matrix': () =>
      isDeleted ? reply(404, { code: 'mesh_unknown', detail: 'Unknown mesh.' }) : delays(6),
    'GET /v1/meshes/m/roster': ROSTER,
    'GET /v1/meshes/m/deviations': QUIET,
    'GET /v1/zones': [],
  })
  const router = await showPage(<Page search={{ by: 'vm', metric: 'one_way_delay' }} onSearch={() => {}} />)
  await screen.findByRole('grid')
  expect(screen.queryByText(/could not be updated/)).toBeNull()
  isDeleted = true
  await (router.options.context as { queryClient: QueryClient }).queryClient.invalidateQueries()
  expect(await screen.findByText('The heatmap could not be updated. What you see is older.')).toBeTruthy()
  expect(screen.getByText('Unknown mesh.')).toBeTruthy()
  expect(screen.getByRole('grid')).toBeTruthy()
})

const named = (id: string) => ({ id, name: id })
const share = (mean: number) => ({ mean, low: mean, high: mean, windows: 12 })
const GAIN = { before: share(0.2), after: share(0.9), gain: share(0.7), probability: 0.99, doubts: [] }
const PROPOSAL = {
  ...{ id: 'r', mesh: { id: 'm', name: 'production' }, state: 'proposed', moves: 1, version: 1 },
  created_at: '2026-11-20T10:42:00Z',
  result: { applications: [{ application: named('shop'), objective: null, expected: GAIN }] },
  steps: [
    {
      ...{ position: 0, group: 0, application: named('shop'), task: named('web'), via: null, gain: GAIN },
      source: { ...named('a-1'), zone: 'a' },
      target: { ...named('b-2'), zone: 'b' },
      ...{ round_trip_before_ns: 684_000, round_trip_after_ns: 0 },
    },
  ],
}
const SHOP = {
  ...{ ...named('shop'), shape: 'star', mesh: { id: 'm', name: 'production' }, edges: [] },
  tasks: [
    { ...named('db'), root: true, vm: named('c-1') },
    { ...named('web'), root: false, vm: named('a-1') },
  ],
}
const withMoves = (proposal: object | ((sent: Sent) => Response)) => ({
  'GET /v1/recommendations': [PROPOSAL],
  'GET /v1/recommendations/r': proposal,
  'GET /v1/applications': [SHOP],
})
const arrow = (state = '') => document.querySelector(`[data-overlay] g:has(path[stroke])${state}`)

test('moves are arrows and a list: pointing at one shows the other, and a key shows the mesh before them', async () => {
  // The root of the shop is on c-1 (column 5), the task moves from a-1 (row 0) to b-2 (row 3).
  const grid = await open({ moves: 'r', cell: '3,5' }, withMoves(PROPOSAL))
  const list = within(await screen.findByRole('region', { name: 'Moves' }))
  expect(await list.findByRole('heading', { name: '1 move for shop' })).toBeTruthy()
  const row = list.getByRole('button', { name: /^1 · shop \/ web/ })
  const cell = within(grid).getByRole('gridcell')
  await waitFor(() => expect(cell.textContent).toContain('used by a moved task after 1 of 1 moves'))

  await userEvent.hover(row)
  expect(arrow('[data-pointed]')).toBeTruthy()
  await userEvent.unhover(row)
  fireEvent.pointerEnter(arrow() as Element)
  expect(row.getAttribute('data-pointed')).toBe('true')
  fireEvent.pointerLeave(arrow() as Element)

  expect(arrow('[data-made]')).toBeTruthy()
  const key = document.querySelector<HTMLElement>('[aria-keyshortcuts="a"]') as HTMLElement
  await userEvent.click(key)
  expect(arrow('[data-made]')).toBeNull()
  expect(cell.textContent).not.toContain('used by a moved task')
  expect(document.querySelector('[aria-keyshortcuts="a"]')).not.toBe(key)
})

test('a row and a column that a move leaves or reaches say so', async () => {
  const grid = await open({ moves: 'r', cell: '3,3', by: 'zone' }, withMoves(PROPOSAL))
  await screen.findByRole('heading', { name: '1 move for shop' })
  expect(names(grid)).toEqual(['3', '3'])
  fireEvent.focus(grid)
  fireEvent.keyDown(grid, { key: 'Home', ctrlKey: true })
  expect(within(grid).getByRole('gridcell').textContent).toContain('shop / web moves from here to b-2')
})

test('no moves are drawn until they are chosen among the proposals of the mesh', async () => {
  await open({}, withMoves(PROPOSAL))
  expect(arrow()).toBeNull()
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Moves' }), 'r')
  await waitFor(() => expect(arrow()).toBeTruthy())
  await userEvent.click(screen.getByRole('button', { name: 'Hide moves' }))
  expect(arrow()).toBeNull()
})

test.each([
  ['deleted', () => reply(404, { code: 'recommendation_unknown', detail: 'Unknown recommendation.' }), 'No such moves'],
  ['of another mesh', { ...PROPOSAL, mesh: { id: 'n', name: 'staging' } }, /^These moves are of the mesh staging\./],
  ['none', { ...PROPOSAL, moves: 0, steps: [] }, 'No moves: none gains more than it costs.'],
  ['dismissed', { ...PROPOSAL, state: 'dismissed' }, /^Dismissed\. Found 20 Nov 2026/],
  [
    'to a VM that was deleted',
    { ...PROPOSAL, steps: PROPOSAL.steps.map((step) => ({ ...step, target: { ...named('old'), zone: 'b' } })) },
    /^old has left the mesh/,
  ],
])('moves that are %s are explained', async (_, proposal, words) => {
  await open({ moves: 'r' }, withMoves(proposal))
  const list = within(await screen.findByRole('region', { name: 'Moves' }))
  expect(await list.findByText(words)).toBeTruthy()
})
