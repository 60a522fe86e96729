// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Recommendation } from '~/api/types'
import { showPage } from '~/testing/render'
import { Proof } from './Proof'

const PINNED = 'cache/worker-1 is pinned to b-1 in zone b, which cache may not use: unpin it, or allow zone b.'

const show = (broken: string[] | null | undefined, rejected: string[]) =>
  showPage(
    <Proof
      recommendation={
        {
          policy: 'best',
          request: {},
          result: {
            objective: 'loss',
            constraints: ['slots of all 4 VMs'],
            price_change_per_hour: null,
            evidence: {
              window: { from: null, to: null },
              chosen_on: 6,
              judged_on: 6,
              paths: 12,
              paths_known: 12,
              paths_assumed: 0,
              min_gain: 0,
            },
            broken,
            rejected,
          },
        } as unknown as Recommendation
      }
    />,
  )

test('limits that stay broken are listed with their reason', async () => {
  await show([PINNED], [])
  screen.getByRole('heading', { name: 'Limits that stay broken' })
  expect(screen.getByRole('listitem').textContent).toBe(PINNED)
  expect(screen.queryByRole('heading', { name: 'Rejected alternatives' })).toBeNull()
})

test.each([[null], [undefined], [[]]])('without any (%s) there is no such list', async (broken) => {
  await show(broken, ['move a'])
  expect(screen.queryByRole('heading', { name: 'Limits that stay broken' })).toBeNull()
  expect(screen.getByRole('listitem').textContent).toBe('move a')
})
