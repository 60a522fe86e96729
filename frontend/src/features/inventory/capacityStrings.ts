/** Texts of the capacity of a VM. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  capacityLower: 'the capacity',
  lead: 'Recommendations place tasks on this VM only within its slots, processors and memory.',
  taken: (taken: string, slots: string) => `${taken} of ${slots} slots taken by tasks of applications.`,
  fields: {
    slots: 'Slots',
    cpu_millicores: 'CPU (millicores)',
    memory_mib: 'Memory (MiB)',
    price_per_hour: 'Price per hour',
    host: 'Host',
  },
  noLimit: 'No limit',
  unknown: 'Unknown',
  notStated: 'Not stated',
  save: 'Save capacity',
  saved: 'Saved. The next recommendation uses it.',
}
