/** Texts of the page of proposals from traffic. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  lower: 'proposals from traffic',
  lead: 'Applications that connections between your VMs suggest. Agents count connections and bytes by VM and port, never contents.',
  notCounted: 'Agents do not count connections yet. Switch it on in the settings of the',
  tenant: 'tenant',
  notCountedEnd: 'and proposals appear here after a few minutes.',
  noMeshLead: 'Connections are counted between the VMs of a mesh: create a mesh first.',
  nothing: (counted: string, vms: string) =>
    `No applications seen yet: agents on ${counted} of ${vms} VMs have reported connections. An application needs traffic in two windows of 30 s.`,
  elsewhere: (share: string) =>
    `${share} of the traffic is with addresses that are no VM of the mesh, such as those of load balancers, proxies and NAT. Who is behind them is not known here.`,
  mostElsewhere: (vms: string) => `Of the traffic of a VM, most: ${vms}.`,
  ofVm: (name: string, share: string) => `${name} ${share}`,
  leftOut: (count: string) => `At least ${count} connections were too many to count.`,
  map: 'Who talks to whom',
  mapLead:
    'Wide lines carry more traffic. Colours are changes of the delay from usual, in the direction that changed more.',
  usual: 'As usual',
  unknown: 'Not known',
  mapOf: (name: string, links: number, changed: number) =>
    `${name}: ${links === 1 ? '1 link' : `${links} links`}, ${changed} changed from usual`,
  link: (client: string, server: string, share: string, change: string) =>
    `${client} → ${server}: ${share} of the traffic, ${change}`,
  asUsual: 'delay as usual',
  noChange: 'change of delay not known',
  change: (delay: string) => `delay ${delay} from usual`,
  proposal: 'Proposal',
  proposals: 'proposals',
  port: 'Port',
  servers: 'Servers',
  share: 'Share of traffic',
  seen: 'Seen',
  state: 'State',
  states: {
    open: 'Proposed',
    accepted: 'Added',
    dismissed: 'Dismissed',
    everywhere: 'On most VMs or for their management: no application',
  },
  add: 'Add as one application',
  application: 'Application',
  addOne: 'Add…',
  restore: 'Bring back',
  follows: (vms: number) =>
    `${vms} VMs with the links that traffic has. Tasks follow: one is added where a client appears, and waits where one is gone.`,
  followsUnedited: 'Tasks follow the traffic unless you change the VMs.',
  chooseCurve: 'Choose a curve',
  noProposal: 'This proposal is no longer there: its traffic has ended.',
}
