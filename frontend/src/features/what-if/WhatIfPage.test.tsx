// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { strings } from './strings'
import { WhatIfPage } from './WhatIfPage'

test('a mesh without VMs has a next step instead of empty forms', async () => {
  mockApi({
    'GET /v1/meshes': { items: [{ id: 'm', name: 'new' }], next_cursor: null },
    'GET /v1/meshes/m/roster': { mesh_id: 'm', revision: 1, vms: [], zones: [] },
    'GET /v1/applications': { items: [], next_cursor: null },
    'POST /v1/what-if': { applications: [], trips: { by: 'vm', names: [], before_ns: [], after_ns: [] } },
  })
  await showPage(<WhatIfPage search={{}} onSearch={() => undefined} />)
  expect(await screen.findByText('No VM in this mesh yet')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Add VM' }).getAttribute('href')).toBe('/onboarding?mesh=m')
  expect(screen.queryByRole('button', { name: 'Add latency' })).toBeNull()
})

test('the legend of round trips follows the theme', () => {
  expect(strings.gridLegend('1 µs', '2 µs', true)).toContain('brighter is slower')
  expect(strings.gridLegend('1 µs', '2 µs', false)).toContain('darker is slower')
})
