import { expect, test } from 'vitest'
import { bodiesOf, fail, fill, recorded, reply, screen, upload, userEvent, visitSearch, within } from '~/testing/page'
import { labelOfPlace, placeOfAlpha } from './outcomes'
import { policiesOf, type TailSearch, tailSearch } from './question'
import { TailLabPage } from './TailLabPage'

const figures = (mean: number) => ({ mean, p99: 10 * mean, tail_mean: 20 * mean, small_p99: mean / 100 })
const outcome = (policy: string, mean: number, more: object = {}) => ({
  policy,
  alpha: null,
  classes: null,
  figures: figures(mean),
  gains: [],
  tail_means_s: [1, 2, 3, 4, 5],
  buckets: [
    { bytes_max: 4_000, flows: 90, p99_s: 0.001 },
    { bytes_max: 90_000, flows: 0, p99_s: null },
  ],
  slowdown: Array.from({ length: 101 }, (_, at) => 1 + at),
  boundaries: [],
  class_shares: [],
  egress_guard: null,
  ...more,
})
const evaluation = (alpha: number, gain: number, mean_loss: number) => ({
  alpha,
  figures: figures(0.005),
  gain,
  mean_loss,
  allowed: mean_loss <= 3,
})
const GUARD = 'sudo sinemora-guard on --interface eth0 --rate 10gbit --boundaries=-2,1'
const BEST = evaluation(1.5, 23.4, 1.2)
const STUDY = {
  ...recorded('/v1/advisors/tail-studies/{study_id}'),
  outcomes: [
    outcome('las', 0.006),
    outcome('d_tail_blind', 0.005, {
      alpha: 1.5,
      gains: [{ against: 'las', gains: { mean: -2.25, p99: 7, tail_mean: 24.3, small_p99: -900 } }],
    }),
    outcome('d_tail_blind', 0.0052, { alpha: 1.5, classes: 8, egress_guard: GUARD }),
  ],
  searches: [
    {
      policy: 'd_tail_blind',
      against: 'las',
      evaluations: [evaluation(1e15, 0, 0), evaluation(0, 60, 240), BEST],
      best: BEST,
    },
  ],
  beside_source: [
    {
      protocol: 'pFabric',
      policy: 'd_tail_aware',
      against: 'srpt',
      figure: 'p99',
      source_percent: 29.66,
      source_alpha: 2,
      here_percent: -2.5,
      here_alpha: 9,
      verdict: 'cannot',
      why: 'No policy has a lower mean than SRPT.',
    },
  ],
}
const JOB = { id: 'j', title: 'Tail study W5', state: 'succeeded', created_at: '2026-11-25T10:00:00Z', result: {} }
const LIST = { 'GET /v1/jobs': () => reply(200, { items: [JOB], next_cursor: null }) }

const open = (answers: object, start: TailSearch = {}) =>
  visitSearch(TailLabPage, tailSearch, { ...LIST, ...answers }, start)

test('a study is run, followed, and its results have gains, curve, and what the source says', async () => {
  let looks = 0
  const { sent } = await open({
    'POST /v1/advisors/tail-studies': () => reply(202, { id: 'j', state: 'queued' }),
    'GET /v1/jobs/j': () =>
      reply(
        200,
        looks++ === 0 ? { ...JOB, state: 'running', progress: 0.4, note: 'D-TAIL blind: evaluation 3 of 25' } : JOB,
      ),
    'GET /v1/advisors/tail-studies/j': () => reply(200, STUDY),
  })
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Flow sizes' }), 'w4')
  await fill(screen.getByLabelText(/^Load/), '70')
  await userEvent.click(screen.getByRole('button', { name: 'Run study' }))
  expect(await screen.findByText('D-TAIL blind: evaluation 3 of 25')).toBeTruthy()
  const table = within(await screen.findByRole('region', { name: 'Policies' }))
  expect(table.getByText('24.3 % lower')).toBeTruthy()
  expect(table.getByText('2.3 % higher')).toBeTruthy()
  expect(table.getByText('10.0 times')).toBeTruthy()
  expect(table.getByRole('rowheader', { name: 'D-TAIL blind, 8 classes' })).toBeTruthy()
  expect(screen.getByText('D-TAIL blind: α = 1.50')).toBeTruthy()
  expect(screen.getByText(/Tail mean 23.4 % below LAS, mean 1.2 % above/)).toBeTruthy()
  expect(screen.getByText('Gains below −100 % are drawn at −100 %.')).toBeTruthy()
  expect(screen.getByText('cannot on one link')).toBeTruthy()
  expect(screen.getByRole('group', { name: 'Command of the egress guard' }).textContent).toContain(GUARD)
  expect(screen.getByText(/puts these classes \(D-TAIL blind, 8 classes\) in force/)).toBeTruthy()
  expect(screen.getByText('No policy has a lower mean than SRPT.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/advisors/tail-studies')).toMatchObject([
    {
      workload: 'w4',
      load: 0.7,
      sizes_csv: null,
      objective: 'tail_mean',
      against: null,
      mean_loss_max: 3,
      alpha: null,
      policies: ['fcfs', 'ps', 'las', 'srpt', 'd_tail_blind', 'd_tail_aware'],
    },
  ])
})

test('own sizes are pasted or opened, and a bad line is shown', async () => {
  const refusal = "Invalid table of flow sizes: line 2: bytes must be a whole number, not 'x'."
  const { sent } = await open({ 'POST /v1/advisors/tail-studies': () => fail(422, refusal) }, { workload: 'own' })
  const run = await screen.findByRole('button', { name: 'Run study' })
  await userEvent.click(run)
  expect(screen.getByText('Enter or open flow sizes first.')).toBeTruthy()
  await upload('bytes\nx\n', 'sizes.csv', 'text/csv')
  await expect.poll(() => screen.queryByText('Enter or open flow sizes first.')).toBeNull()
  await userEvent.click(run)
  expect(await screen.findByText(/line 2: bytes must be a whole number/)).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/advisors/tail-studies')).toMatchObject([{ workload: 'own', sizes_csv: 'bytes\nx\n' }])
})

test('a cancelled study says so', async () => {
  await open({ 'GET /v1/jobs/j': () => reply(200, { ...JOB, state: 'cancelled' }) }, { study: 'j' })
  expect(await screen.findByText('The study was cancelled.')).toBeTruthy()
})

test('policies of an address are in their usual order', () => {
  expect(policiesOf({ policies: 'srpt,ps' })).toEqual(['ps', 'srpt'])
})

test('an address and a study of a leaf-spine network have a sentence', async () => {
  const retired = { detail: 'Study of a leaf-spine network.', code: 'tail_study_retired' }
  const answers = { 'GET /v1/jobs/j': JOB, 'GET /v1/advisors/tail-studies/j': () => reply(409, retired) }
  await open(answers, { study: 'j', ...tailSearch({ topology: 'leaf_spine', policies: 'tcp,dctcp' }) })
  expect((await screen.findByText('Study of a leaf-spine network.')).closest('[data-tone]')?.role).toBe('status')
  expect(screen.getByText(/no longer has leaf-spine networks/)).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Run study' })).toBeTruthy()
})

test('zero and infinity have places at the ends of the axis', () => {
  expect([0, 1e-9, 1, 100, 1e15].map(placeOfAlpha)).toEqual([-4, -4, 0, 2, 4])
  expect([-4, 0, 4].map(labelOfPlace)).toEqual(['0', '1.00', '∞'])
})
