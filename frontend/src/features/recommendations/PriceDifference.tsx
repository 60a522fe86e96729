import { useQuery } from '@tanstack/react-query'
import { priceDifferenceQuery } from '~/api/recommendations'
import type { ApplicationPrice } from '~/api/types'
import { money } from '~/lib/money'
import { formatDelay, threeDigits } from '~/lib/units'
import { TextLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { strings } from './strings'

/** Change of the cheapest compute mix of each moved application, or the reason why it has none. */
export function PriceDifference({ recommendationId }: { recommendationId: string }) {
  const query = useQuery(priceDifferenceQuery(recommendationId))
  return (
    <Panel title={strings.priceDifference}>
      <QueryResult query={query} what={strings.priceDifferenceLower}>
        {({ applications, difference_per_hour: total, currency }) => (
          <>
            <p className={pageStyles.lead}>
              {total === null ? strings.priceLead : strings.priceTotal(signedMoney(total, currency))}{' '}
              {applications.some(({ statistic, reason }) => reason && !statistic) && (
                <TextLink size="md" to="/advisors/compute-mix">
                  {strings.setPriceBasis}
                </TextLink>
              )}
            </p>
            {applications.some(hasMix) && <Mixes rows={applications.filter(hasMix)} />}
            {applications.some((row) => !hasMix(row)) && (
              <ul className={pageStyles.bullets}>
                {applications
                  .filter((row) => !hasMix(row))
                  .map(({ application, reason }) => (
                    <li key={application.id}>{reason}</li>
                  ))}
              </ul>
            )}
          </>
        )}
      </QueryResult>
    </Panel>
  )
}

const hasMix = ({ before, after }: ApplicationPrice) => before !== null || after !== null

/** Mix of each application before and after the moves. */
function Mixes({ rows }: { rows: ApplicationPrice[] }) {
  return (
    <Records
      label={strings.priceDifference}
      rows={rows}
      id={({ application }) => application.id}
      columns={[
        { title: strings.application, cell: ({ application }) => application.name, as: 'head' },
        { title: strings.before, cell: (row) => sideText(row, 'before'), as: 'wrap' },
        { title: strings.afterAllMoves, cell: (row) => sideText(row, 'after'), as: 'wrap' },
        {
          title: strings.differencePerHour,
          cell: (row) => signedMoney(row.difference_per_hour, row.currency),
          as: 'number',
        },
      ]}
    />
  )
}

/** Return mix, cost and slowest path of one side, or the reason why there is none. */
function sideText(row: ApplicationPrice, side: 'before' | 'after'): string {
  const mix = row[side]
  if (!mix) return side === 'before' ? (row.reason ?? '') : ''
  if (!mix.split || !mix.vm) return mix.reason ?? ''
  const { split } = mix
  const cost = money(split.cost_per_hour, row.currency)
  const network = mix.path ? strings.slowestPath(mix.path, formatDelay(1e3 * (mix.outbound_us + mix.inbound_us))) : ''
  return `${strings.mixOf(mix.vm, split.vms, split.serverless_per_s === 0 ? null : threeDigits(split.serverless_per_s), cost)} ${network}`
}

function signedMoney(amount: number | null, currency: string | null): string {
  if (amount === null || amount === 0) return money(amount, currency)
  return `${amount > 0 ? '+' : '−'}${money(Math.abs(amount), currency)}`
}
