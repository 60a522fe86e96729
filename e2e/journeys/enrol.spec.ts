import { type Agent, endAgents, NETWORK, startAgent } from '../support/agent'
import { expect, expectAccessible, nanoseconds, read, test } from '../support/journey'

const EVENT_PORT = 31_319

test('two machines enrol with the shown command, turn green, and their delay is on the heatmap', async ({
  inside: page,
}) => {
  const agents: Agent[] = []
  try {
    await page.goto('/vms')
    await page.getByRole('link', { name: 'Add a VM' }).first().click()
    await expect(page.getByRole('heading', { name: 'Add a VM' })).toBeVisible()

    const name = `journey-${Date.now()}`
    await page.getByRole('button', { name: 'New mesh' }).click()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Window (s)').fill('2')
    await page.getByRole('button', { name: 'Create mesh' }).click()
    await expect(
      page.getByRole('combobox', { name: 'Mesh to join' }).getByRole('option', { selected: true }),
    ).toHaveText(name)

    await page.getByLabel('Provider').fill('aws')
    await page.getByLabel('Region').fill('eu-west-1')
    await page.getByLabel('Zone', { exact: true }).fill('eu-west-1a')
    await page.getByRole('button', { name: 'Create command' }).click()
    const command = page.getByRole('group', { name: 'Command to run on the VM' }).getByRole('code')
    await expect(command).toContainText('sinemora-agent run --backend')
    await expect(command).toContainText('--zone-name eu-west-1a')
    await expect(page.getByText('Waiting for the first machine to enrol…')).toBeVisible()
    await expectAccessible(page)

    const line = await command.innerText()
    agents.push(startAgent(line, `${name}-1`, `${NETWORK}1`, EVENT_PORT))
    const arrivals = page.getByRole('list', { name: 'Machines of this mesh' })
    await expect(arrivals.getByRole('listitem')).toContainText([`${name}-1`], { timeout: 60_000 })
    await expect(page.getByText('A path needs two machines: run the command on a second one.')).toBeVisible()

    agents.push(startAgent(line, `${name}-2`, `${NETWORK}2`, EVENT_PORT))
    await expect(arrivals.getByText('First window received')).toHaveCount(2, { timeout: 120_000 })

    await page.getByRole('link', { name: 'Open the heatmap' }).click()
    await expect(page.getByRole('heading', { name })).toBeVisible()
    const meshId = new URL(page.url()).pathname.split('/').at(-1)
    await page.getByRole('grid').focus()
    const cell = page.getByRole('gridcell')
    await expect(cell).toHaveText(new RegExp(`^${name}-1 to ${name}-2, p50 [\\d.]+\\s(ns|µs|ms)$`), { timeout: 60_000 })
    await expect(async () => {
      const shown = nanoseconds(await cell.innerText())
      const { values } = await read<{ values: number[][] }>(page, `/v1/meshes/${meshId}/matrix`)
      expect(Math.abs(shown / (values[0]?.[1] as number) - 1)).toBeLessThan(1 / 128 + 0.005)
    }).toPass()

    await test.step('a revoked agent is shown as revoked and logs it', async () => {
      await page.getByRole('link', { name: 'Inventory', exact: true }).click()
      const row = page.getByRole('row', { name: new RegExp(`${name}-2 `) })
      await expect(row).toContainText('Reporting')
      await expect(row).toContainText('eu-west-1a')
      await row.getByRole('checkbox').check()
      await page.getByRole('button', { name: 'Revoke agents' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke agents' }).click()
      await expect(row).toContainText('Revoked')
      await expect.poll(() => agents[1]?.output(), { timeout: 120_000 }).toContain('revoked')
    })

    await test.step('the mesh is deleted again', async () => {
      await page.goto(`/meshes/${meshId}/settings`)
      await page.getByRole('button', { name: 'Delete…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await expect(page.getByRole('heading', { name: 'Meshes' })).toBeVisible()
      await expect(page.getByRole('rowheader', { name })).toHaveCount(0)
    })
  } finally {
    await endAgents(page, agents)
  }
})
