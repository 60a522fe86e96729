/** Texts of trials by the bulk sender. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
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
  jain: 'Fairness index',
  slowestShare: 'Last connection / mean',
  describe: (congestion: string | null, connections: number, more: string) =>
    [congestion ?? 'default', connections === 1 ? '1 connection' : `${connections} connections`, more]
      .filter((word) => word !== '')
      .join(', '),
  transfers: 'Transfers',
  number: 'No.',
  pathOf: (source: string, target: string) => `${source} to ${target}`,
  size: 'Size',
  disturbance: 'What it did to the measured delays',
  disturbanceLead: 'Delays that the mesh measured in the minute before, and while bytes were sent.',
  beforeP50: 'p50 before',
  duringP50: 'p50 during',
  beforeP99: 'p99 before',
  duringP99: 'p99 during',
  earlier: 'Earlier runs',
  earlierLower: 'earlier runs',
  started: 'Started',
  error: 'Error',
  open: 'Open',
  openRun: (time: string) => `Open the run of ${time}`,
}
