/** The command line that enrols a VM. */

export interface ZoneHint {
  provider: string
  region: string
  name: string
}

/** As a POSIX shell takes it literally. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9._:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** What a cloud runs at the first start of a VM: cloud-init's user data. */
export function cloudInit(installCommand: string): string {
  // As root and without a terminal; a YAML string in single quotes doubles those it holds.
  const line = installCommand.replace('| sudo sh', '| sh').replaceAll("'", "''")
  return `#cloud-config\nruncmd:\n  - '${line}'`
}

/** Adds to the command what is known of the zone; what is left empty the agent finds out or leaves at its default. */
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
