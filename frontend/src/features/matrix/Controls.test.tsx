import { expect, test, vi } from 'vitest'
import { shownOf } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { mockApi, screen, showPage, userEvent, within } from '~/testing/page'
import { Controls } from './Controls'

const MESH = { id: 'm', name: 'production', flows: 1 } as unknown as Mesh
const application = (id: string, name: string, mesh: string) => ({ id, name, mesh: { id: mesh, name: mesh } })

test('the heatmap is coloured by what an application of the mesh loses, and by a metric again', async () => {
  mockApi({ 'GET /v1/applications': [application('a', 'checkout', 'm'), application('b', 'search', 'n')] })
  const onSearch = vi.fn()
  const controls = (search: object) => (
    <Controls mesh={MESH} chosen={shownOf(search)} onSearch={onSearch} onAxis={() => {}} />
  )
  await showPage(
    <>
      {controls({})}
      {controls({ metric: 'predicted_loss', app: 'a' })}
    </>,
  )
  await screen.findAllByRole('option', { name: 'checkout' })
  expect(screen.queryByRole('option', { name: 'search' })).toBeNull()
  const [first, second] = screen.getAllByRole('combobox', { name: 'Metric' }) as [HTMLElement, HTMLElement]
  await userEvent.selectOptions(first, 'checkout')
  expect(onSearch).toHaveBeenLastCalledWith({ metric: 'predicted_loss', app: 'a', scale: '' })
  expect(within(second).getByRole<HTMLOptionElement>('option', { name: 'checkout' }).selected).toBe(true)
  await userEvent.selectOptions(second, 'Round trip')
  expect(onSearch).toHaveBeenLastCalledWith({ metric: 'round_trip', app: undefined, scale: '' })
})

test('estimates are asked for where delays between VMs are shown', async () => {
  mockApi({ 'GET /v1/applications': [] })
  const onSearch = vi.fn()
  const controls = (search: object) => (
    <Controls mesh={MESH} chosen={shownOf(search)} onSearch={onSearch} onAxis={() => {}} />
  )
  await showPage(
    <>
      {controls({ metric: 'one_way_delay' })}
      {controls({ metric: 'one_way_delay', estimates: true })}
      {controls({ metric: 'loss', estimates: true })}
    </>,
  )
  const boxes = screen.getAllByRole<HTMLInputElement>('checkbox', { name: 'Estimate gaps' })
  expect(boxes.map(({ checked, disabled }) => [checked, disabled])).toEqual([
    [false, false],
    [true, false],
    [false, true],
  ])
  await userEvent.click(boxes[0] as HTMLElement)
  expect(onSearch).toHaveBeenLastCalledWith({ estimates: true, scale: '' })
  await userEvent.click(boxes[1] as HTMLElement)
  expect(onSearch).toHaveBeenLastCalledWith({ estimates: undefined, scale: '' })
})
