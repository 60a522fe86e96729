/** Texts of the probe plan of a mesh. */

import type { Strategy } from '~/api/types'
import { words } from '~/lib/words'

const NAMES: Record<Strategy, string> = {
  full: 'Full',
  zones: 'Zones',
  sparse: 'Sparse',
  event: 'Sparse, dense at events',
}
const HINTS: Record<Strategy, string> = {
  full: 'Every pair in every window.',
  zones:
    'Within a zone every pair in every window. Between zones only their representatives, which take turns: most pairs between zones are never measured.',
  sparse: 'Every pair once in a period, and every pair of zones in every window.',
  event: 'As sparse. The paths of an open incident are measured in every window until it ends.',
}

export const strings = {
  ...words,
  probePlan: 'Probe plan',
  strategies: NAMES,
  hints: HINTS,
  strategy: 'Strategy',
  period: 'Period, windows',
  periodMeaning: 'Windows until the plan repeats',
  representatives: 'Representatives',
  representativesMeaning: 'VMs of a zone in a window',
  ownPrices: 'Enter own prices',
  betweenZones: 'Between zones, USD/GiB',
  betweenRegions: 'Between regions, USD/GiB',
  compare: 'Comparison of strategies',
  comparisonLower: 'the comparison of strategies',
  measured: 'Pairs measured',
  packets: 'Packets per agent',
  packetsPerSecond: (mean: string, most: string) => (mean === most ? `${mean}/s` : `${mean}/s, at most ${most}/s`),
  aboveCap: (cap: string) => `above the limit of ${cap}/s: agents leave requests out`,
  bytes: 'Data per day',
  price: 'Price per month',
  unknownPrice: 'unknown',
  usd: (amount: string) => `${amount} USD`,
  onePath: 'One path',
  oneVm: 'One VM',
  zonePair: 'Pair of zones',
  detection: (p90: string, worst: string) => (p90 === worst ? p90 : `${p90}, at worst ${worst}`),
  seconds: (seconds: number) => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 6) / 10} min`),
  never: (share: string) => `never for ${share}`,
  detectionNote:
    'Time until the default rules fire: at the 90th percentile, and at worst. It counts windows in which the fault can be seen.',
  pricesOf: (date: string) => `List prices of ${date}, both ends together; your contract may differ.`,
  noListPrice: 'The price list has no entry for the provider of these zones. Enter own prices.',
  bytesNote: 'IPv4 packets. The first second of a path, which has more packets, is not included.',
  save: 'Save plan',
  saved: 'Saved. Agents follow within seconds.',
  adoption: 'Agents on the newest plan',
  adoptionLower: 'the agents on the newest plan',
  revision: (revision: number) => `Revision ${revision}:`,
  activeEverywhere: (since: string, live: number) =>
    `active everywhere since ${since}. ${live === 1 ? 'The live agent follows.' : `All ${live} live agents follow.`}`,
  liveFollow: (following: number, live: number) =>
    live === 0 ? 'no agent is live.' : `${following} of ${live} live agents follow.`,
  waiting: (names: string, more: number) => `Waiting for ${names}${more > 0 ? ` and ${more} more` : ''}.`,
  notLive: (absent: number, names: string, more: number) =>
    `Not waited for, ${absent} not live: ${names}${more > 0 ? ` and ${more} more` : ''}.`,
  joining: (revision: number) =>
    `An agent that joins or restarts gets all of revision ${revision} with its first answer.`,
  noAgents: 'No agents yet.',
  nothingToCompare:
    'Cost and time to detect a fault are compared here when two VMs of the mesh can measure each other.',
}
