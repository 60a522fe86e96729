import * as v from 'valibot'
import type { AuditSelection } from '~/api/audit'
import { keyOf, moment, searchParser } from '~/lib/searchParams'
import { strings } from './strings'

const text = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(320))

/** Read the filter of the audit log from an address. */
export const auditSearch = searchParser<AuditSelection>({
  kind: keyOf(strings.kinds),
  actor: text,
  subject: text,
  address: text,
  since: moment,
  before: moment,
})
