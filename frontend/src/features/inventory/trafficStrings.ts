/** Texts of the traffic and the token bucket of a VM. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  traffic: 'Traffic',
  trafficLower: 'the traffic',
  trafficLead:
    'Bytes of the network interface, with headers from Ethernet up, as the kernel counts them. The agent reports totals, nothing of a packet.',
  onInterface: (name: string) => `Interface ${name}`,
  noTraffic:
    'No traffic reported in this time. Older agents do not count it, nor those with traffic_counters off or that measure over loopback.',
  sent: 'Sent',
  received: 'Received',
  trafficSummary: (lines: string) => `Traffic over time: ${lines}`,
  bucketLower: 'the token bucket',
  bucketLead:
    'What its provider lets the VM send or receive above a base rate, until the tokens are used up. State it, or detect it with bursts; then the tokens left are forecast from the traffic.',
  detect: 'Detect a token bucket',
  directions: { sent: 'Sent traffic', received: 'Received traffic' },
  source: 'Known from',
  sources: { stated: 'The provider', detected: 'Bursts' },
  set: 'Set',
  change: 'Change',
  none: 'No token bucket is set.',
  between: (least: string, most: string) =>
    `between ${least} and ${most}: windows have totals, not the order of packets`,
  use: 'Use',
  noForecast: 'No traffic of the last two minutes, so no forecast.',
}
