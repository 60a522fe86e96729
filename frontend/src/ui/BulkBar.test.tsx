import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { Watch } from '~/lib/inTurn'
import { screen, showPage, userEvent, waitFor, within } from '~/testing/page'
import type { Bulk } from './BulkBar'
import { RecordList } from './RecordList'

const names = (count: number) => Array.from({ length: count }, (_, n) => `web-${n}`)

type Run = (rows: string[], watch: Watch) => Promise<unknown[]>

const bulkOf = (run: Run, more: Partial<Bulk<string>['actions'][number]> = {}): Bulk<string> => ({
  nouns: ['VM', 'VMs'],
  name: (name) => name,
  actions: [{ label: 'Delete', effect: 'The VMs are removed.', run, ...more }],
})

function List({ first, bulk }: { first: string[]; bulk: Bulk<string> }) {
  const [rows, setRows] = useState(first)
  return (
    <>
      <button type="button" onClick={() => setRows(first.slice(1))}>
        Lose the first
      </button>
      <button type="button" onClick={() => setRows(first)}>
        Find it again
      </button>
      <RecordList
        label="VMs"
        rows={rows}
        id={(name) => name}
        bulk={bulk}
        columns={[{ title: 'VM', cell: (name) => name, as: 'head', by: { key: 'name', value: (name) => name } }]}
      />
    </>
  )
}

const box = (name: string) => screen.getByRole<HTMLInputElement>('checkbox', { name: `Select ${name}` })
const page = () => screen.getByRole<HTMLInputElement>('checkbox', { name: 'Select all on this page' })
const bar = () => within(screen.getByRole('region', { name: 'Selected rows' }))
const marked = () =>
  screen
    .getAllByRole<HTMLInputElement>('checkbox')
    .filter(({ checked }) => checked)
    .map((element) => element.getAttribute('aria-label'))

test('the selection is counted, survives another order, and drops rows that leave the list', async () => {
  const user = userEvent.setup()
  await showPage(<List first={names(3)} bulk={bulkOf(vi.fn())} />)
  expect(screen.queryByRole('region', { name: 'Selected rows' })).toBeNull()
  await user.click(box('web-0'))
  await user.click(box('web-2'))
  expect(bar().getByRole('status').textContent).toBe('2 VMs selected')
  expect(page().indeterminate).toBe(true)
  await user.click(screen.getByRole('button', { name: 'VM' }))
  await user.click(screen.getByRole('button', { name: 'VM' }))
  await waitFor(() => expect(screen.getAllByRole('rowheader')[0]?.textContent).toBe('web-2'))
  expect(marked()).toEqual(['Select web-2', 'Select web-0'])
  await user.click(screen.getByRole('button', { name: 'Lose the first' }))
  expect(bar().getByRole('status').textContent).toBe('1 VM selected')
  await user.click(screen.getByRole('button', { name: 'Find it again' }))
  expect(box('web-0').checked).toBe(false)
})

test('one box selects the page; rows of other pages stay selected and are counted', async () => {
  const user = userEvent.setup()
  await showPage(<List first={names(60)} bulk={bulkOf(vi.fn())} />)
  await user.click(page())
  expect(bar().getByRole('status').textContent).toBe('50 VMs selected')
  await user.click(screen.getByRole('button', { name: 'Page 2' }))
  await waitFor(() => expect(page().checked).toBe(false))
  expect(bar().getByRole('status').textContent).toBe('50 VMs selected, 50 not shown here')
  await user.click(bar().getByRole('button', { name: 'Clear selection' }))
  expect(screen.queryByRole('region', { name: 'Selected rows' })).toBeNull()
})

test('with Shift, by pointer or by key, the rows in between follow', async () => {
  const user = userEvent.setup()
  await showPage(<List first={names(8)} bulk={bulkOf(vi.fn())} />)
  await user.click(box('web-1'))
  await user.keyboard('{Shift>}')
  await user.click(box('web-4'))
  await user.keyboard('{/Shift}')
  expect(bar().getByRole('status').textContent).toBe('4 VMs selected')
  box('web-6').focus()
  await user.keyboard('{Shift>} {/Shift}')
  expect(bar().getByRole('status').textContent).toBe('6 VMs selected')
})

test('what cannot be undone is confirmed with the rows by name; failures are named and stay selected', async () => {
  const user = userEvent.setup()
  const run = vi.fn<Run>(async (rows) => rows.map((row) => (row === 'web-1' ? new Error('It is in use.') : null)))
  await showPage(<List first={names(3)} bulk={bulkOf(run)} />)
  await user.click(page())
  await user.click(bar().getByRole('button', { name: 'Delete' }))
  const dialog = within(await screen.findByRole('dialog', { name: 'Delete: 3 VMs' }))
  expect(dialog.getByText('The VMs are removed.')).toBeTruthy()
  expect(dialog.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(names(3))
  expect(run).not.toHaveBeenCalled()
  await user.click(dialog.getByRole('button', { name: 'Delete: 3 VMs' }))
  expect((await bar().findByRole('alert')).textContent).toBe('Delete: 2 of 3 VMs done')
  expect(bar().getByRole('listitem').textContent).toBe('web-1: It is in use.')
  expect(marked()).toEqual(['Select web-1'])
  await user.click(bar().getByRole('button', { name: 'Dismiss' }))
  expect(bar().queryByRole('alert')).toBeNull()
})

test('an action counts the rows it is possible for, and rows without any cannot be selected', async () => {
  const user = userEvent.setup()
  const run = vi.fn<Run>(async (rows) => rows.map(() => null))
  const bulk: Bulk<string> = {
    nouns: ['VM', 'VMs'],
    name: (name) => name,
    actions: [
      { label: 'Start', applies: (name) => name < 'web-2', run },
      { label: 'Stop', applies: (name) => name === 'web-2', run },
    ],
  }
  await showPage(<List first={names(4)} bulk={bulk} />)
  expect(box('web-3').disabled).toBe(true)
  await user.click(page())
  await user.click(bar().getByRole('button', { name: 'Start: 2 VMs' }))
  expect(run.mock.calls[0]?.[0]).toEqual(['web-0', 'web-1'])
  expect(await bar().findByText('Start: 2 of 2 VMs done')).toBeTruthy()
  expect(marked()).toEqual(['Select web-2'])
})

test('a long action shows its progress, and can be stopped', async () => {
  const user = userEvent.setup()
  let finish: (failures: unknown[]) => void = () => {}
  const run: Run = (rows, { signal, onProgress }) => {
    onProgress(1)
    return new Promise((resolve) => {
      finish = resolve
      signal.addEventListener('abort', () => resolve([null, ...rows.slice(1).map(() => new Error('Not started.'))]))
    })
  }
  await showPage(<List first={names(3)} bulk={bulkOf(run, { effect: undefined as never })} />)
  await user.click(page())
  await user.click(bar().getByRole('button', { name: 'Delete' }))
  expect(bar().getByRole('status').textContent).toBe('Delete: 1 of 3 VMs done')
  expect(bar().getByRole('progressbar')).toBeTruthy()
  expect(document.activeElement).toBe(screen.getByRole('region', { name: 'Selected rows' }))
  await user.click(bar().getByRole('button', { name: 'Stop' }))
  expect(await bar().findByRole('alert')).toBeTruthy()
  expect(
    bar()
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent),
  ).toEqual(['web-1: Not started.', 'web-2: Not started.'])
  finish([])
})
