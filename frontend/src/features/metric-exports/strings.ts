/** Texts of exports to the tenant's own monitoring. */

import { words } from '~/lib/words'
import { strings as shared } from '~/ui/strings'

export const strings = {
  ...words,
  lower: 'metric exports',
  lead: 'Each minute of zones and chosen VMs in your own monitoring.',
  noExports: 'No metric exports yet.',
  adminOnly: 'An administrator can add one.',
  nameExample: 'Grafana Mimir',
  states: { waiting: 'Nothing sent yet', sending: 'Sending', failing: 'Failing', paused: 'Paused' },
  test: 'Test',
  deleteEffect: 'The export and its secret are deleted. Values that were sent stay.',
  failing: (name: string, times: number) => `${name} has failed${times > 1 ? ` ${times} times` : ''}.`,
  retries: (at: string) => `Next attempt: ${at}.`,
  newExport: 'New metric export',
  add: 'Add export',
  protocols: { remote_write: 'Prometheus remote write', otlp: 'OTLP over HTTP' },
  urlExample: 'https://mimir.example.com/api/v1/push',
  authentications: shared.authentications,
  kept: (authentication: string) => `As it is: ${authentication}`,
  headers: 'More headers',
  headersHelp: 'A line each, shown to members of the tenant',
  headersExample: 'X-Scope-OrgID: network',
  pathsOf: 'Zone pairs, and paths between VMs of',
  paused: 'Paused',
  pausedShown: (paused: boolean) => (paused ? 'Yes' : 'No'),
  lastSent: 'Last sent',
  valuesSent: 'Values sent',
  leftOut: 'Left out',
  fromTo: shared.interval,
  serverTakes: (name: string) => `The server of ${name} takes values.`,
  serverRefuses: (name: string) => `The server of ${name} did not take the value.`,
}
