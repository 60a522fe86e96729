/** Texts of the list of advisors, and of the bulk sender, which two of them use. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  advisors: 'Advisors',
  advisorsLead:
    'Answers from your measurements, each with the rule or the formula behind it. An advisor changes nothing.',
  questions: {
    '/advisors/compute-mix': 'Which split between VMs and serverless is the cheapest that keeps the response target?',
    '/advisors/fairness': 'Do all VMs, applications or flows get a similar share of the network?',
    '/advisors/transport': 'Which transport suits a path or a transfer, and how much time does it save?',
    '/advisors/transfers': 'In which order, at which rates and over how many connections should data move?',
    '/advisors/shaping': 'Does a token bucket limit a path, when is it empty, and do requests wait for a timeout?',
    '/advisors/tail-lab':
      'Which order of packets at a bottleneck link spares the slowest flows, and what does it cost the others?',
  },
  tryIt: 'Try it',
  tryLead:
    'Agents of both VMs send filler bytes, with transport A and B in turns, and compare the transfer times. It loads the path and may slow down other traffic.',
  sendersLower: 'the bulk senders',
  needsPath: 'To compare two transports on your own path, choose a mesh and two of its VMs above.',
  off: (names: string) => `Bulk sender off on ${names}`,
  offLead: 'It is off by default. Set bulk_sender = true for the agents of both VMs and restart them.',
  variant: { a: 'Transport A', b: 'Transport B' },
  congestion: 'Congestion control',
  kernelDefault: (name: string) => (name ? `Kernel’s default (${name})` : 'Kernel’s default'),
  mptcp: 'MPTCP',
  tls: 'TLS',
  sizeMb: 'Size of a transfer (MB)',
  rounds: 'Transfers with each',
  limits: (rate: string, size: string, seconds: string) =>
    `Limits of these agents: ${rate} Mbit/s, ${size} MB and ${seconds} s in one run.`,
  compare: 'Compare',
  same: 'A and B are the same transport: change one.',
  runTransfers: 'Run these transfers',
  runLead:
    'Agents of the VMs send filler bytes of these sizes at the planned rates, all at once. Capacities are limited to what their bulk senders allow.',
  runNow: 'Run now',
  run: 'Run',
  runLower: 'the run',
  stop: 'Stop',
  statuses: {
    waiting: 'Waiting for the agents',
    running: 'Running',
    completed: 'Completed',
    stopped: 'Stopped',
    failed: 'Failed',
  },
  sent: (share: string, size: string) => `${share} of ${size} MB sent`,
  progress: 'Progress',
  variants: 'Transports',
  transport: 'Transport',
  done: 'Done',
  meanTime: 'Mean time',
  slowestTime: 'Slowest time',
  jain: 'Jain’s index',
  slowestShare: 'Last connection / mean',
  describe: (congestion: string | null, connections: number, more: string) =>
    [congestion ?? 'default', connections === 1 ? '1 connection' : `${connections} connections`, more]
      .filter((word) => word !== '')
      .join(', '),
  transfers: 'Transfers',
  number: 'No.',
  pathOf: (source: string, target: string) => `${source} to ${target}`,
  size: 'Size',
  predicted: 'Predicted',
  finish: (predicted: string, measured: string, error: string) =>
    `Predicted ${predicted}, measured ${measured}: the prediction is ${error} off.`,
  finishPredicted: (predicted: string) => `Predicted ${predicted}.`,
  disturbance: 'What it did to the measured delays',
  disturbanceLead: 'Delays that the mesh measured in the minute before, and while bytes were sent.',
  beforeP50: 'p50 before',
  duringP50: 'p50 during',
  beforeP99: 'p99 before',
  duringP99: 'p99 during',
  earlier: 'Earlier runs',
  earlierLower: 'earlier runs',
  started: 'Started',
  kind: 'Kind',
  kinds: { trial: 'Comparison of transports', transfers: 'Planned transfers' },
  vmsOf: (names: string, more: number) => (more > 0 ? `${names} and ${more} more` : names),
  error: 'Error',
  open: 'Open',
  openRun: (time: string) => `Open the run of ${time}`,
}
