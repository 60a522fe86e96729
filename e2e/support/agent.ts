/** Real agents, started with the command the page shows. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { read, remove } from './journey'

/** Addresses that no other mesh on this machine uses. */
export const NETWORK = `127.${100 + (process.pid % 100)}.${1 + (process.ppid % 250)}.`
const BINARY = process.env.SINEMORA_E2E_AGENT ?? resolve(import.meta.dirname, '../../agent/target/debug/sinemora-agent')

export interface Agent {
  name: string
  output: () => string
  /** Suspend the process. */
  freeze: () => void
  /** Continue the process. */
  thaw: () => void
  stop: () => Promise<void>
}

/**
 * Run `command` in a shell, with options that separate two agents on one machine: name, loopback address,
 * unprivileged ports, folder. `transfer` is the command of a second program of the VM, in the same folder.
 */
export function startAgent(
  command: string,
  name: string,
  address: string,
  eventPort: number,
  transfer?: string,
): Agent {
  if (!existsSync(BINARY)) throw new Error(`The agent is not built (${BINARY}): make setup`)
  const state = mkdtempSync(join(tmpdir(), `sinemora-agent-${name}-`))
  const place = `--listen-address ${address} --state-dir ${state}`
  const own = `--name ${name} --event-port ${eventPort} --general-port ${eventPort + 1}`
  const output: string[] = []
  const start = (line: string) => {
    const child: ChildProcess = spawn('sh', ['-c', `exec ${line} ${place}`], {
      env: { ...process.env, PATH: [dirname(BINARY), process.env.PATH].join(delimiter) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => output.push(String(text)))
    return { child, ended: new Promise<void>((done) => child.once('exit', () => done())) }
  }
  const { child, ended } = start(`${command} ${own}`)
  const second = transfer === undefined ? undefined : start(transfer)
  return {
    name,
    output: () => output.join(''),
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      second?.child.kill('SIGTERM')
      await Promise.all([ended, second?.ended])
      rmSync(state, { recursive: true, force: true })
    },
  }
}

/** Stop agents and delete their VMs. */
export async function endAgents(page: Page, agents: Agent[]) {
  await Promise.all(agents.map((agent) => agent.stop()))
  const { items } = await read<{ items: { id: string; name: string }[] }>(page, '/v1/vms?limit=500')
  const own = items.filter((vm) => agents.some((agent) => agent.name === vm.name))
  for (const { id } of own) await remove(page, `/v1/vms/${id}`)
}
