/** Texts of the waits on a VM itself. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  title: 'Waiting on the host',
  titleOf: (vm: string) => `Waiting on the host: ${vm}`,
  lower: 'the waits on the host',
  lead: "What is the machine's, not the network's: how late the agent wakes, and how long its packets wait in the kernel and in the queue of the VM's own interface. 99th percentiles of windows of 10 s.",
  none: 'No waits reported in this time. Older agents do not report them.',
  wake: 'Wake-ups late by',
  receive: 'Kernel to program',
  send: 'Program to driver',
  queue: 'Own queue',
  summary: (lines: string) => `Waits on the host over time: ${lines}`,
  stalled: 'Waited for a processor',
  steal: 'Stolen by the hypervisor',
  pressure: 'Some program waited for a processor',
  throttled: 'Held back by a quota',
  squeezed: 'Packet handling cut short',
  drops: 'Packets dropped on receipt',
  notAvailable: 'not available',
  times: (count: string) => `${count} times`,
}
