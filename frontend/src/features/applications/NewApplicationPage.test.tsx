import { expect, test } from 'vitest'
import { bodiesOf, screen, userEvent, visit, within } from '~/testing/page'
import { NewApplicationPage } from './NewApplicationPage'

const ANSWERS = {
  'GET /v1/meshes': [{ id: 'm', name: 'production' }],
  'GET /v1/curves': [{ id: 'memcached-server', name: 'Memcached, server', origin: 'published' }],
  'GET /v1/meshes/m/roster': {
    vms: [
      { id: 'a', name: 'a-1' },
      { id: 'b', name: 'b-1' },
    ],
    zones: [],
  },
}

const add = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Add application' })

test('without a mesh, the next step is to create one', async () => {
  await visit(<NewApplicationPage />, { 'GET /v1/meshes': [] })
  expect(await screen.findByRole('heading', { name: 'No mesh yet' })).toBeTruthy()
  expect(screen.getByRole('link', { name: 'New mesh' })).toBeTruthy()
})

test('a VM that becomes the server is no longer one of the others', async () => {
  await visit(<NewApplicationPage />, ANSWERS)
  await screen.findAllByRole('option', { name: 'a-1' })
  await userEvent.click(screen.getByRole('combobox', { name: 'Other VMs' }))
  const listbox = within(await screen.findByRole('listbox', { name: 'Other VMs' }))
  await userEvent.click(listbox.getByRole('option', { name: 'a-1' }))
  await userEvent.click(listbox.getByRole('option', { name: 'b-1' }))
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Server (root)' }), 'a-1')
  const chosen = document.querySelectorAll('.mantine-Pill-label')
  expect([...chosen].map((pill) => pill.textContent)).toEqual(['b-1'])
})

test('a mesh without VMs has the next step', async () => {
  await visit(<NewApplicationPage />, { ...ANSWERS, 'GET /v1/meshes/m/roster': { vms: [], zones: [] } })
  expect(await screen.findByText(/This mesh has no VM yet/)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Add a VM' }).getAttribute('href')).toBe('/onboarding?mesh=m')
})

test('an empty form says at each field what is missing, and sends nothing', async () => {
  const { sent } = await visit(<NewApplicationPage />, ANSWERS)
  await screen.findAllByRole('option', { name: 'a-1' })
  await userEvent.click(add())
  expect(screen.getByText('Enter a value.')).toBeTruthy()
  expect(screen.getByText('Choose an option.')).toBeTruthy()
  expect(screen.getByText('Choose at least one VM other than the server.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/applications')).toEqual([])
  await userEvent.click(screen.getByRole('combobox', { name: 'Other VMs' }))
  const listbox = within(await screen.findByRole('listbox', { name: 'Other VMs' }))
  await userEvent.click(listbox.getByRole('option', { name: 'b-1' }))
  expect(screen.queryByText('Choose at least one VM other than the server.')).toBeNull()
})
