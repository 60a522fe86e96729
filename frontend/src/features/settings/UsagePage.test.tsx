// @vitest-environment jsdom
import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { UsagePage } from './UsagePage'

const VMS = { resource: 'vms', used: 19, limit: 20, set_by: 'plan' }
const DAYS = { resource: 'raw_days', used: null, limit: 3, set_by: 'installation' }

test('the plan, what is nearly used up and whom to ask are shown', async () => {
  mockApi({
    'GET /v1/usage': () => Response.json({ plan: 'Trial', contact: 'noc@example.com', items: [VMS, DAYS] }),
    'GET /v1/pins': [],
  })
  await showPage(<UsagePage />)
  expect(await screen.findByText('Plan: Trial')).toBeTruthy()
  expect(screen.getByText('Nearly used up: VMs')).toBeTruthy()
  expect(screen.getByText(/ask the operator \(noc@example.com\) for more/)).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^VMs/ })).getByText('Plan')).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^Retention of windows/ })).getByText('Installation')).toBeTruthy()
})

test('without a plan the quotas of the installation hold, and nothing warns', async () => {
  mockApi({
    'GET /v1/usage': () => Response.json({ plan: null, contact: null, items: [{ ...VMS, used: 2 }] }),
    'GET /v1/pins': [],
  })
  await showPage(<UsagePage />)
  expect(await screen.findByText('No plan: the quotas of this installation hold.')).toBeTruthy()
  expect(screen.queryByText(/Nearly used up/)).toBeNull()
})
