import type { ReactNode } from 'react'
import type { CurveDetail } from '~/api/types'
import { formatMicroseconds, formatShare } from '~/lib/performance'
import { formatMoment } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Term } from '~/ui/Term'
import styles from './curves.module.css'
import { strings } from './strings'

/** The facts of a version: source of its numbers and results of the fit. */
export function About({ curve }: { curve: CurveDetail }) {
  const { version } = curve
  const { threshold } = version
  const clock = useClock()
  const createdAt = version.created_at ? new Date(version.created_at) : null
  return (
    <dl className={styles.about}>
      <Fact term={strings.formula}>{version.formula}</Fact>
      <Fact term={strings.metric}>
        {curve.metric === 'rate' ? strings.metricRate : strings.metricDuration}
        {curve.unit && `; ${curve.unit}`}
      </Fact>
      <Fact term={<Term of="performance baseline">{strings.baseline}</Term>}>
        {version.baseline === null ? strings.notStated : `${significant(version.baseline)} ${curve.unit}`}
      </Fact>
      <Fact term={<Term of="flat threshold">{strings.flatThreshold}</Term>}>
        {threshold
          ? `${formatMicroseconds(threshold.at_us)}${threshold.low_us !== null && threshold.high_us !== null ? strings.thresholdInterval(formatMicroseconds(threshold.low_us), formatMicroseconds(threshold.high_us)) : ''}`
          : strings.none}
      </Fact>
      <Fact term={<Term of="measured range">{strings.measuredRange}</Term>}>
        {strings.measuredRangeValue(formatMicroseconds(version.domain_us), formatShare(version.smallest))}
      </Fact>
      {/* Stored answers of older versions have no origin of the band. */}
      {version.band && <Fact term={<Term of="band">{strings.bandOrigin}</Term>}>{version.band.words}</Fact>}
      {version.noise !== null && <Fact term={strings.noise}>{strings.noiseValue(formatShare(version.noise))}</Fact>}
      {version.latency_offset_us > 0 && (
        <Fact term={<Term of="test bed round trip">{strings.zeroPoint}</Term>}>
          {version.reference_source
            ? strings.referenceStated(formatMicroseconds(version.latency_offset_us), version.reference_source)
            : strings.zeroPointValue(formatMicroseconds(version.latency_offset_us))}
        </Fact>
      )}
      <Fact term={strings.source}>{version.source || strings.notStated}</Fact>
      {version.rows !== null && <Fact term={strings.rows}>{formatCount(version.rows)}</Fact>}
      {createdAt && (
        <Fact term={strings.versionNumber(version.number)}>
          {version.made_by}, {formatMoment(createdAt, clock)}
        </Fact>
      )}
    </dl>
  )
}

/** Four digits in groups of three: 990000 → "990 000", 17.14 → "17.14". */
function significant(value: number): string {
  return Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 6 }).replaceAll(',', '\u202f')
}

function Fact({ term, children }: { term: ReactNode; children: ReactNode }) {
  return children === null ? null : (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  )
}
