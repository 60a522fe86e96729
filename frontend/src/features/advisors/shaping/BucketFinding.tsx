import type { Shaping } from '~/api/types'
import { formatCount, formatDelay, threeDigits } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import type { Bursts, FIRST, ShapingSearch } from './question'
import { SaveBucket } from './SaveBucket'
import { strings } from './strings'

interface Props {
  found: Shaping
  search: ShapingSearch & typeof FIRST
  bursts: Bursts | null
}

const mbit = (rate: number) => `${threeDigits(rate)} Mbit/s`
const kilobytes = (size: number) => `${threeDigits(size)} kB`
const seconds = (s: number) => formatDelay(1e9 * s)

/** The bucket that was found, what it means for the use and the application, and the form that saves it. */
export function BucketFinding({ found, search, bursts }: Props) {
  const { bucket, forecast } = found
  if (!bucket || !forecast) {
    return (
      <Panel title={strings.finding}>
        <Notice tone="good" title={strings.none}>
          {found.reason && strings.reasons[found.reason]}{' '}
          {found.capacity_mbit !== null && strings.capacity(mbit(found.capacity_mbit))}
        </Notice>
      </Panel>
    )
  }
  const use = mbit(search.use)
  const { spread } = bucket
  return (
    <Panel title={spread ? strings.finding : strings.entered}>
      {!spread && <p className={pageStyles.lead}>{strings.enteredLead}</p>}
      <Notice
        tone="info"
        title={strings.found(mbit(bucket.rate_mbit), kilobytes(bucket.burst_kb), strings.mechanisms[bucket.mechanism])}
      >
        {forecast.empty_in_s === null ? strings.neverEmpty(use) : strings.emptyIn(seconds(forecast.empty_in_s), use)}{' '}
        {strings.refill(seconds(bucket.burst_kb / (125 * bucket.rate_mbit)))}{' '}
        {forecast.transfer_s !== null &&
          strings.transferTakes(`${threeDigits(search.transfer)} MB`, seconds(forecast.transfer_s))}
      </Notice>
      {spread && (
        <p>
          {strings.spread(
            formatCount(found.trains_with_bucket),
            formatCount(spread.bursts),
            strings.range(mbit(spread.rate_min_mbit), mbit(spread.rate_max_mbit)),
            strings.range(kilobytes(spread.burst_min_kb), kilobytes(spread.burst_max_kb)),
          )}
        </p>
      )}
      {bucket.upper && <p>{strings.upper(mbit(bucket.upper.rate_mbit), kilobytes(bucket.upper.burst_kb))}</p>}
      {bucket.metered && <p>{strings.metered[bucket.metered]}</p>}
      <SaveBucket bucket={bucket} bursts={bursts} />
      <h3>{strings.checks}</h3>
      {found.checks.length === 0 && <p className={pageStyles.lead}>{strings.noChecks}</p>}
      {found.checks.map((check) => (
        <Notice key={check.id} tone="warn" title={`${check.id}: ${check.effect}`}>
          {check.remedy} {check.caveat && strings.caveat(check.caveat)}
        </Notice>
      ))}
      <p className={pageStyles.lead}>{strings.checkSource}</p>
    </Panel>
  )
}
