/** Texts of what slows a path. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  lead: 'What was looked at, and what was found. What slows the path comes first.',
  nothingFound: 'Nothing that slows this path was found.',
  lookedAt: 'Looked at',
  finding: 'Finding',
  failed: (reason: string) => `Could not be loaded: ${reason}`,
  found: 'Found',
  clear: 'Nothing',
  unknown: 'Not known',
  delayOf: (source: string, target: string) => `Delay, ${source} → ${target}`,
  changed: (now: string, change: string) => `${now}, ${change} from usual.`,
  asUsual: (now: string) => `${now}, as usual.`,
  noUsual: 'No usual value yet.',
  lost: (outbound: string, inbound: string) => `Of the newest window ${outbound} outbound and ${inbound} inbound.`,
  hostOf: (vm: string) => `Waits on ${vm}`,
  waits: (stalled: string, steal: string, throttled: string) =>
    `In the worst step of the last hour: waiting for a processor ${stalled}, stolen by the hypervisor ${steal}, held back by a quota ${throttled}.`,
  notReported: 'not reported',
  noWaits: 'No waits reported.',
  transportOf: 'Transport',
  chosen: (measurement: string, choice: string) => `${measurement}; the advisor chooses ${choice}.`,
  noRule: 'No rule of the transport advisor fired.',
  advisorsOf: 'Advisors',
  advisors: { fairness: 'Fairness', shaping: 'Shaping', transport: 'Transport' },
  noFinding: 'No finding: shares of the mesh, retransmissions and token buckets.',
}
