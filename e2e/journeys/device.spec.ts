import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, expectAccessible, test } from '../support/journey'
import { COMMANDS } from '../support/product'

const run = promisify(execFile)

test('a terminal signs in once a person confirms its code, and signs out', async ({ inside: page, baseURL }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sinemora-login-'))
  const env = {
    ...process.env,
    PATH: COMMANDS,
    SINEMORA_CONFIG: join(folder, 'profiles.json'),
    SINEMORA_API_KEY: '',
  }
  const login = spawn('sinemora', ['login', '--url', String(baseURL), '--device', 'sinemora on web-1', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((done) => login.once('exit', done))
  try {
    let errors = ''
    login.stderr.on('data', (text) => {
      errors += String(text)
    })
    await expect.poll(() => errors, { timeout: 60_000 }).toContain('confirm the code')
    const code = /confirm the code ([A-Z]{4}-[A-Z]{4})/.exec(errors)?.[1] ?? ''
    await page.goto(/Open (\S+)/.exec(errors)?.[1] ?? '')
    await expect(page.getByRole('heading', { name: 'Connect sinemora on web-1?' })).toBeVisible()
    await expect(page.getByText(code)).toBeVisible()
    await expect(page.getByText('127.0.0.1', { exact: true })).toBeVisible()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await expect(page.getByText('sinemora on web-1 is connected.')).toBeVisible()
    expect(await ended, errors).toBe(0)

    const listed = JSON.parse((await run('sinemora', ['incidents', 'list', '--json'], { env })).stdout)
    expect(Array.isArray(listed)).toBe(true)
    await page.getByRole('link', { name: 'API keys' }).last().click()
    await expect(page.getByRole('row', { name: /sinemora on web-1/ })).toBeVisible()
    await run('sinemora', ['logout'], { env })
    await page.reload()
    await expect(page.getByRole('row', { name: /sinemora on web-1/ })).toBeHidden()
  } finally {
    login.kill()
    rmSync(folder, { recursive: true, force: true })
  }
})
