/** Texts of the settings of a tenant. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  tenantLower: 'the tenant',
  lead: 'Name, counted traffic, ownership and end of this tenant. Measurements and settings of different tenants are separate.',
  rename: 'Rename',
  saved: 'Name saved.',
  ownerOnly: 'An owner can rename, transfer and delete this tenant.',
  serviceTraffic: 'Traffic by service',
  countServiceTraffic: 'Count TCP connections between VMs',
  serviceTrafficHint:
    'Agents report the number and bytes of TCP connections by peer VM and listening port: no contents, no processes and no other addresses. Switched off, they stop at once, and what they reported is deleted after 30 days.',
  transfer: 'Transfer ownership',
  transferLead: 'Another member becomes an owner, and you become an admin. All owners get a notice by e-mail.',
  newOwner: 'New owner',
  noOthers: 'No other members yet.',
  typeName: (name: string) => `Type ${name} to confirm`,
  exportData: 'Export data',
  exportLead:
    'All rows of this tenant as JSON lines in one archive, without passwords and secrets. Only owners can download it.',
  exportContinuously: 'Each minute can also go to your own monitoring:',
  withMeasurements: 'Include measurements, which are most of the archive',
  startExport: 'Export',
  exportLower: 'the export',
  exportReady: 'Export finished:',
  exportCancelled: 'The export was cancelled.',
  deleteTenant: 'Delete tenant',
  deleteLead:
    'All measurements, settings and API keys of this tenant are deleted, and people who belong to no other tenant lose their accounts. It can be cancelled for some days, then nothing can be restored.',
  deletedOn: (at: string) => `This tenant and all of its data will be deleted on ${at}.`,
  keepTenant: 'Cancel the deletion',
  leave: 'Leave tenant',
  leaveLead: 'Your sessions in this tenant and your personal API keys end at once.',
  create: 'New tenant',
  createLead: 'You own the new tenant. It begins empty.',
  nameExample: 'Staging',
  createTenant: 'Create tenant',
  createdTenant: (name: string) => `Tenant ${name} created.`,
  open: (name: string) => `Open ${name}`,
}
