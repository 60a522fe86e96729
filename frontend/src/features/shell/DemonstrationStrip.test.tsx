import { beforeEach, expect, test, vi } from 'vitest'
import { screen, visit } from '~/testing/page'
import { DemonstrationStrip } from './DemonstrationStrip'

const CHAPTER = {
  title: 'Loss at c-2',
  text: 'VM c-2 loses 8 % of its packets.',
  started_at: '2026-11-20T10:00:00Z',
  ends_at: '2026-11-20T10:02:00Z',
}

// The time stands still: a slow machine does not come closer to the next part.
beforeEach(() => vi.useFakeTimers({ now: new Date('2026-11-20T10:00:30Z'), toFake: ['Date'] }))

test('the strip says what is played, what it costs, and when the next part begins', async () => {
  await visit(<DemonstrationStrip />, {
    'GET /v1/demonstration': {
      playing: {
        chapter: CHAPTER,
        observed: { application: 'checkout', now_per_s: 1240.4, usual_per_s: 2000 },
        notified: { at: '2026-11-20T10:00:20Z', title: 'c-2: loss' },
      },
    },
  })
  expect(await screen.findByText('Demonstration: Loss at c-2')).toBeTruthy()
  expect(screen.getByText('VM c-2 loses 8 % of its packets.')).toBeTruthy()
  expect(screen.getByText(/^checkout: 1.240 requests\/s measured on one connection \(−38\.0.%\)$/)).toBeTruthy()
  expect(screen.getByText('Last notification: c-2: loss')).toBeTruthy()
  expect(screen.getByText('Next part in 90 s')).toBeTruthy()
})

test.each([
  [64.24, true],
  [12, false],
  [null, false],
])('with programs waiting %s %% of a minute the strip says that the machine is busy: %s', async (waiting, says) => {
  await visit(<DemonstrationStrip />, {
    'GET /v1/demonstration': {
      playing: { chapter: CHAPTER, observed: null, notified: null, waiting_percent: waiting },
    },
  })
  await screen.findByText('Demonstration: Loss at c-2')
  expect(screen.queryByText(/^This machine is busy \(.*64\.2.%/) !== null).toBe(says)
})

test.each([{ playing: null }, undefined])('without a demonstration there is no strip', async (body) => {
  const { sent } = await visit(
    <>
      <DemonstrationStrip />
      <p>page</p>
    </>,
    body ? { 'GET /v1/demonstration': body } : {},
  )
  await screen.findByText('page')
  expect(sent.map(({ to }) => to)).toContain('GET /v1/demonstration')
  expect(screen.queryByLabelText('Demonstration')).toBeNull()
})
