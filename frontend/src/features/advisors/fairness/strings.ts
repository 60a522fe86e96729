/** Texts of the fairness page. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  fairnessLead: 'Fairness index: 1 when all members get the same share, 1/n when one of n gets everything.',
  fairnessLower: 'the fairness index',
  noMeshLead: 'Fairness needs measured paths. Create a mesh and add VMs.',
  newMesh: 'Create a mesh',
  among: 'Among',
  of: {
    vms: 'VMs',
    applications: 'Applications',
    metric_sources: 'Metric sources',
    flows: 'Source ports of a path',
  },
  from: 'From VM',
  to: 'To VM',
  index: (value: string) => `Index ${value}`,
  noIndex: 'No index yet',
  noIndexLead: 'Fewer than two members have a share in this range.',
  below: (limit: string) => `Below ${limit}: some members get much less than others.`,
  atLeast: (limit: string) => `At or above ${limit}, the default of alerts.`,
  share: (meaning: string) => `Share: ${meaning}.`,
  member: 'Member',
  shareColumn: {
    vms: 'Share (requests/s)',
    flows: 'Share (requests/s)',
    applications: 'Share (performance, 1 is best)',
    metric_sources: 'Share (1 is usual)',
  },
  relative: 'Relative to the mean',
  members: 'Members, smallest share first',
  leftOut: (names: string) => `Without a share in this range: ${names}.`,
  import: 'Measured elsewhere',
  importLead:
    'A CSV table with the columns group, window, and throughput of each flow. A table of indices has the column index instead.',
  table: 'Table (CSV)',
  compute: 'Compute',
  group: 'Group',
  windows: 'Windows',
  mean: 'Mean index',
  lowest: 'Lowest index',
  imported: 'Imported indices',
  alertLead: 'A rule opens an incident when the index is below its limit in several windows.',
  alertHookLead: 'Prometheus reads the index of every mesh from',
}
