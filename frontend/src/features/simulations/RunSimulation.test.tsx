// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { bodiesOf, fail, mockApi, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { RunSimulation } from './RunSimulation'

const start = () => userEvent.click(screen.getByRole('button', { name: 'Simulate' }))

test('a simulation is started with its parameters, followed, and its report opens', async () => {
  let looks = 0
  const sent = mockApi({
    'POST /v1/simulations/runs': () => reply(202, { id: 'j', state: 'queued' }),
    'GET /v1/jobs/j': () =>
      reply(
        200,
        looks++ === 0
          ? { id: 'j', state: 'running', progress: 0.4, note: 'random: step 24 of 60' }
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
  expect(await screen.findByText('random: step 24 of 60')).toBeTruthy()
  expect(screen.getByRole('status').textContent).toContain('40 % done')
  await expect.poll(() => router.state.location.pathname, { timeout: 3_000 }).toBe('/simulations/s')
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
      nomora: { p_m: 105, p_r: 110, beta: 0, omega: 0 },
      policies: ['random', 'nomora_105_110', 'nomora_preempt_beta0', 'gang_budget'],
    },
  ])
})

test('a run can be cancelled', async () => {
  let cancelled = false
  mockApi({
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
  mockApi({ 'POST /v1/simulations/runs': () => fail(429, 'Too many jobs.') })
  await showPage(<RunSimulation />)
  await userEvent.clear(screen.getByRole('textbox', { name: /^Name/ }))
  await userEvent.type(screen.getByRole('textbox', { name: /^Name/ }), 'Mine')
  await start()
  expect((await screen.findByRole('alert')).textContent).toContain('Too many jobs.')
  expect(screen.getByRole<HTMLInputElement>('textbox', { name: /^Name/ }).value).toBe('Mine')
})
