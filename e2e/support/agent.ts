/** Real agents, started with the command the page shows. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

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
 * unprivileged ports, folder.
 */
export function startAgent(command: string, name: string, address: string, eventPort: number): Agent {
  if (!existsSync(BINARY)) throw new Error(`The agent is not built (${BINARY}): make setup`)
  const state = mkdtempSync(join(tmpdir(), `sinemora-agent-${name}-`))
  const own = `--name ${name} --listen-address ${address} --event-port ${eventPort} --general-port ${eventPort + 1}`
  const output: string[] = []
  const child: ChildProcess = spawn('sh', ['-c', `exec ${command} ${own} --state-dir ${state} --metrics-listen off`], {
    env: { ...process.env, PATH: [dirname(BINARY), process.env.PATH].join(delimiter) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => output.push(String(text)))
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  return {
    name,
    output: () => output.join(''),
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      await ended
      rmSync(state, { recursive: true, force: true })
    },
  }
}
