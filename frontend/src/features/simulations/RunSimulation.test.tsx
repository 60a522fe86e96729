// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { bodiesOf, fail, mockApi, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { RunSimulation } from './RunSimulation'

const CURVES = {
  'GET /v1/curves': () =>
    reply(200, {
      items: [
        { id: 'memcached-server', name: 'Memcached server' },
        { id: '6b', name: 'Shop' },
      ],
      next_cursor: null,
    }),
}

const start = () => userEvent.click(screen.getByRole('button', { name: 'Simulate' }))

test('a simulation is started with its parameters, followed, and its report opens', async () => {
  let looks = 0
  const sent = mockApi({
    ...CURVES,
    'POST /v1/simulations/runs': () => reply(202, { id: 'j', state: 'queued' }),
    'GET /v1/jobs/j': () =>
      reply(
        200,
        looks++ === 0
          ? { id: 'j', state: 'running', progress: 0.4, note: 'gang_budget: step 24 of 60' }
          : { id: 'j', state: 'succeeded', result: { simulation_id: 's' } },
      ),
  })
  const router = await showPage(<RunSimulation />)
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Topology' }), '192/48')
  await userEvent.click(screen.getByText('Advanced'))
  await userEvent.clear(screen.getByLabelText(/^Measurement noise/))
  await userEvent.type(screen.getByLabelText(/^Measurement noise/), '15')
  await userEvent.click(screen.getByLabelText('Running tasks may move'))
  await start()
  expect(await screen.findByText('Servers with their tasks, worthwhile moves: step 24 of 60')).toBeTruthy()
  expect(screen.getByRole('status').textContent).toContain('40 % done')
  await expect.poll(() => router.state.location.pathname).toBe('/simulations/s')
  expect(bodiesOf(sent, 'POST /v1/simulations/runs')).toMatchObject([
    {
      name: 'Trial',
      machines: 192,
      hours: 1,
      rack_size: 192,
      pod_racks: 48,
      noise: 0.15,
      history_s: 0,
      preemption: true,
      start_at_random: false,
      nomora: { p_m: 105, p_r: 110, gamma: 1001, beta: 0, omega: 0 },
      mix: { 'memcached-server': 50, 'strads-lasso': 25, 'tensorflow-mnist': 25 },
      roots: 1,
      policies: ['random', 'nomora_105_110', 'nomora_preempt_beta0', 'gang_budget'],
    },
  ])
})

test('a mix of own curves and several roots are sent', async () => {
  const sent = mockApi({ ...CURVES, 'POST /v1/simulations/runs': () => fail(429, 'Too many jobs.') })
  await showPage(<RunSimulation />)
  await userEvent.click(screen.getByText('Advanced'))
  await userEvent.click(screen.getByRole('button', { name: 'Remove curve 3' }))
  await userEvent.click(screen.getByRole('button', { name: 'Remove curve 2' }))
  expect(screen.queryByRole('button', { name: 'Remove curve 1' })).toBeNull()
  await screen.findByRole('option', { name: 'Memcached server' })
  await userEvent.click(screen.getByRole('button', { name: 'Add a curve' }))
  expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Curve 2' }).selectedOptions[0]?.text).toBe('Shop')
  await userEvent.clear(screen.getByLabelText(/^Share 2/))
  await userEvent.type(screen.getByLabelText(/^Share 2/), '30')
  await userEvent.clear(screen.getByLabelText(/^Roots per job/))
  await userEvent.type(screen.getByLabelText(/^Roots per job/), '3')
  await start()
  expect(bodiesOf(sent, 'POST /v1/simulations/runs')).toMatchObject([
    { mix: { 'memcached-server': 50, '6b': 30 }, roots: 3 },
  ])
})

test('a run can be cancelled', async () => {
  let cancelled = false
  mockApi({
    ...CURVES,
    'POST /v1/simulations/runs': () => reply(202, { id: 'j', state: 'queued' }),
    'GET /v1/jobs/j': () =>
      reply(200, { id: 'j', state: cancelled ? 'cancelled' : 'running', progress: 0.1, note: null }),
    'POST /v1/jobs/j/cancel': () => {
      cancelled = true
      return reply(200, { id: 'j', state: 'running', cancel_requested: true })
    },
  })
  await showPage(<RunSimulation />)
  await start()
  await userEvent.click(await screen.findByRole('button', { name: 'Cancel' }))
  expect(await screen.findByText('The simulation was cancelled. Nothing was stored.')).toBeTruthy()
})

test('a refused run gives the reason, and the form keeps its values', async () => {
  mockApi({ ...CURVES, 'POST /v1/simulations/runs': () => fail(429, 'Too many jobs.') })
  await showPage(<RunSimulation />)
  await userEvent.clear(screen.getByRole('textbox', { name: /^Name/ }))
  await userEvent.type(screen.getByRole('textbox', { name: /^Name/ }), 'Mine')
  await start()
  expect((await screen.findByRole('alert')).textContent).toContain('Too many jobs.')
  expect(screen.getByRole<HTMLInputElement>('textbox', { name: /^Name/ }).value).toBe('Mine')
})
