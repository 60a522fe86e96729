/** Texts of metrics, periods, changes and errors. */

import { words } from './words'

export const strings = {
  ...words,
  since: (time: string) => `since ${time}`,
  longerThan: (age: string) => `for more than ${age}`,
  risenSince: (usual: string, now: string, since: string) => `risen from ${usual} to ${now} ${since}`,
  fallenSince: (usual: string, now: string, since: string) => `fallen from ${usual} to ${now} ${since}`,
  taskUnplaced: (application: string, task: string) => `${application} / ${task} has no VM`,
  vmRecreated: (vm: string, zone: string) => `${vm} recreated in ${zone}`,
  zoneRemoved: (zone: string) => `Zone ${zone} removed`,
  latencyAdded: (source: string, target: string, sign: string, microseconds: number) =>
    `${source} and ${target}: ${sign}${microseconds} µs`,
  curveChanged: (application: string, curve: string) => `${application} on the curve ${curve}`,
  oneWayDelayHint: 'From the row’s VM to the column’s VM, using synchronised clocks.',
  roundTripHint: 'There and back, independent of clocks.',
  deviationHint: 'One-way p50 minus the usual value of the path: its median at this hour of earlier days.',
  asymmetryHint: 'Outbound minus inbound: positive if outbound is slower.',
  loss: 'Loss',
  lossHint: 'Share of packets sent in the window that did not arrive.',
  clockErrorHint: 'Maximum error of a one-way delay due to the clocks.',
  jitter: 'Jitter',
  jitterHint: 'One-way delay above the minimum of the same period; a constant clock error cancels out.',
  predictedLossHint:
    'Share of its best performance that the application loses on a link over this path, predicted by its curve from the round trip.',
  difference: 'Difference',
  differenceHint: 'This period minus the earlier one.',
  lossDifference: 'Difference of loss',
  percentDifference: 'Difference in percent',
  percentDifferenceHint: 'This period minus the earlier one, divided by the earlier one.',
  sd: 'SD',
  policies: {
    best: {
      name: 'Best placement',
      line: 'All tasks that are not pinned may move, servers (roots) too. The result states how close to the optimum it is.',
    },
    nomora: {
      name: 'NoMora, as published',
      line: 'The policy of the literature (UCAM-CL-TR-937), to compare with. Servers stay; CPU, memory and the maximum of moves do not guide its choice.',
    },
  },
  simulatedPolicies: {
    random: { name: 'Random', line: 'Each task gets a random free slot.' },
    load_spreading: { name: 'Load spreading', line: 'Each task gets a slot of the machine with the most free slots.' },
    nomora_105_110: {
      name: 'NoMora, narrow thresholds',
      line: 'As published: a random root, tasks by the cost thresholds 105 and 110; no moves.',
    },
    nomora_110_115: {
      name: 'NoMora, wide thresholds',
      line: 'As published: a random root, tasks by the cost thresholds 110 and 115; no moves.',
    },
    nomora_preempt: {
      name: 'NoMora, priced moves',
      line: 'As published, thresholds 105 and 110; running tasks may move, at a price that rises with their run time.',
    },
    nomora_preempt_beta0: {
      name: 'NoMora, free moves',
      line: 'As published, thresholds 105 and 110; running tasks may move at no price.',
    },
    nomora: { name: 'NoMora, own parameters', line: 'The published flow network with parameters set by the API.' },
    best: {
      name: 'Best placement',
      line: 'All tasks together, as recommendations place them; tasks move if the gain exceeds the cost of a move.',
    },
    best_no_moves: { name: 'Best placement, no moves', line: 'As “Best placement”; tasks stay where they start.' },
  },
  deploy: 'Deploy',
  maintenance: 'Maintenance',
  note: 'Note',
  serverAnswered: (status: number) => `The server responded with status ${status}.`,
  notStarted: 'Not started.',
  versionChanged:
    'Someone else has just changed this. The page shows their version now: repeat your change if you still want it.',
  unreachable: 'Sinemora cannot be reached at the moment.',
  last5Minutes: 'Last 5 minutes',
  last15Minutes: 'Last 15 minutes',
  last3Hours: 'Last 3 hours',
  last6Hours: 'Last 6 hours',
  last12Hours: 'Last 12 hours',
  last24Hours: 'Last 24 hours',
  last7Days: 'Last 7 days',
  previousPeriod: 'previous period',
  previousDay: 'previous day',
  lastWeek: 'last week',
  hourUnknown: 'nothing measured',
  hourUsual: 'every zone pair as usual',
  hourRise: (pair: string, change: string, usual: string) => `${pair} ${change} (usually ${usual})`,
  hourLoss: (pair: string, loss: string) => `${pair} lost ${loss}`,
  dayOf: (name: string, usual: string) => `${name}: last 24 hours, usually ${usual}`,
  performanceAtNewest: (statistic: string) =>
    `Performance is predicted at the ${statistic} of round trips in the newest window of each path.`,
  performanceAtNewestOf: (statistic: string, window: string) =>
    `Performance is predicted at the ${statistic} of round trips in the newest window of each path, ${window}.`,
  performanceAtMean: (statistic: string, windows: string, period: string, window: string) =>
    `Performance is the mean over ${windows} of ${period}, ${window}, predicted at the ${statistic} of round trips in each.`,
  oneWindow: '1 window',
  windowCount: (windows: string) => `${windows} windows`,
  lastMinutes: (minutes: number) => (minutes === 1 ? 'the last minute' : `the last ${minutes} min`),
  lastHours: (hours: number) => (hours === 1 ? 'the last hour' : `the last ${hours} h`),
}
