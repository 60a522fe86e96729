import { expect, test } from 'vitest'
import { bodiesOf, fail, fill, mockApi, screen, showPage, userEvent } from '~/testing/page'
import { RunSimulation } from './RunSimulation'

const CURVES = {
  'GET /v1/curves': [
    { id: 'memcached-server', name: 'Memcached server' },
    { id: '6b', name: 'Shop' },
  ],
}

const start = () => userEvent.click(screen.getByRole('button', { name: 'Simulate' }))

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
  await fill(screen.getByLabelText(/^Share 2/), '30')
  await fill(screen.getByLabelText(/^Roots per job/), '3')
  await start()
  expect(bodiesOf(sent, 'POST /v1/simulations/runs')).toMatchObject([
    { mix: { 'memcached-server': 50, '6b': 30 }, roots: 3 },
  ])
})
