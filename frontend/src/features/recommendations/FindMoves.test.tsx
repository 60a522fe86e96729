import { expect, test } from 'vitest'
import { bodiesOf, reply, screen, userEvent, visit } from '~/testing/page'
import { FindMoves } from './FindMoves'

const ANSWERS = {
  'GET /v1/meshes': [{ id: 'm', name: 'production' }],
  'POST /v1/recommendations': () => reply(202, { id: 'j', state: 'queued' }),
}

const open = (more = {}) => visit(<FindMoves />, { ...ANSWERS, ...more })

const find = async () => {
  await screen.findByRole('option', { name: 'production' })
  await userEvent.click(screen.getByRole('button', { name: 'Find moves' }))
}

test.each([
  [{ detail: 'No application runs on this mesh.' }, 'No application runs on this mesh.'],
  [
    { detail: '2 tasks find no place (cache).', relax: ['add 2 slots', 'unpin tasks of cache'] },
    '2 tasks find no place (cache). It would do to: add 2 slots; unpin tasks of cache.',
  ],
])(
  'a search that fails gives the reason and what would help, and the form keeps its choices',
  async (problem, words) => {
    const { sent } = await open({ 'GET /v1/jobs/j': { id: 'j', state: 'failed', problem } })
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Judge paths by' }), 'p99')
    await find()
    expect(await screen.findByText(words)).toBeTruthy()
    expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Judge paths by' }).value).toBe('p99')
    expect(bodiesOf(sent, 'POST /v1/recommendations')).toMatchObject([{ policy: 'best', risk: 'p99' }])
  },
)

test('a search is cancelled: the button waits for the worker, then the end is shown', async () => {
  let job = { id: 'j', state: 'running', progress: 0.1, cancel_requested: false }
  await open({
    'GET /v1/jobs/j': () => reply(200, job),
    'POST /v1/jobs/j/cancel': () => {
      job = { ...job, cancel_requested: true }
      return reply(200, job)
    },
  })
  await find()
  await userEvent.click(await screen.findByRole('button', { name: 'Cancel' }))
  const stopping = await screen.findByRole<HTMLButtonElement>('button', { name: 'Cancelling…' })
  expect(stopping.disabled).toBe(true)
  job = { ...job, state: 'cancelled' }
  expect(await screen.findByText('The search was cancelled. Nothing was stored.')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Cancelling…' })).toBeNull()
})

test('without a mesh, the panel says what is missing and where to begin, instead of a form', async () => {
  await open({ 'GET /v1/meshes': [] })
  expect(await screen.findByText(/^No mesh yet\./)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Add a VM' }).getAttribute('href')).toBe('/onboarding')
  expect(screen.queryByRole('button', { name: 'Find moves' })).toBeNull()
})

test('artifacts of applications and the cost of bringing them are part of the request', async () => {
  const { sent } = await open({
    'GET /v1/jobs/j': { id: 'j', state: 'failed', problem: { detail: 'No application runs on this mesh.' } },
  })
  await userEvent.click(screen.getByText('Advanced'))
  const field = screen.getByLabelText('Artifacts of applications')
  await userEvent.type(field, 'shop')
  expect(screen.getByText('“shop”: write application = artifact, each application once.')).toBeTruthy()
  await find()
  expect(bodiesOf(sent, 'POST /v1/recommendations')).toEqual([])
  await userEvent.type(field, ' = shop-image')
  await userEvent.type(screen.getByLabelText('Cost of bringing, % per minute'), '0.5')
  await find()
  expect(bodiesOf(sent, 'POST /v1/recommendations')).toMatchObject([
    { artifacts: { shop: 'shop-image' }, bringing_cost: 0.005 },
  ])
})
