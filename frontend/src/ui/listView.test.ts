import { expect, test } from 'vitest'
import { PAGE_ROWS } from '~/lib/paging'
import { nextSort, viewOf } from './listView'
import type { Column } from './Records'

interface Vm {
  name: string
  zone: string
  seen: number | null
}

const COLUMNS: Column<Vm>[] = [
  { title: 'VM', cell: ({ name }) => name, by: { key: 'name', value: ({ name }) => name } },
  { title: 'Zone', cell: ({ zone }) => zone, by: { key: 'zone', value: ({ zone }) => zone } },
  { title: 'Last report', cell: ({ seen }) => seen, by: { key: 'seen', value: ({ seen }) => seen } },
  { title: 'Actions', cell: () => 'Delete' },
]
const VMS: Vm[] = Array.from({ length: 120 }, (_, n) => ({
  name: `web-${n}`,
  zone: n % 2 ? 'eu-west-1a' : 'us-east-1b',
  seen: n % 10 ? n : null,
}))
const names = (search: Parameters<typeof viewOf>[2]) => viewOf(VMS, COLUMNS, search).rows.map(({ name }) => name)

test('finds rows with every word, in any column and in any case', () => {
  expect(names({ q: 'WEB-11 west' })).toEqual(['web-11', 'web-111', 'web-113', 'web-115', 'web-117', 'web-119'])
  expect(viewOf(VMS, COLUMNS, { q: 'db' })).toEqual({ rows: [], found: 0, page: 1, pages: 1 })
})

test('numbers in names count as numbers', () => {
  expect(names({ sort: 'name' }).slice(0, 3)).toEqual(['web-0', 'web-1', 'web-2'])
  expect(names({ sort: '-name' })[0]).toBe('web-119')
})

test('rows without a value come last in both directions', () => {
  expect(names({ sort: 'seen' })[0]).toBe('web-1')
  expect(names({ sort: '-seen' })[0]).toBe('web-119')
  expect(names({ sort: '-seen', page: 3 }).at(-1)).toBe('web-110')
})

test('an unknown column keeps the order of the list', () => {
  expect(names({ sort: 'speed' })[0]).toBe('web-0')
})

test('clicks on a column: ascending, descending, the order of the list', () => {
  expect(nextSort(undefined, 'name')).toBe('name')
  expect(nextSort('name', 'name')).toBe('-name')
  expect(nextSort('-name', 'name')).toBeUndefined()
  expect(nextSort('-name', 'zone')).toBe('zone')
})

test('pages hold a fixed number of rows; a page after the last one is the last one', () => {
  expect(viewOf(VMS, COLUMNS, {}).rows).toHaveLength(PAGE_ROWS)
  expect(viewOf(VMS, COLUMNS, { page: 9 })).toMatchObject({ page: 3, pages: 3, found: 120 })
  expect(viewOf(VMS, COLUMNS, { page: 9 }).rows).toHaveLength(20)
})
