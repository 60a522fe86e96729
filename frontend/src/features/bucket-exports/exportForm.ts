/** The fields of a bucket export, from and to a form. */

import type { BucketExport, BucketExportInput, ExportTable } from '~/api/bucketExports'
import { strings } from './strings'

export const TABLES = Object.keys(strings.tableNames) as ExportTable[]

/** The fields that are edited; the secret is not among them, because it is never shown. */
export type Fields = Required<Omit<BucketExportInput, 'secret'>>

export const NEW: Fields = {
  name: '',
  endpoint: '',
  region: 'us-east-1',
  bucket: '',
  prefix: 'sinemora',
  access_key: '',
  schedule: 'daily',
  hour: 1,
  tables: ['zones_1m', 'vms_1h'],
  paused: false,
}

/** Return the edited fields of an export. */
export function fieldsOf(row: BucketExport): Fields {
  const { name, endpoint, region, bucket, prefix, access_key, schedule, hour, tables, paused } = row
  return { name, endpoint, region, bucket, prefix, access_key, schedule, hour, tables, paused }
}

/** Return what was typed, and the secret if one was. */
export function typedIn(form: FormData): { fields: Fields; secret: string } {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  return {
    fields: {
      name: text('name'),
      endpoint: text('endpoint'),
      region: text('region'),
      bucket: text('bucket'),
      prefix: text('prefix'),
      access_key: text('access_key'),
      schedule: text('schedule') === 'hourly' ? 'hourly' : 'daily',
      hour: Number(text('hour')),
      tables: TABLES.filter((table) => form.getAll('tables').includes(table)),
      paused: form.get('paused') !== null,
    },
    secret: text('secret'),
  }
}

/** Return the fields as text by label, to show what another person has changed. */
export const describe = (fields: Fields): Record<string, string> => ({
  [strings.name]: fields.name,
  [strings.endpoint]: fields.endpoint,
  [strings.region]: fields.region,
  [strings.bucket]: fields.bucket,
  [strings.prefix]: fields.prefix,
  [strings.accessKey]: fields.access_key,
  [strings.schedule]: scheduleOf(fields),
  [strings.tables]: fields.tables.map((table) => strings.tableNames[table]).join('; '),
  [strings.paused]: strings.pausedShown(fields.paused),
})

/** Return the schedule in words. */
export const scheduleOf = ({ schedule, hour }: Pick<Fields, 'schedule' | 'hour'>) =>
  schedule === 'hourly' ? strings.hourlyAt : strings.dailyAt(String(hour).padStart(2, '0'))
