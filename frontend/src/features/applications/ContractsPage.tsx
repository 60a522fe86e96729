import { useQuery } from '@tanstack/react-query'
import { contractsQuery } from '~/api/applications'
import type { Contract } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatAge } from '~/lib/time'
import { NO_VALUE } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { TextLink } from '~/ui/links'
import { Page, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { Breaches } from './Contract'
import { strings } from './strings'

interface Props {
  month: string | undefined
  onMonth: (month: string | undefined) => void
}

/** The contracts of all applications over a month, or the last thirty days, on one page. */
export function ContractsPage({ month, onMonth }: Props) {
  const query = useQuery(contractsQuery(month))
  return (
    <Page title={strings.contracts} lead={month ? strings.ofMonth(month) : strings.ofLastDays}>
      <Choice
        label={strings.month}
        none={strings.last30Days}
        data={monthsBefore(new Date(), month)}
        value={month ?? ''}
        onChange={(value) => onMonth(value || undefined)}
        w={180}
      />
      <QueryResult query={query} what={strings.contractsLower}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={pageStyles.lead}>{strings.noContracts}</p>
          ) : (
            <Records label={strings.contracts} rows={rows} id={({ application }) => application.id} columns={COLUMNS} />
          )
        }
      </QueryResult>
    </Page>
  )
}

const MONTHS = 12

/** Return this month and those before it, and the chosen one, which may be older. */
function monthsBefore(now: Date, chosen: string | undefined) {
  const named = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
  const months = Array.from({ length: MONTHS }, (_, nth) => {
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - nth))
    return { value: start.toISOString().slice(0, 7), label: named.format(start) }
  })
  const isListed = !chosen || months.some(({ value }) => value === chosen)
  return isListed ? months : [...months, { value: chosen, label: chosen }]
}

const left = ({ budget_left_s: seconds }: Contract) => `${seconds < 0 ? '−' : ''}${formatAge(Math.abs(seconds) * 1000)}`

const COLUMNS = [
  {
    title: strings.application,
    as: 'head' as const,
    cell: ({ application }: Contract) => (
      <TextLink to="/applications/$applicationId" params={{ applicationId: application.id }}>
        {application.name}
      </TextLink>
    ),
  },
  { title: strings.objective, as: 'number' as const, cell: ({ objective }: Contract) => formatShare(objective) },
  { title: strings.toKeep, as: 'number' as const, cell: ({ kept_share }: Contract) => formatShare(kept_share) },
  { title: strings.kept, as: 'number' as const, cell: ({ kept }: Contract) => formatShare(kept) },
  {
    title: strings.budget,
    as: 'number' as const,
    cell: (contract: Contract) => (contract.kept === null ? NO_VALUE : left(contract)),
  },
  { title: strings.brokenBy, cell: (contract: Contract) => <Breaches account={contract} /> },
]
