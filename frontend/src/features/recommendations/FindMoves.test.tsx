// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { bodiesOf, fail, mockApi, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { FindMoves } from './FindMoves'

const MESHES = [{ id: 'm', name: 'production' }]
const find = async () => {
  await screen.findByRole('option', { name: 'production' })
  await userEvent.click(screen.getByRole('button', { name: 'Find moves' }))
}

test('moves are requested with the chosen policy, and their page opens once they are found', async () => {
  let looks = 0
  const sent = mockApi({
    'GET /v1/meshes': MESHES,
    'POST /v1/recommendations': () => reply(202, { id: 'j', state: 'queued' }),
    'GET /v1/jobs/j': () =>
      reply(
        200,
        looks++ === 0
          ? { id: 'j', state: 'running', note: null }
          : { id: 'j', state: 'succeeded', result: { recommendation_id: 'r' } },
      ),
  })
  const router = await showPage(<FindMoves />)
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Policy' }), 'NoMora, as published')
  await userEvent.click(screen.getByLabelText('Include the flow network'))
  await find()
  expect(await screen.findByText('Searching…')).toBeTruthy()
  await expect.poll(() => router.state.location.pathname, { timeout: 3_000 }).toBe('/recommendations/r')
  expect(bodiesOf(sent, 'POST /v1/recommendations')).toMatchObject([
    { mesh: 'm', policy: 'nomora', explain: true, moves_max: 10, minutes: 30, objective: null },
  ])
})

test('a search that fails gives the reason, and the form keeps its choices', async () => {
  mockApi({
    'GET /v1/meshes': MESHES,
    'POST /v1/recommendations': () => reply(202, { id: 'j', state: 'queued' }),
    'GET /v1/jobs/j': { id: 'j', state: 'failed', error: { detail: 'No application runs on this mesh.' } },
  })
  await showPage(<FindMoves />)
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Policy' }), 'Capacity and anti-affinity')
  await find()
  expect(await screen.findByText('No application runs on this mesh.')).toBeTruthy()
  expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Policy' }).value).toBe('pack')
})

test('a refused request gives the reason', async () => {
  mockApi({ 'GET /v1/meshes': MESHES, 'POST /v1/recommendations': () => fail(429, 'Too many requests.') })
  await showPage(<FindMoves />)
  await find()
  expect((await screen.findByRole('alert')).textContent).toContain('Too many requests.')
})

test('without a mesh, nothing can be requested', async () => {
  mockApi({ 'GET /v1/meshes': [] })
  await showPage(<FindMoves />)
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Find moves' }).disabled).toBe(true)
})
