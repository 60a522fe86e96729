/** The command line that enrols a VM. */

import { quoted } from '~/lib/shell'

export interface ZoneHint {
  provider: string
  region: string
  name: string
}

/** Return the backend's address in a command when only the backend's own machine can reach it. */
export function loopbackBackend(command: string): string | null {
  const address = /--backend (\S+)/.exec(command)?.[1]
  const host = address && URL.canParse(address) ? new URL(address).hostname : ''
  return address && /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(host) ? address : null
}

/** Return the user data that cloud-init runs at the first start of a VM; the token stays out of the process list. */
export function cloudInit(installCommand: string): string {
  const [option = '', token = ''] = / --token (\S+)/.exec(installCommand) ?? []
  // As root, without a terminal, and before the network may be up. A YAML string in single quotes doubles those it holds.
  const line = installCommand
    .replace(option, '')
    .replace('curl ', 'curl --retry 20 --retry-delay 15 --retry-all-errors ')
    .replace('| sudo sh', '| sh')
    .replaceAll("'", "''")
  return [
    '#cloud-config',
    'write_files:',
    '  - path: /etc/sinemora/agent.env',
    "    permissions: '0600'",
    `    content: SINEMORA_AGENT_TOKEN=${token}`,
    'runcmd:',
    `  - '${line}'`,
  ].join('\n')
}

/** Add the known zone fields to the command; the agent detects empty ones or uses its defaults. */
export function withZone(command: string, zone: ZoneHint): string {
  const flags = [
    ['--zone-provider', zone.provider],
    ['--zone-region', zone.region],
    ['--zone-name', zone.name],
  ]
    .map(([flag, value]) => [flag, (value as string).trim()] as const)
    .filter(([, value]) => value !== '')
    .map(([flag, value]) => ` ${flag} ${quoted(value)}`)
  return command + flags.join('')
}
