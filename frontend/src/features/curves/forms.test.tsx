import { expect, test } from 'vitest'
import { bodiesOf, mockApi, reply, screen, showPage, upload, userEvent, visit, within } from '~/testing/page'
import { NewCurvePage } from './NewCurvePage'
import { NewSource } from './NewSource'

const area = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: /^Measurements/ })

test('a file of more rows than are fitted is refused with their number, and is not put into the page', async () => {
  await visit(<NewCurvePage />, {})
  await upload(`added_us,rate\n${'1,9\n'.repeat(100_001)}`, 'sweep.csv', 'text/csv')
  expect(await screen.findByText(/The file has 100.001 rows; at most 100.000 are fitted/)).toBeTruthy()
  expect(area().value).toBe('')
})

const SOURCE_ANSWERS = {
  'GET /v1/meshes': [{ id: 'm', name: 'production' }],
  'GET /v1/curves': [],
  'GET /v1/meshes/m/roster': {
    vms: [
      { id: 'a', name: 'a-1' },
      { id: 'b', name: 'b-1' },
    ],
    zones: [],
  },
}

async function startLearning() {
  await userEvent.type(await screen.findByRole('textbox', { name: /^Application/ }), 'shop')
  await screen.findAllByRole('option', { name: 'a-1' })
  await userEvent.click(screen.getByRole('combobox', { name: /^Clients/ }))
  const listbox = within(await screen.findByRole('listbox', { name: 'Clients' }))
  await userEvent.click(listbox.getByRole('option', { name: 'b-1' }))
  await userEvent.click(screen.getByRole('button', { name: 'Start learning' }))
}

test('a metric source is created, and the command that sends values is shown', async () => {
  const sent = mockApi({ ...SOURCE_ANSWERS, 'POST /v1/metric-sources': () => reply(201, { id: 's', kind: 'push' }) })
  await showPage(<NewSource curve={undefined} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Start learning' }))
  expect(screen.getByText('Choose at least one client.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/metric-sources')).toEqual([])
  await startLearning()
  expect(bodiesOf(sent, 'POST /v1/metric-sources')).toMatchObject([
    { name: 'shop', mesh_id: 'm', paths: [{ source_vm_id: 'b', target_vm_id: 'a' }], kind: 'push', url: null },
  ])
  const command = await screen.findByRole('group', { name: 'Command that pushes one value' })
  expect(command.textContent).toContain('/v1/metric-sources/s/points')
})
