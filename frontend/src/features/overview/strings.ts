/** Texts of the overview. */

import { NO_USUAL, NO_USUAL_YET } from '~/lib/usual'
import { words } from '~/lib/words'

export const strings = {
  ...words,

  degraded: 'Degraded',
  sinceAgo: (time: string, age: string) => `since ${time} (${age})`,
  otherIncidents: (count: number) => (count === 1 ? '1 other open incident.' : `${count} other open incidents.`),
  openIncident: 'Open incident',
  toldNobody: 'Told: nobody.',
  losesNow: (name: string, points: string, now: string, objective: string) =>
    `${name} is at ${now} of its best${objective && ` (objective ${objective})`}: ${points} lost.`,
  losesToo: (name: string, points: string) => `${name} loses ${points} by another incident.`,
  noneLoses: (mesh: string) => `No application of ${mesh} loses performance.`,
  addReceiver: 'Add a receiver',
  seePaths: 'See the paths',
  seeMoves: (moves: number, gain: string) =>
    `See ${moves === 1 ? '1 proposed move' : `${moves} proposed moves`}${gain}`,
  cures: (name: string, now: string, after: string) => `: ${name} ${now} → ${after}`,
  gainOf: (gain: string) => ` (${gain})`,
  openHeatmap: 'Open heatmap',
  mostUnusual: (source: string, target: string, change: string) =>
    `Most unusual path: ${source} → ${target}, ${change}`,
  seeRules: 'See the alert rules',

  healthy: (paths: string, mesh: string) => `All ${paths} paths of ${mesh} measured; no open incidents.`,
  lastEnded: (time: string, age: string) => `The last one ended at ${time} (${age} ago).`,
  noVms: (mesh: string) => `No VMs in ${mesh} yet.`,
  noVmsNext: 'Add a VM to start measuring.',
  noPaths: 'No paths yet.',
  noPathsNext: 'A path needs two VMs with an agent: add another VM.',
  waiting: 'No measurements yet.',
  waitingNext: (reporting: number, agents: number) =>
    reporting === 0
      ? 'Agents send their first window within a minute after they start.'
      : `${reporting} of ${agents} agents report: the first paths appear within a minute.`,
  learning: (minutes: number, of: number) => `Settling: ${minutes} of ${of} minutes.`,
  learningMeasured: (measured: string, planned: string) => `${measured} of ${planned} paths measured.`,
  learningNext: 'Alert rules hold back until agents and clocks have settled.',
  newPaths: (count: number, minutes: number) =>
    count === 1
      ? `1 new path raises no alerts until it was measured for ${minutes} min.`
      : `${count} new paths raise no alerts until they were measured for ${minutes} min.`,
  baselinesIn: (minutes: number) =>
    `Alert rules know usual delays in ${minutes} min; until then they check loss, silent agents and fixed limits.`,
  blind: (paths: string, time: string) => `No current measurement of ${paths} paths since ${time}.`,
  partly: (measured: string, planned: string) => `${measured} of ${planned} paths measured.`,
  reasons: (list: string) => `The others: ${list}.`,
  lostReason: (count: string) => `${count} lost every packet`,
  staleReason: (count: string) => `${count} without a recent window`,
  noDataReason: (count: string) => `${count} without data yet`,
  noServiceReason: (count: string) => `${count} that cannot be measured`,
  silentReason: (count: number) => (count === 1 ? '1 agent is silent.' : `${count} agents are silent.`),
  noRules: (measured: string) => `${measured} paths measured. No alert rule is enabled, so no incident can open.`,
  notEvaluated: 'Alert rules are not evaluated.',
  notEvaluatedSince: (time: string) => `Alert rules have not been evaluated since ${time}.`,

  days: (mesh: string) => `Worst change of each hour of ${mesh}, last 30 days`,
  daysHint: 'Last 30 days, worst zone pair of each hour. Click or drag to see that time.',

  pathsMeasured: 'Paths measured',
  of: (part: string, whole: string) => `${part} of ${whole}`,
  zonePairs: (count: number) => (count === 1 ? '1 zone pair' : `${count} zone pairs`),
  rulesEvaluated: 'Alert rules evaluated',
  noRuleEnabled: 'none enabled',
  never: 'never',
  agents: 'Agents',

  marks: { vm: 'slower VM or path', silent: 'silent VM', loss: 'packets lost' },
  zones: 'Change from usual, zone to zone',
  zonesLower: 'zone pairs',
  zonesLead: 'One-way p50 minus its usual value; grey: as usual.',
  zoneTable: (mesh: string) => `Change of the one-way delay from usual by zone pair of ${mesh}`,
  fromTo: 'From ↓ to →',
  zonePair: (source: string, target: string) => `${source} to ${target}`,
  cellUsual: (now: string) => `p50 ${now}, as usual`,
  cellUnusual: (now: string, change: string, percent: string) => `p50 ${now}, ${change} from usual (${percent})`,
  cellOfIncident: (now: string) => `p50 ${now}; the usual value is from the time of an incident`,
  cellNoBaseline: NO_USUAL.toLowerCase(),
  cellNoData: 'no whole minute of measurements in the last 5 min',
  cellNotPlanned: 'no path',
  nothingUsualYet: NO_USUAL_YET,
  nothingMeasured: 'No zone pair has a whole minute of measurements in the last 5 min.',
  allUsual: 'Every zone pair is as usual.',
  usualOfIncident: (covered: number, pairs: string) =>
    `The usual value of ${covered} of ${pairs} is from the time of an incident, so the incident does not show as a change.`,
  unusualPairs: (count: number, pairs: string) => `${count} of ${pairs} changed from usual.`,

  incidentTable: 'Open incidents, worst first',
  noIncidentsUnmeasured: 'Nothing is measured yet, so no incident can open.',
  moreIncidents: (count: number) => `${count} more in the list of incidents.`,
  since: 'Since',
  costsColumn: 'Costs',
  told: 'Told',
  nobody: 'nobody',

  applications: 'Applications, worst first',
  applicationTable: 'Applications by performance',
  noApplications: 'No applications yet.',
  allApplications: 'All applications',
  usual: 'Usual',
  missed: 'missed',
  keptOf: (share: string) => `kept ${share}`,
  met: 'met',

  findings: (count: number) => `Findings of the advisors (${count})`,
  findingsLower: 'findings',

  attention: 'Needs attention',
  copiedIdentities: (count: number) =>
    count === 1 ? '1 agent whose identity two machines use' : `${count} agents whose identity two machines use`,
  silentAgents: (count: number) => (count === 1 ? '1 silent agent' : `${count} silent agents`),
  outdatedAgents: (count: number, newest: string) =>
    count === 1 ? `1 agent older than ${newest}` : `${count} agents older than ${newest}`,
  clockErrors: (count: number, above: string) =>
    count === 1 ? `1 VM with a clock error above ${above}` : `${count} VMs with a clock error above ${above}`,
  andMore: (count: number) => `and ${count} more`,

  loadFailed: (subject: string) => `Failed to load ${subject}.`,
}
