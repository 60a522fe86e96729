// @vitest-environment jsdom
import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { ADVISORS } from '~/ui/advisors'
import { AdvisorPage } from './AdvisorPage'
import { AdvisorsPage } from './AdvisorsPage'

const Tabs = () => (
  <AdvisorPage title="Fairness" lead="Shares.">
    <p>The index</p>
  </AdvisorPage>
)

test('every advisor is listed with the question that it answers', async () => {
  await showPage(<AdvisorsPage />)
  for (const { name, link } of ADVISORS) {
    expect(screen.getByRole('link', { name }).getAttribute('href')).toBe(link.to)
  }
  const questions = screen.getAllByRole('listitem').map((item) => item.querySelector('p')?.textContent)
  expect(questions).toHaveLength(ADVISORS.length)
  for (const question of questions) expect(question).toMatch(/\?$/)
})

test('each advisor leads to the others', async () => {
  await showPage(<Tabs />)
  const links = within(screen.getByRole('navigation', { name: 'Advisors' })).getAllByRole('link')
  expect(links.map((link) => link.textContent)).toEqual(ADVISORS.map(({ name }) => name))
})

test.each([
  ['the list', <AdvisorsPage key="list" />],
  ['the tabs', <Tabs key="tabs" />],
])('%s has no laboratory that the server lacks', async (_, page) => {
  mockApi({ 'GET /v1/about': { labs: ['simulations'] } })
  await showPage(page)
  await expect.poll(() => screen.queryByRole('link', { name: 'Tail lab' })).toBeNull()
  expect(screen.getAllByRole('link')).toHaveLength(ADVISORS.length - 1)
})
