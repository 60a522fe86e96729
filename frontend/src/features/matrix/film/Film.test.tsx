import { useCallback, useState } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { shownOf } from '~/api/measurements'
import { type TimeSearch, timeIn } from '~/lib/spans'
import { matrixOf } from '~/testing/matrix'
import { act, fail, fireEvent, hang, mockApi, recordedItem, type Sent, screen, showPage } from '~/testing/page'
import { type MatrixSearch, matrixSearch } from '../search'
import { Film } from './Film'
import { useFilm } from './useFilm'

const FAKED = ['Date', 'setTimeout', 'clearTimeout'] as const
const NOW = new Date('2026-11-20T12:10:40Z')

beforeEach(() => vi.useFakeTimers({ now: NOW, toFake: ['Date'] }))

const INCIDENT = recordedItem('/v1/incidents', {
  ...{ title: 'Loss at web-20', onset_at: '2026-11-20T11:20:10Z', ended_at: '2026-11-20T11:21:30Z' },
})
const DEPLOY = recordedItem('/v1/annotations', {
  ...{ kind: 'deploy', text: 'web 4.2', starts_at: '2026-11-20T11:20:20Z', ends_at: null, scope: null, url: null },
})

const matrix = () => matrixOf(1, () => 0)

function Player({ start }: { start: MatrixSearch & TimeSearch }) {
  const [search, setSearch] = useState(start)
  const onSearch = useCallback(
    (patch: MatrixSearch) =>
      setSearch((old) => ({ ...matrixSearch({ ...old, ...patch }), ...(patch.at ? {} : timeIn(old)) })),
    [],
  )
  const film = useFilm(search, onSearch)
  return (
    <>
      <output>{new URLSearchParams(search as Record<string, string>).toString()}</output>
      <button type="button" onClick={() => setSearch((old) => ({ ...old, span: '1h' }))}>
        Last hour
      </button>
      <Film meshId="m" shown={shownOf(film.search)} film={film} />
    </>
  )
}

/** Let fake time pass, and what was asked for arrive. */
async function pass(ms: number) {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(ms)
    for (let round = 0; round < 10; round++) {
      await new Promise(setImmediate)
      await vi.advanceTimersByTimeAsync(0)
    }
  })
}

async function open(start: MatrixSearch & TimeSearch, answer: (sent: Sent) => Response | Promise<Response> = matrix) {
  const sent = mockApi({
    'GET /v1/meshes/m/matrix': answer,
    'GET /v1/meshes/m/roster': { revision: 1, vms: [], zones: [] },
    'GET /v1/incidents': [INCIDENT],
    'GET /v1/annotations': [DEPLOY],
  })
  await showPage(<Player start={start} />, '/?tz=utc')
  vi.useFakeTimers({ now: NOW, toFake: [...FAKED] })
  await pass(0)
  return () => [
    ...new Set(
      sent
        .filter(({ to }) => to === 'GET /v1/meshes/m/matrix')
        .map(({ query }) => `${query.get('from')?.slice(11, 16)}–${query.get('to')?.slice(11, 16)}`),
    ),
  ]
}

const slider = () => screen.getByRole<HTMLInputElement>('slider', { name: 'Shown time' })
const words = () => slider().getAttribute('aria-valuetext')
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))
const play = async () => {
  press('Play')
  await pass(0)
}
const address = () => new URLSearchParams(screen.getByRole('status').textContent ?? '')

test('it is live until someone plays it, and loads nothing', async () => {
  const steps = await open({})
  expect([words(), slider().value]).toEqual(['Live: newest windows', '59'])
  await pass(10_000)
  expect([words(), steps()]).toEqual(['Live: newest windows', []])
})

test('it plays the last hour step by step, and loads three steps ahead', async () => {
  const steps = await open({})
  await play()
  expect(words()).toBe('20 Nov 2026, 11:10 – 11:11 UTC')
  expect(steps()).toEqual(['11:11–11:12', '11:12–11:13', '11:13–11:14'])
  await pass(499)
  expect(words()).toBe('20 Nov 2026, 11:10 – 11:11 UTC')
  await pass(1)
  expect(words()).toBe('20 Nov 2026, 11:11 – 11:12 UTC')
  await pass(500)
  expect(words()).toBe('20 Nov 2026, 11:12 – 11:13 UTC')
})

test('the speed is that which was chosen', async () => {
  await open({})
  fireEvent.change(screen.getByRole('combobox', { name: 'Speed' }), { target: { value: '4' } })
  await play()
  await pass(250)
  expect(words()).toBe('20 Nov 2026, 11:11 – 11:12 UTC')
})

test('while it plays the address keeps where it began; a pause stores the shown step', async () => {
  await open({})
  await play()
  await pass(500)
  await pass(500)
  expect(address().get('at')).toBe('2026-11-20T11:11:00.000Z')
  press('Pause')
  await pass(300)
  expect(address().get('at')).toBe('2026-11-20T11:13:00.000Z')
  await pass(5_000)
  expect(words()).toBe('20 Nov 2026, 11:12 – 11:13 UTC')
})

test('it waits for a step that has not arrived', async () => {
  await open({}, hang)
  await play()
  await pass(20_000)
  expect(words()).toBe('20 Nov 2026, 11:10 – 11:11 UTC')
  expect(screen.getByRole('button', { name: 'Pause' })).toBeTruthy()
})

test('it stops at a step that cannot be loaded, and says so', async () => {
  await open({}, () => fail(500, 'Out of disk.'))
  await play()
  await pass(500)
  expect(screen.getByText(/^The next step could not be loaded/)).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Play' })).toBeTruthy()
})

test('a scrubbed step stops the film, and is the one in the address', async () => {
  await open({})
  await play()
  fireEvent.change(slider(), { target: { value: '30' } })
  await pass(5_000)
  expect([words(), address().get('at')]).toEqual(['20 Nov 2026, 11:40 – 11:41 UTC', '2026-11-20T11:41:00.000Z'])
})

test('a step that has not ended shows the newest one', async () => {
  await open({ film: '24h', at: '2026-11-20T12:09:00.000Z' })
  expect([words(), slider().value]).toEqual(['20 Nov 2026, 11:45 – 12:00 UTC', '95'])
})

test('a link opens its step without playing it; Esc returns to the newest windows', async () => {
  await open({ at: '2026-11-20T11:41:30.000Z' })
  await pass(5_000)
  expect(words()).toBe('20 Nov 2026, 11:41 – 11:42 UTC')
  fireEvent.keyDown(slider(), { key: 'Escape' })
  await pass(0)
  expect([words(), address().get('at')]).toEqual(['Live: newest windows', null])
})

test('steps are stepped and scrubbed', async () => {
  await open({ at: '2026-11-20T11:42:00.000Z' })
  press('Previous step')
  await pass(300)
  expect([words(), address().get('at')]).toEqual(['20 Nov 2026, 11:40 – 11:41 UTC', '2026-11-20T11:41:00.000Z'])
  fireEvent.change(slider(), { target: { value: '59' } })
  await pass(300)
  expect(words()).toBe('20 Nov 2026, 12:09 – 12:10 UTC')
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Next step' }).disabled).toBe(true)
})

test('a step names its incidents and annotations', async () => {
  await open({ at: '2026-11-20T11:21:00.000Z' })
  await vi.waitFor(() =>
    expect(words()).toBe('20 Nov 2026, 11:20 – 11:21 UTC: Incident: Loss at web-20; Deploy: web 4.2'),
  )
  press('Next step')
  await pass(0)
  expect(words()).toBe('20 Nov 2026, 11:21 – 11:22 UTC: Incident: Loss at web-20')
  press('Next step')
  await pass(0)
  expect(words()).toBe('20 Nov 2026, 11:22 – 11:23 UTC')
})

test('a range that is chosen takes the place of the step', async () => {
  await open({ at: '2026-11-20T11:42:00.000Z' })
  press('Last hour')
  await pass(0)
  expect([words(), address().get('at')]).toEqual(['A time range is shown', null])
})
