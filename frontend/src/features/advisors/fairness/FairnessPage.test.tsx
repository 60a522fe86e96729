import { expect, test } from 'vitest'
import { bodiesOf, fail, recorded, reply, screen, userEvent, visitSearch, within } from '~/testing/page'
import { FairnessPage } from './FairnessPage'
import { fairnessSearch } from './search'

const FOUND = recorded('/v1/meshes/{mesh_id}/fairness', {
  ...{ index: 0.75, alert_below: 0.883, below: true, left_out: ['c-1'] },
  members: [
    { name: 'b-1', share: 2500, relative: 0.5 },
    { name: 'a-1', share: 7500, relative: 1.5 },
  ],
})

const open = (imported = () => reply(200, { groups: [] })) =>
  visitSearch(FairnessPage, fairnessSearch, {
    'GET /v1/meshes': [{ id: 'm', name: 'demo' }],
    'GET /v1/meshes/m/roster': { vms: [{ name: 'a-1' }, { name: 'b-1' }] },
    'GET /v1/meshes/m/fairness': FOUND,
    'POST /v1/advisors/fairness-imports': imported,
  })

test('the index, whether it is low, and the members are shown', async () => {
  await open()
  expect(await screen.findByText('Index 0.7500')).toBeTruthy()
  expect(screen.getByText(/Below 0.883/)).toBeTruthy()
  const rows = within(screen.getByRole('region', { name: /^Members/ })).getAllByRole('row')
  expect(rows[1]?.textContent).toBe('b-1250050.0 %')
  expect(screen.getByText('Without a share in this range: c-1.')).toBeTruthy()
  expect(screen.getByRole('columnheader', { name: 'Share (requests/s)' })).toBeTruthy()
  await userEvent.selectOptions(screen.getByLabelText('Among'), 'flows')
  expect(await screen.findByLabelText('From VM')).toBeTruthy()
})

test('a table measured elsewhere gets its mean index, or the reason why not', async () => {
  let tries = 0
  const { sent } = await open(() =>
    tries++ === 0
      ? fail(422, 'Invalid table: line 1.')
      : reply(200, { groups: [{ group: 'TCP', mean: 0.9344, windows: [{ window: '2', index: 0.793, members: 0 }] }] }),
  )
  await userEvent.type(await screen.findByLabelText('Table (CSV)'), 'group')
  await userEvent.click(screen.getByRole('button', { name: 'Compute' }))
  expect(await screen.findByText(/Invalid table: line 1/)).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Compute' }))
  expect((await screen.findByRole('region', { name: 'Imported indices' })).textContent).toContain('TCP10.93440.7930')
  expect(bodiesOf(sent, 'POST /v1/advisors/fairness-imports')).toEqual([{ csv: 'group' }, { csv: 'group' }])
})
