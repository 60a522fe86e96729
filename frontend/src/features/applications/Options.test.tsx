import { expect, test } from 'vitest'
import { fireEvent, recorded, reply, screen, visit, visitSearch } from '~/testing/page'
import { NextVms } from './NextVms'
import { Options } from './Options'
import { type NextSearch, nextSearch } from './search'

const estimate = (mean: number) => ({ mean, low: mean - 0.01, high: mean + 0.01, windows: 8 })
const RECORDED = recorded('/v1/applications/{application_id}/options')
const [OPTION] = RECORDED.options
const FOUND = {
  ...RECORDED,
  options: [{ ...OPTION, words: 'Swap the VMs of web and db.', gain: { ...OPTION?.gain, gain: estimate(0.2) } }],
  untried: ['Of 600 VMs, only the 50 whose tasks lose most performance were tried elsewhere.'],
}

test('a large application shows the progress of its job, then the options and what was left out', async () => {
  let looks = 0
  await visit(<Options applicationId="a" />, {
    'GET /v1/applications/a/options': () => reply(202, { id: 'j', state: 'queued', progress: null }),
    'GET /v1/jobs/j': () =>
      reply(200, looks++ === 0 ? { id: 'j', state: 'running', progress: 0.4 } : { id: 'j', state: 'succeeded' }),
    'GET /v1/jobs/j/output': FOUND,
  })
  await expect.poll(() => screen.queryByRole('status')?.textContent).toContain('40 % done')
  expect(screen.getByRole('button', { name: 'Cancel' })).toBeTruthy()
  expect(await screen.findByText('Swap the VMs of web and db.')).toBeTruthy()
  expect(screen.getByText(/only the 50 whose tasks lose most/)).toBeTruthy()
})

test('a cancelled job is said to be cancelled', async () => {
  await visit(<Options applicationId="a" />, {
    'GET /v1/applications/a/options': () => reply(202, { id: 'j', state: 'cancelled', problem: null }),
  })
  expect(await screen.findByText(/The job was cancelled/)).toBeTruthy()
})

test('options that gain nothing are shown only when asked for', async () => {
  const [swap] = FOUND.options
  const idle = { ...swap, words: 'Rent 1 more in b.', gain: { ...swap?.gain, after: estimate(0.5), gain: estimate(0) } }
  await visit(<Options applicationId="a" />, { 'GET /v1/applications/a/options': { ...FOUND, options: [swap, idle] } })
  expect(await screen.findByText('Swap the VMs of web and db.')).toBeTruthy()
  expect(screen.queryByText('Rent 1 more in b.')).toBeNull()
  fireEvent.click(screen.getByRole('button', { name: 'Show all 2' }))
  expect(screen.getByText('Rent 1 more in b.')).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Show the best one' })).toBeTruthy()
})

test('places for the next VMs are asked for on demand, with the price that the page states', async () => {
  const next = recorded('/v1/applications/{application_id}/next-vms')
  const place = (zone: string, mean: number, rent: number) => ({
    ...{
      ...next.places[0],
      zone,
      rent,
      performance: estimate(mean),
      price_per_hour: 0.5,
      trial_price: 0.5 * (rent - 1),
    },
    words: `Rent ${rent} in ${zone}.`,
  })
  const { sent } = await visitSearch<NextSearch>((props) => <NextVms applicationId="a" {...props} />, nextSearch, {
    'GET /v1/applications/a/next-vms': {
      ...next,
      places: [place('b', 0.9, 3), { ...place('c', 0.8, 1), performance: { mean: 0.8, low: 0, high: 1, windows: 8 } }],
      idle: [{ vm: { id: 'v', name: 'spare-1' }, zone: 'b', price_per_hour: null, performance: null }],
      untried: ['No place in d: no path to it is known.'],
    },
  })
  const asked = () => sent.filter(({ to }) => to.endsWith('/next-vms')).map(({ query }) => query.toString())
  expect(asked()).toEqual([])
  fireEvent.click(screen.getByRole('button', { name: 'Find a place for the next VM' }))
  expect((await screen.findByText('Rent 3 in b.')).closest('tr')?.textContent).toContain('1.0000')
  expect(screen.getByText('Rent 1 in c.').closest('tr')?.textContent).toContain('unknown')
  expect(screen.getByText('spare-1').closest('tr')?.textContent).toContain('–')
  expect(screen.getByText(/No place in d/)).toBeTruthy()
  fireEvent.change(screen.getByLabelText('Price per VM and hour'), { target: { value: '0.25' } })
  fireEvent.blur(screen.getByLabelText('Price per VM and hour'))
  await expect.poll(() => asked().at(-1)).toBe('vms=1&price_per_hour=0.25')
})
