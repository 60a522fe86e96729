import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, endAgents, NETWORK, startAgent } from '../support/agent'
import { createKey, expect, expectAccessible, remove, test, write } from '../support/journey'
import { COMMANDS } from '../support/product'

const EVENT_PORT = 31_419

test('a published file reaches two VMs, and its page shows which share each has and from whom', async ({
  inside: page,
  baseURL,
}) => {
  const name = `artifacts-${Date.now()}`
  const folder = mkdtempSync(join(tmpdir(), 'sinemora-artifact-'))
  const agents: Agent[] = []
  const mesh = await write<{ id: string }>(page, 'POST', '/v1/meshes', { name, window_s: 2 })
  try {
    await page.goto('/artifacts')
    await page.getByRole('button', { name: `Change the distribution in ${name}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('checkbox', { name: 'Distribute artifacts in this mesh' }).check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog).toBeHidden()
    const row = page.getByRole('region', { name: 'Distribution' }).getByRole('row', { name: new RegExp(`^${name} `) })
    await expect(row).toContainText('On')

    for (const n of [1, 2]) {
      const { token } = await write<{ token: string }>(page, 'POST', '/v1/enrolment-tokens', { mesh_id: mesh.id })
      const command = `sinemora-agent run --backend ${baseURL} --token ${token}`
      const transfer = `sinemora-transfer run --artifacts --artifacts-port ${EVENT_PORT + 2}`
      agents.push(startAgent(command, `${name}-${n}`, `${NETWORK}${n}`, EVENT_PORT, transfer))
    }
    await expect(row).toContainText(' 2', { timeout: 90_000 })

    const key = await createKey(page, name, 'write')
    const file = join(folder, `${name}.tar`)
    writeFileSync(file, randomBytes(3_000_000))
    const env = { ...process.env, PATH: COMMANDS, SINEMORA_API_KEY: key.secret }
    execFileSync('sinemora', ['artifacts', 'publish', file, '--mesh', name, '--url', baseURL ?? ''], { env })

    await page.getByRole('link', { name: `${name}.tar` }).click()
    await expect(page.getByRole('heading', { name: `${name}.tar 1` })).toBeVisible()
    const copies = page.getByRole('region', { name: 'Complete copies' })
    for (const n of [1, 2]) {
      const copy = copies.getByRole('row', { name: new RegExp(`^${name}-${n} `) })
      await expect(copy).toContainText('100 %', { timeout: 60_000 })
      await expect(copy).toContainText('Mbit/s')
    }
    await expect(page.getByRole('img', { name: /2 of 2 copies are complete/ })).toBeVisible()

    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(page.getByRole('heading', { name: 'Artifacts', exact: true })).toBeVisible()
    await expect(page.getByRole('link', { name: `${name}.tar` })).toHaveCount(0)
  } finally {
    await endAgents(page, agents)
    rmSync(folder, { recursive: true, force: true })
    await remove(page, `/v1/meshes/${mesh.id}`)
  }
})
