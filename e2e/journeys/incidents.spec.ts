import { type Agent, endAgents, NETWORK, startAgent } from '../support/agent'
import { expect, read, remove, test, write } from '../support/journey'

const EVENT_PORT = 31_519
/** Timeout on a busy machine: silence counts only after a while, and the agent takes time to report again. */
const PATIENT = { timeout: 180_000 }

interface Rule {
  id: string
  condition: { kind: string }
}

test('an agent stops: its incident appears, is acknowledged with a note, and ends when the agent continues', async ({
  inside: page,
}) => {
  test.setTimeout(900_000)
  const name = `stopping-${Date.now()}`
  const mesh = await write<{ id: string }>(page, 'POST', '/v1/meshes', { name, window_s: 2 })
  const agents: Agent[] = []
  try {
    // Rules on paths would fire before the rule on the silent agent: disable them.
    const rules = await read<{ items: Rule[] }>(page, `/v1/alert-rules?mesh_id=${mesh.id}`)
    for (const { id, condition } of rules.items) {
      if (condition.kind !== 'silent') await write(page, 'PATCH', `/v1/alert-rules/${id}`, { enabled: false })
    }
    const tokenRequest = { mesh_id: mesh.id, max_uses: 2 }
    const { command } = await write<{ command: string }>(page, 'POST', '/v1/enrolment-tokens', tokenRequest)
    for (const number of [1, 2]) {
      const zone = `--zone-provider aws --zone-region eu-west-1 --zone-name stopping-${number}`
      agents.push(startAgent(`${command} ${zone}`, `${name}-${number}`, `${NETWORK}${number}`, EVENT_PORT))
    }
    const reporting = async () => {
      const { items } = await read<{ items: { name: string; agent: { status: string } | null }[] }>(
        page,
        '/v1/vms?limit=500',
      )
      return items.filter((vm) => vm.name.startsWith(name) && vm.agent?.status === 'reporting').length
    }
    await expect.poll(reporting, PATIENT).toBe(2)

    const incident = page.getByRole('row', { name: new RegExp(`${name}-2.*Critical`) })
    await test.step('it appears in the open list', async () => {
      await page.goto('/incidents')
      await expect(page.getByRole('heading', { level: 1, name: 'Incidents' })).toBeVisible()
      await expect(incident).toHaveCount(0)
      agents[1]?.freeze()
      await expect(incident).toBeVisible(PATIENT)
      await expect(incident).toContainText('Ongoing')
    })

    await test.step('a user acknowledges it with a note', async () => {
      await incident.getByRole('link').first().click()
      await expect(page.getByRole('heading', { level: 1 })).toContainText(`${name}-2`)
      await page.getByRole('button', { name: 'Acknowledge' }).click()
      const timeline = page.getByRole('region', { name: 'Timeline' })
      await expect(timeline.getByRole('row', { name: /Acknowledged/ })).toBeVisible()
      await page.getByLabel('Note').fill('The machine is held for an inspection.')
      await page.getByRole('button', { name: 'Add note' }).click()
      await expect(timeline.getByRole('row', { name: /held for an inspection/ })).toBeVisible()
    })

    await test.step('the agent continues, and the incident is resolved', async () => {
      agents[1]?.thaw()
      await expect.poll(reporting, PATIENT).toBe(2)
      await expect(page.getByRole('heading', { level: 1 })).toContainText(`${name}-2`)
      await page.getByRole('button', { name: 'Resolve' }).click()
      await expect(page.getByText('Critical, resolved')).toBeVisible()
      await page.goto('/incidents')
      await expect(page.getByRole('heading', { level: 1, name: 'Incidents' })).toBeVisible()
      await expect(incident).toHaveCount(0)
      await page.goto('/incidents?show=resolved')
      await expect(incident).toContainText('Resolved')
    })
  } finally {
    await endAgents(page, agents)
    await remove(page, `/v1/meshes/${mesh.id}`)
  }
})
